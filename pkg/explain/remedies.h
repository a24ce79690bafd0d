// Determines what would make a pod fit on a node: for each reason that a predicate gives, what to change, in words. The
// reasons are those of the predicates of 1.10; plugin_remedies.h adds those of 1.29.
#pragma once
#include <cstdint>
#include <functional>
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

// Copies of a pod and of a node, on which changes are tried.
struct Copies {
  api::Pod pod;  // its template is `tmpl`
  api::PodTemplate tmpl;
  api::Node node;
  std::vector<api::PodPtr> added;  // further pods on the node
};
// Makes a change. Null: the change cannot be tried.
using Change = std::function<void(Copies*)>;

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
  bool moves = false;    // whether pods of the node have to leave (movers.h), which is no Change
  Change change;
  // If `text` names two changes, such as "label a=b (or drop it from nodeSelector)": each of them alone, and the second
  // one. Otherwise empty.
  std::string first_text, second_text;
  Change second;
};

// Returns the distinct remedies for everything that rejects the pod on the node. `names` are the names of the
// predicates in the order of `results`.
std::vector<Remedy> RemediesFor(const scheduler::Cache& cache, const api::PodPtr& pod, scheduler::Symbol node,
                                const std::vector<std::string>& names,
                                const std::vector<scheduler::GenericScheduler::PredicateResult>& results);

// Return changes: the pod tolerates the taint; the node is not cordoned; its conditions are those of a healthy node,
// and the taints that follow from them are gone; there are pods on the node for each term of the pod's required
// affinity; the pod does not request the resource.
Change Tolerating(const api::Taint& taint);
Change Uncordoned();
Change Healthy();
Change PlacingForAffinity(const api::PodTemplate& pod);
Change WithoutResource(std::string_view resource);

// Returns an amount in the notation of the resource: "1500m" or "2" for cpu, "1.5Gi" for memory, "20" for others.
std::string AmountOf(std::string_view resource, int64_t n);

}  // namespace berth::explain
