// MaxReplicasPerNodePlain: a fit predicate in the plain form, which is called for one node at a time.
//
// A pod with the label max-per-node=N only fits nodes that have fewer than N pods of its namespace and app label.
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/factory/factory.h"
#include "plugin/examples/replica_limit.h"

namespace plugin::examples {
namespace {

using berth::scheduler::NodeInfo;
using berth::scheduler::PlacedPod;
using berth::scheduler::PredicateResult;

PredicateResult MaxReplicasPerNode(const berth::api::Pod& pod, const NodeInfo& node) {
  ReplicaLimit limit = ReplicaLimitOf(*pod.tmpl);
  if (!limit.wanted) return {};
  PredicateResult result;
  if (!limit.error.empty()) {
    result.error = limit.error;  // an error and not a failure, because the pod itself is wrong
    return result;
  }
  int64_t replicas = 0;
  for (const PlacedPod& other : node.pods()) {
    const berth::api::PodTemplate& t = *other.pod->tmpl;
    if (t.ns == pod.tmpl->ns && t.labels.Get(kAppLabel()) == limit.app) ++replicas;
  }
  result.fit = replicas < limit.max;
  if (!result.fit) result.reasons.emplace_back(kTooManyReplicas);
  return result;
}

const std::string kRegistered =
    berth::scheduler::RegisterFitPredicate("MaxReplicasPerNodePlain", MaxReplicasPerNode, kReplicaLimitTraits);

}  // namespace
}  // namespace plugin::examples
