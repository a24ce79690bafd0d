// Explains why a pod is placed where it is placed, or why it fits nowhere.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/page.h"
#include "pkg/explain/ways.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::explain {

// The decision for one pod, with its trace and the data that explain it.
struct Explanation {
  std::string scenario;  // the name of the scenario, if it has one
  api::PodPtr pod;
  scheduler::Symbol now_on;            // the node of a bound pod, from which it was removed for the explanation
  size_t placed_before = 0;            // number of pending pods that were tried before this one
  std::vector<std::string> admission;  // what the pod got when it was admitted: "priority 7 of PriorityClass usual"
  size_t feasible = 0, nodes = 0;
  std::string ties;        // how one of several best nodes is chosen; empty: in turn
  int64_t max_score = 10;  // the highest score of a priority in the release
  scheduler::Decision decision;
  scheduler::DecisionTrace trace;
  std::vector<std::string> predicates;  // in the order of evaluation
  // The results for one node.
  struct NodeView {
    std::string name;
    // The result of every predicate; evaluation does not stop at the first failure.
    std::vector<scheduler::GenericScheduler::PredicateResult> results;
    std::vector<Remedy> remedies;  // empty if the node fits
    // Returns the index of the first predicate that fails, where the scheduler itself stops, or results.size() if the
    // node fits.
    size_t FirstFailing() const;
  };
  std::vector<NodeView> by_node;  // sorted by name
  // What would make the pod fit, in ascending order of cost; each way was tried (trial.h). Empty if it fits.
  std::vector<Way> ways;
  // Pods that are being deleted on the node to which the pod is nominated. If there are any, it waits for nothing but
  // their end, and there are no ways.
  std::vector<std::string> awaited;
  std::vector<std::string> lacking;  // sentences about what the pod needs and no node has, and about missing claims
  std::vector<std::string> claims_to_create;  // those about missing claims
  bool preemption_tried = false;              // whether the gate PodPriority is on and the pod does not fit
  scheduler::Preemption preemption;
};

// A scheduler, its cluster, and the algorithm from which it was built.
struct Subject {
  scheduler::GenericScheduler& scheduler;
  scheduler::Cache& cache;  // remedies are tried on it, and it is as it was afterwards
  const scheduler::EffectiveAlgorithm& effective;
  bool pod_priority = false;  // the feature gate
  std::string ties = {};      // as Explanation::ties
  // Whether another decision leaves no trace in the scheduler. Not so if decisions look at a part of the nodes only.
  bool decides_alike = true;
};

// Evaluates every predicate for the pod on every node and then lets the scheduler decide. The pod is not assumed, but
// the decision advances the round-robin counter of the scheduler. REQUIRES: the nomination of the pod itself has been
// removed.
Explanation ExplainPod(const Subject& subject, const api::PodPtr& pod);

// Returns the indices of trace.feasible: the chosen node first, then by descending total. The nodes with the best total
// are in the order in which the round robin counts them, and others with equal totals in descending order of name.
std::vector<size_t> Ranking(const Explanation& e);

// Returns in which order the nodes with the best total are numbered: "in descending order of name".
std::string OrderOfTies(const scheduler::DecisionTrace& trace);

// Writes what a person reads first: why the chosen node won or what rejected the pod, with similar nodes on one line,
// and the cheapest ways to make the pod fit.
void WriteExplanation(const Explanation& e, Page* page);
// Writes only the last part of it.
void WriteWays(const std::vector<Way>& ways, Page* page);
// Returns a warning if the incremental scheduler decides differently from what is explained, and otherwise an empty
// text.
std::string DifferenceWarning(const Explanation& e);

// Returns the output of -o wide: the result of every predicate on every node, and the scores of the best nodes. If
// there are many nodes, those with the same results share a line.
std::string ExplanationTable(const Explanation& e);
// Returns the explanation as JSON or YAML. REQUIRES: format is "json" or "yaml".
std::string ExplanationData(const Explanation& e, std::string_view format);

}  // namespace berth::explain
