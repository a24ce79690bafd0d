// Why one pod goes where it goes.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/page.h"
#include "pkg/explain/ways.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::explain {

struct Explanation {
  std::string scenario;  // its name, when it has one
  api::PodPtr pod;
  scheduler::Symbol now_on;  // where a bound pod is; it was taken away for the explanation
  size_t placed_before = 0;  // pending pods tried before this one
  size_t feasible = 0, nodes = 0;
  scheduler::Decision decision;
  scheduler::DecisionTrace trace;
  std::vector<std::string> predicates;  // in the order of evaluation
  struct NodeView {
    std::string name;
    std::vector<scheduler::GenericScheduler::PredicateResult> results;  // by predicate: all of them, no short circuit
    std::vector<Remedy> remedies;                                       // empty when the node fits
    // The index of the predicate that stopped the pod, which is all that the scheduler itself finds out;
    // results.size() when the node fits.
    size_t FirstFailing() const;
  };
  std::vector<NodeView> by_node;     // by name
  std::vector<Way> ways;             // what would make the pod fit, when it does not; the cheapest first
  std::vector<std::string> lacking;  // sentences about what the pod needs and no node has
  bool preemption_tried = false;     // gate PodPriority is on and the pod does not fit
  scheduler::Preemption preemption;
};

// A scheduler with its cluster, and what it was built from.
struct Subject {
  scheduler::GenericScheduler& scheduler;
  const scheduler::Cache& cache;
  const scheduler::EffectiveAlgorithm& effective;
  bool pod_priority = false;  // the feature gate
};

// Evaluates every predicate for the pod on every node, then lets the scheduler decide. The pod is not assumed, but the
// decision moves the scheduler's round-robin counter on. The pod's own nomination must have been removed.
Explanation ExplainPod(const Subject& subject, const api::PodPtr& pod);

// What a person reads first: why the winner won or what stopped the pod, nodes with equal rows folded, and the cheapest
// ways to make the pod fit.
void WriteExplanation(const Explanation& e, Page* page);
// The last part of it alone.
void WriteWays(const std::vector<Way>& ways, Page* page);
// -o wide: a line for each node, with the answer of every predicate and the score of every priority.
// Returns a warning when the incremental scheduler decides otherwise than what is explained, else an empty text.
std::string DifferenceWarning(const Explanation& e);

std::string ExplanationTable(const Explanation& e);
// `format`: json or yaml.
std::string ExplanationData(const Explanation& e, std::string_view format);

}  // namespace berth::explain
