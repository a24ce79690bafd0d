// Computes what another scheduler would have done in the recorded time: the same pods appear, the same nodes come and
// go, and pods are deleted when they were deleted, wherever they run. The other scheduler makes its own decisions,
// binds and evictions.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pkg/recording/core.h"

namespace berth::recording {

// What happened to one pod.
struct Fate {
  std::string pod;             // "namespace/name"
  std::string node;            // empty: never placed
  int64_t waited_micros = -1;  // from the appearance of the pod until it was placed; -1 if it was not
  bool evicted = false;        // to make room for another
};

struct Outcome {
  int64_t pods = 0;  // for which the recorded schedulers were responsible
  int64_t placed = 0, pending = 0, evicted = 0;
  int64_t decisions = 0;
  int64_t median_wait_micros = 0, p99_wait_micros = 0;
};

struct Comparison {
  Outcome recorded, alternative;
  int64_t inputs = 0, lost = 0;
  int64_t same_node = 0;  // pods that both placed on the same node
  // Pods to which different things happened, in the order in which they appeared: recorded, alternative.
  std::vector<std::pair<Fate, Fate>> differing;
};

// Runs the comparison. `change` turns the recorded configuration into that of the other scheduler.
absl::StatusOr<Comparison> CompareWithRecording(const std::string& path,
                                                const std::function<absl::Status(CoreConfiguration*)>& change);

}  // namespace berth::recording
