// Rules about node selectors and node affinity. Each function is the factory of one rule, which is implemented in a .cc
// file of this folder.
#pragma once
#include <optional>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::nodeaffinity {

// MatchNodeSelector (1.10): spec.nodeSelector and the required node affinity match the labels of the node. The terms of
// the affinity are ORed. A term that cannot be parsed ends the search, so that later terms are ignored (bug B-11,
// kept).
FitPredicate MatchNodeSelector(const PluginFactoryArgs&);

// The same from 1.11 on: a term selects a node if both its matchExpressions and its matchFields match, and a term that
// cannot be parsed is passed over.
FitPredicate MatchNodeSelectorWithFields(const PluginFactoryArgs&);

// NodeAffinityPriority (1.10): the sum of the weights of the preferred node affinity terms that match.
PriorityFunction NodeAffinity(const PluginFactoryArgs&);
// The same as releases before 1.19 compute it: matchFields of preferred terms are ignored.
PriorityFunction NodeAffinityByLabels(const PluginFactoryArgs&);

// Returns whether a term selects a node. Release 1.10 has no matchFields. They are honoured all the same, because every
// pod of a DaemonSet has them since 1.12.
bool TermMatches(const api::NodeSelectorTerm& term, const api::Node& node);

// Returns whether any of the terms selects the node. A term that cannot be parsed ends the search without a match (bug
// B-11, kept).
bool TermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node);

// Returns whether a term selects a node from 1.11 on. A term that is invalid or empty selects no node.
bool ValidTermMatches(const api::NodeSelectorTerm& term, const api::Node& node);

// Returns whether the node satisfies the pod's nodeSelector and required node affinity according to 1.29: a term
// selects a node if both its expressions and its fields match, and a term that is not valid selects no node.
bool MeetsRequired(const api::PodTemplate& pod, const api::Node& node);
// Erases the rows whose nodes do not satisfy them. REQUIRES: the rows are listed.
void KeepRequired(const api::PodTemplate& pod, const Cache& cache, RowSet* rows);

// Node affinity that the addedAffinity argument of a 1.29 profile adds to every pod.
struct AddedAffinity {
  std::optional<std::vector<api::NodeSelectorTerm>> required;
  std::vector<api::PreferredSchedulingTerm> preferred;
};

// The hint of NodeAffinity (1.36): a node matches the pod's required affinity and the added one that is new or did not
// match before.
QueueingHint NodeMadeToMatch(AddedAffinity added);

// The Filter and the Score of NodeAffinity (1.29).
FitPredicate NodeAffinityFilter(const PluginFactoryArgs&, AddedAffinity added);
PriorityFunction NodeAffinityScore(const PluginFactoryArgs&, AddedAffinity added);

// The Filter of NodeAffinity (1.19): the node matches the pod's nodeSelector and required affinity, by MeetsRequired.
FitPredicate RequiredNodeAffinity(const PluginFactoryArgs&);
// The Score of NodeAffinity (1.19): the weights of the preferred terms whose matchExpressions match. matchFields are
// ignored, and a term without matchExpressions matches nothing.
PriorityFunction PreferredNodeLabels(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodeaffinity
