// CheapestNodePriorityPlain: a priority function in the plain form. A map function is called for one node at a time,
// and a reduce function converts the raw scores of all nodes to 0..10.
#include <algorithm>
#include <vector>

#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/factory/factory.h"
#include "plugin/examples/node_price.h"

namespace plugin::examples {
namespace {

using berth::scheduler::HostPriority;
using berth::scheduler::NodeInfo;

absl::StatusOr<int64_t> Price(const berth::api::Pod&, const NodeInfo& node) {
  auto text = node.node()->labels.Get(PriceLabel());
  return text ? PriceOf(text->str()) : kNoPrice;
}

absl::Status CheapestIsBest(const berth::api::Pod&, std::vector<HostPriority>* nodes) {
  int64_t dearest = 0;
  for (const HostPriority& n : *nodes) dearest = std::max(dearest, n.score);
  for (HostPriority& n : *nodes) n.score = PriceScore(n.score, dearest);
  return absl::OkStatus();
}

const std::string kRegistered =
    berth::scheduler::RegisterPriorityFunction2("CheapestNodePriorityPlain", Price, CheapestIsBest, /*weight=*/1);

}  // namespace
}  // namespace plugin::examples
