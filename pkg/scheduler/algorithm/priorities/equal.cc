#include <algorithm>

#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {
namespace {

class EqualScoring final : public Scoring {
 public:
  Scope scope() const override { return Scope::kNode; }
  ReduceKind reduce_kind() const override { return ReduceKind::kNone; }
  absl::Status Map(std::span<const Row>, std::span<int64_t> scores) override {
    std::fill(scores.begin(), scores.end(), 1);
    return absl::OkStatus();
  }
};

}  // namespace

PriorityFunction Equal(const PluginFactoryArgs&) {
  return [](const PodContext&) { return std::make_unique<EqualScoring>(); };
}

}  // namespace berth::scheduler::priorities
