// What it would do to mend all nodes that share a trouble: how many of the pods that wait would be placed.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pkg/lab/simulation.h"

namespace berth::lab {

struct Fix {
  std::string what;  // "uncordoning 4 nodes"
  int64_t nodes = 0, placed = 0;
};

// Returns, for cordons, for nodes that are not ready and for the commonest taints, how many more of the pending pods
// would be placed if no node had them. At most kMostFixPods of the pods are looked at, and no fix is begun after
// `deadline` (wall time). The cluster of the simulation is as it was afterwards, but volumes stay assumed. The most
// helpful fix comes first.
inline constexpr size_t kMostFixPods = 2000;
std::vector<Fix> FixesOfNodes(Simulation* simulation, const std::vector<api::PodPtr>& pending, absl::Time deadline);

}  // namespace berth::lab
