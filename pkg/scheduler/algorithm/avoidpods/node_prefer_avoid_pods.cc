#include "pkg/scheduler/algorithm/avoidpods/avoidpods.h"

namespace berth::scheduler::avoidpods {
namespace {

const Symbol kReplicationController("ReplicationController"), kReplicaSet("ReplicaSet");

// NodePreferAvoidPodsPriority: 0 on nodes whose annotation names the controller of the pod, otherwise the highest
// score. The registered weight of 10000 lets this priority outweigh all others together. Only the kind and the uid of
// the controller are compared, not its name or apiVersion. An entry of the annotation without a controller avoids
// nothing; upstream crashes (bug B-21, fixed). Source: pkg/scheduler/algorithm/priorities/node_prefer_avoid_pods.go
// (1.10).
class AvoidScoring final : public Scoring {
 public:
  AvoidScoring(const PodContext& ctx, int64_t max_score) : ctx_(ctx), max_score_(max_score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const auto& controller = ctx_.pod.tmpl->controller;
    const bool named = controller && (controller->kind == kReplicationController || controller->kind == kReplicaSet) &&
                       ctx_.cache.IsAvoided(*controller);
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = max_score_;
      if (!named) continue;
      for (const api::AvoidPods& a : ctx_.cache.row(rows[i]).node->avoid_pods) {
        if (a.has_controller && a.kind == controller->kind && a.uid == controller->uid) scores[i] = 0;
      }
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  int64_t max_score_;
};

}  // namespace

PriorityFunction NodePreferAvoidPods(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) { return std::make_unique<AvoidScoring>(ctx, max); };
}

}  // namespace berth::scheduler::avoidpods
