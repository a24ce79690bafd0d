// What would make a node take a pod: for each reason that a predicate gave, what to change, in words.
// Kubernetes 1.10: the reasons are those of its predicates.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::explain {

// What a change costs whoever wants the pod to run. The values are compared by their sum over a node's changes.
enum class Cost : uint8_t {
  kSmall = 1,      // uncordon a node, add a toleration
  kLabel = 2,      // label a node, or ask for less in the pod's selectors
  kMove = 4,       // other pods have to leave the node
  kElsewhere = 8,  // neither the pod nor the pods on the node are to be changed: a broken node, volumes, a plugin
};

struct Remedy {
  std::string text;  // "free 500m cpu", "tolerate dedicated=gpu:NoSchedule"
  // The text without its amount, "free cpu". Remedies of one kind differ by amount only.
  std::string kind;
  Cost cost = Cost::kElsewhere;
  double effort = 0;     // of those of one kind, which is nearer: the shortage as a share of the node; else 0
  bool possible = true;  // false: nothing done to this node would do, such as when it is too small
  std::string resource;  // that runs short, "pods" for the number of pods; empty: no amount
  int64_t shortage = 0;  // how much of it must be freed (milliCPU, bytes, pieces)
};

// Returns one remedy for each thing that stands in the way, none twice. `names` are the predicates' names, in the order
// of `results`.
std::vector<Remedy> RemediesFor(const scheduler::Cache& cache, const api::PodPtr& pod, scheduler::Symbol node,
                                const std::vector<std::string>& names,
                                const std::vector<scheduler::GenericScheduler::PredicateResult>& results);

// Returns an amount in the unit in which scheduling counts the resource: "1500m" or "2" cpu, "1.5Gi" of memory, "20".
std::string AmountOf(std::string_view resource, int64_t n);

}  // namespace berth::explain
