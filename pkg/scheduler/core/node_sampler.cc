#include "pkg/scheduler/core/node_sampler.h"

#include <algorithm>
#include <vector>

namespace berth::scheduler {
namespace {

constexpr int64_t kFewestNodes = 100;  // minFeasibleNodesToFind
constexpr int64_t kFewestPercent = 5;  // minFeasibleNodesPercentageToFind

}  // namespace

int64_t FixedShareOfNodes(int64_t nodes, int64_t percentage) {
  if (nodes < kFewestNodes || percentage <= 0 || percentage >= 100) return nodes;
  return std::max(kFewestNodes, nodes * percentage / 100);
}

int64_t AdaptiveShareOfNodes(int64_t nodes, int64_t percentage) {
  if (nodes < kFewestNodes || percentage >= 100) return nodes;
  if (percentage <= 0) percentage = std::max(kFewestPercent, 50 - nodes / 125);
  return std::max(kFewestNodes, nodes * percentage / 100);
}

size_t NodeSampler::Walk(absl::FunctionRef<Look(Row)> look, absl::FunctionRef<void(Row)> take) {
  const size_t all = cache_->node_count();
  const auto to_find = static_cast<size_t>(rules_.nodes_to_find(static_cast<int64_t>(all), percentage_));
  const bool tree = rules_.walk == SamplingRules::Walk::kTree;
  size_t found = 0, looked = 0, passed = 0;
  while (looked < all) {
    Row row;
    if (tree) {
      row = *cache_->node_tree().Next();
    } else {
      // The list may have become shorter since the last decision.
      row = cache_->in_order()[(start_ + looked) % all];
    }
    ++looked;
    if (look(row) == Look::kFails) {
      ++passed;
      continue;
    }
    if (found == to_find) break;
    ++found;
    ++passed;
    take(row);
  }
  if (!tree && all > 0) start_ = (start_ + passed) % all;
  return looked;
}

}  // namespace berth::scheduler
