// What another scheduler would have done in the recorded time: the same pods come, the same nodes come and go, and pods
// are deleted when they were deleted, wherever they run. The other scheduler decides, binds and evicts for itself.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pkg/recording/core.h"

namespace berth::recording {

// One pod's fate.
struct Fate {
  std::string pod;             // "namespace/name"
  std::string node;            // empty: never placed
  int64_t waited_micros = -1;  // from the pod's appearing until it was placed; -1 when it was not
  bool evicted = false;        // to make room for another
};

struct Outcome {
  int64_t pods = 0;  // that the schedulers of the recording were responsible for
  int64_t placed = 0, pending = 0, evicted = 0;
  int64_t decisions = 0;
  int64_t median_wait_micros = 0, p99_wait_micros = 0;
};

struct Comparison {
  Outcome recorded, alternative;
  int64_t inputs = 0, lost = 0;
  int64_t same_node = 0;  // pods that both placed, on the same node
  // Pods whose fate differs, in the order in which they appeared: recorded, alternative.
  std::vector<std::pair<Fate, Fate>> differing;
};

// `change` makes the alternative's configuration from the recorded one.
absl::StatusOr<Comparison> CompareWithRecording(const std::string& path,
                                                const std::function<absl::Status(CoreConfiguration*)>& change);

}  // namespace berth::recording
