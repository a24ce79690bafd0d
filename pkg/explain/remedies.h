// What would make a node take a pod: for each reason that a predicate gave, what to change, in words.
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::explain {

struct Remedy {
  std::string text;      // "free 500m cpu", "tolerate dedicated=gpu:NoSchedule"
  double effort = 0;     // of those of one kind, which is nearer: the shortage as a share of the node; else 0
  bool possible = true;  // false: nothing done to this node would do, such as when it is too small
};

// One for each thing that stands in the way, none twice. `names` are the predicates' names, in the order of
// `judgements`.
std::vector<Remedy> RemediesFor(const scheduler::Cache& cache, const api::PodPtr& pod, scheduler::Symbol node,
                                const std::vector<std::string>& names,
                                const std::vector<scheduler::GenericScheduler::Judgement>& judgements);

// Nodes that the same changes would open, the nearest first: possible ones, fewest changes, most nodes, least effort.
struct Way {
  std::vector<std::string> changes;
  std::vector<std::string> nodes;
  double effort = 0;
  bool possible = true;
};
std::vector<Way> WaysToFit(const std::vector<std::pair<std::string, std::vector<Remedy>>>& by_node);

// "free 500m cpu and tolerate a=b:NoSchedule on 12 nodes (n1, n2, n3 and 9 more)"
std::string Describe(const Way& way);

}  // namespace berth::explain
