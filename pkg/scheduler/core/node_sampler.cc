#include "pkg/scheduler/core/node_sampler.h"

#include <algorithm>
#include <vector>

#include "pkg/util/contract.h"

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

// The node that shows that enough were found is used up.
size_t NodeSampler::WalkTree(absl::FunctionRef<bool(Row)> fits, absl::FunctionRef<void(Row)> take) {
  const size_t all = cache_->node_count(), most = NodesToFind(all);
  size_t found = 0;
  for (size_t looked = 0; looked < all; ++looked) {
    const Row row = *cache_->node_tree().Next();
    if (!fits(row)) continue;
    if (found == most) return looked + 1;
    ++found;
    take(row);
  }
  return all;
}

size_t NodeSampler::Walk(const RowSet* only, size_t enough, absl::FunctionRef<bool(Row)> fits,
                         absl::FunctionRef<void(Row)> take) {
  if (rules_.walk == SamplingRules::Walk::kTree) return WalkTree(fits, take);
  std::vector<Row> some;
  if (only != nullptr) {
    for (Row row : cache_->in_tree_order()) {
      if (only->Has(row)) some.push_back(row);
    }
  }
  const std::vector<Row>& rows = only != nullptr ? some : cache_->in_tree_order();
  if (rows.empty()) return 0;
  const size_t most = enough != 0 ? enough : NodesToFind(rows.size());
  size_t found = 0, passed = 0;
  for (; passed < rows.size(); ++passed) {
    const Row row = rows[(start_ + passed) % rows.size()];
    if (!fits(row)) continue;
    if (found == most) break;
    ++found;
    take(row);
  }
  const size_t looked = passed + (passed < rows.size() ? 1 : 0);
  start_ = (start_ + passed) % cache_->node_count();
  return looked;
}

std::optional<SampledWalk> NodeSampler::NextWalk(size_t enough) const {
  const size_t all = cache_->node_count();
  if (all == 0) return std::nullopt;
  SampledWalk walk;
  walk.most = enough != 0 ? enough : NodesToFind(all);
  walk.start = start_ % all;
  if (rules_.walk == SamplingRules::Walk::kTree) {
    const std::optional<size_t> place = cache_->node_tree().Place();
    if (!place) return std::nullopt;
    walk.start = *place % all;
  }
  return walk;
}

void NodeSampler::Made(const SampledWalk& walk) {
  BERTH_REQUIRES(walk.walked && walk.looked <= cache_->node_count());
  if (rules_.walk == SamplingRules::Walk::kTree) {
    cache_->node_tree().Skip(walk.looked);
  } else {
    start_ = (start_ + walk.looked - (walk.stopped ? 1 : 0)) % cache_->node_count();
  }
}

}  // namespace berth::scheduler
