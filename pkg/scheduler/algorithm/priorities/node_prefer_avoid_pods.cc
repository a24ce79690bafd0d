#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {
namespace {

const Symbol kReplicationController("ReplicationController"), kReplicaSet("ReplicaSet");

class AvoidScoring final : public Scoring {
 public:
  Scope scope() const override { return Scope::kNode; }
  ReduceKind reduce_kind() const override { return ReduceKind::kNone; }
  uint8_t parts() const override { return kController; }
  explicit AvoidScoring(const PodContext& ctx) : ctx_(ctx) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const auto& controller = ctx_.pod.tmpl->controller;
    bool judged = controller && (controller->kind == kReplicationController || controller->kind == kReplicaSet) &&
                  ctx_.cache.avoiding_nodes() > 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = kMaxPriority;
      if (!judged) continue;
      for (const api::AvoidPods& a : ctx_.cache.row(rows[i]).node->avoid_pods) {
        if (a.has_controller && a.kind == controller->kind && a.uid == controller->uid) scores[i] = 0;
      }
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
};

}  // namespace

PriorityFunction NodePreferAvoidPods(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<AvoidScoring>(ctx); };
}

}  // namespace berth::scheduler::priorities
