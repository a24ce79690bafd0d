#include <algorithm>

#include "pkg/scheduler/algorithm/general/general.h"

namespace berth::scheduler::general {
namespace {

// EqualPriority: every node scores 1, not the highest score. Source: EqualPriorityMap in
// pkg/scheduler/core/generic_scheduler.go (1.10).
class EqualScoring final : public Scoring {
 public:
  absl::Status Map(std::span<const Row>, std::span<int64_t> scores) override {
    std::fill(scores.begin(), scores.end(), 1);
    return absl::OkStatus();
  }
};

}  // namespace

PriorityFunction Equal(const PluginFactoryArgs&) {
  return [](const PodContext&) { return std::make_unique<EqualScoring>(); };
}

}  // namespace berth::scheduler::general
