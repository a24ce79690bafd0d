// Rules about node selectors and node affinity. Each function is the factory of one rule of Kubernetes 1.10; the rule
// is in the .cc file that bears its name.
#pragma once
#include <optional>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodeaffinity {

// MatchNodeSelector: spec.nodeSelector and required node affinity match the node's labels. Terms are ORed; a term that
// cannot be used ends the search with no match (B-11, kept).
FitPredicate MatchNodeSelector(const PluginFactoryArgs&);

// NodeAffinityPriority: preferred node affinity terms by weight.
PriorityFunction NodeAffinity(const PluginFactoryArgs&);

// Returns whether a term selects a node. Release 1.10 has no matchFields; they are honoured all the same, as every pod
// of a DaemonSet has them since 1.12.
bool TermMatches(const api::NodeSelectorTerm& term, const api::Node& node);

// Returns whether any of the terms selects the node. A term that cannot be parsed ends the search without a match
// (bug B-11, kept).
bool TermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node);

// Returns whether the node meets the pod's nodeSelector and required node affinity, as 1.29 reads them: expressions and
// fields of a term together, and a term with a mistake selects nothing.
bool MeetsRequired(const api::PodTemplate& pod, const api::Node& node);

// Node affinity that a profile of 1.29 adds to every pod.
struct AddedAffinity {
  std::optional<std::vector<api::NodeSelectorTerm>> required;
  std::vector<api::PreferredSchedulingTerm> preferred;
};

// NodeAffinity (1.29), Filter and Score.
FitPredicate NodeAffinityFilter(const PluginFactoryArgs&, AddedAffinity added);
PriorityFunction NodeAffinityScore(const PluginFactoryArgs&, AddedAffinity added);

}  // namespace berth::scheduler::nodeaffinity
