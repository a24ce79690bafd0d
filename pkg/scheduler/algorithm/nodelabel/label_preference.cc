#include "pkg/scheduler/algorithm/nodelabel/nodelabel.h"

namespace berth::scheduler::nodelabel {
namespace {

// labelPreference: the highest score if the node has the label, or lacks it, as the Policy says. Only the presence of
// the label counts, not its value. Source: pkg/scheduler/algorithm/priorities/node_label.go (1.10).
class LabelPreferenceScoring final : public Scoring {
 public:
  LabelPreferenceScoring(const PodContext& ctx, Symbol label, bool presence, int64_t max_score)
      : ctx_(ctx), label_(label), presence_(presence), max_score_(max_score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = ctx_.cache.row(rows[i]).node->labels.Has(label_) == presence_ ? max_score_ : 0;
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  Symbol label_;
  bool presence_;
  int64_t max_score_;
};

}  // namespace

PriorityFunction LabelPreference(const PluginFactoryArgs& args, Symbol label, bool presence) {
  return [label, presence, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<LabelPreferenceScoring>(ctx, label, presence, max);
  };
}

}  // namespace berth::scheduler::nodelabel
