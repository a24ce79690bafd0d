#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {
namespace {

class LabelPreferenceScoring final : public Scoring {
 public:
  Scope scope() const override { return Scope::kNode; }
  ReduceKind reduce_kind() const override { return ReduceKind::kNone; }
  LabelPreferenceScoring(const PodContext& ctx, Symbol label, bool presence)
      : ctx_(ctx), label_(label), presence_(presence) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = ctx_.cache.row(rows[i]).node->labels.Has(label_) == presence_ ? kMaxPriority : 0;
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  Symbol label_;
  bool presence_;
};

}  // namespace

PriorityFunction LabelPreference(Symbol label, bool presence) {
  return [label, presence](const PodContext& ctx) {
    return std::make_unique<LabelPreferenceScoring>(ctx, label, presence);
  };
}

}  // namespace berth::scheduler::priorities
