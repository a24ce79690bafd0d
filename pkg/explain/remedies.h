// Determines what would make a pod fit on a node: for each reason that a predicate gives, what to change, in words. The
// reasons are those of the predicates of 1.10; remedies_v1_29.h adds those of 1.29.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::explain {

// The effort that a change takes for a user who wants the pod to run. Alternatives are compared by the sum of the costs
// of their changes.
enum class Cost : uint8_t {
  kSmall = 1,      // uncordon a node or add a toleration
  kLabel = 2,      // label a node or relax the pod's selectors
  kMove = 4,       // other pods have to leave the node
  kElsewhere = 8,  // the cause is outside the pod and the node's pods: a broken node, volumes, a plugin
};

// One change that a node or the pod needs.
struct Remedy {
  std::string text;  // such as "free 500m cpu" or "tolerate dedicated=gpu:NoSchedule"
  // The text without its amount, such as "free cpu". Remedies of the same kind differ only in the amount.
  std::string kind;
  Cost cost = Cost::kElsewhere;
  // The shortage as a fraction of the node, for comparing remedies of the same kind; 0 if there is none.
  double effort = 0;
  bool possible = true;  // false: no change to this node helps, for example because it is too small
  std::string resource;  // the resource that is short, "pods" for the number of pods; empty if none
  int64_t shortage = 0;  // how much of it must be freed: milliCPU, bytes or units
};

// Returns the distinct remedies for everything that rejects the pod on the node. `names` are the names of the
// predicates in the order of `results`.
std::vector<Remedy> RemediesFor(const scheduler::Cache& cache, const api::PodPtr& pod, scheduler::Symbol node,
                                const std::vector<std::string>& names,
                                const std::vector<scheduler::GenericScheduler::PredicateResult>& results);

// Returns an amount in the notation of the resource: "1500m" or "2" for cpu, "1.5Gi" for memory, "20" for others.
std::string AmountOf(std::string_view resource, int64_t n);

}  // namespace berth::explain
