#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/util/status.h"

namespace berth::scheduler::nodeaffinity {
namespace {

class NodeAffinityScoring final : public Scoring {
 public:
  NodeAffinityScoring(const PodContext& ctx, int64_t max_score) : ctx_(ctx), max_score_(max_score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const auto& affinity = ctx_.pod.tmpl->affinity.node;
    for (size_t i = 0; i < rows.size(); ++i) {
      uint32_t sum = 0;  // int32 that may wrap, as in 1.10
      if (affinity) {
        for (const api::PreferredSchedulingTerm& t : affinity->preferred) {
          if (t.weight == 0) continue;
          if (!t.preference.match.ok()) return util::InvalidArgument(t.preference.match.error);
          if (t.preference.match.selector.Matches(ctx_.cache.row(rows[i]).node->labels)) {
            sum += static_cast<uint32_t>(t.weight);
          }
        }
      }
      scores[i] = static_cast<int32_t>(sum);
    }
    return absl::OkStatus();
  }
  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    NormalizeReduce(scores, false, max_score_);
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  int64_t max_score_;
};

}  // namespace

PriorityFunction NodeAffinity(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) { return std::make_unique<NodeAffinityScoring>(ctx, max); };
}

}  // namespace berth::scheduler::nodeaffinity
