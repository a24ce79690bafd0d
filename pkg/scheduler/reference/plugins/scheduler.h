// The independent reference of release 1.29: one scheduling cycle and the preemption that may follow, as in Kubernetes
// 1.29.14, except that every node is looked at and that ties are broken as in release 1.10 (by name, then round robin).
// It is slow and simple. Tests compare the production scheduler with it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/reference/plugins/plugin.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::reference::plugins {

struct Preemption {
  std::string node;                             // empty when preemption helps on no node
  std::vector<std::string> victims;             // namespace/name, the most important first
  std::vector<std::string> nominated_to_clear;  // namespace/name
};

struct Decision {
  std::string host;           // empty when the pod is not placed
  std::string not_attempted;  // why the pod was not tried at all; nothing else is set then
  std::string error;
  std::map<std::string, Status> failures;  // by node
  std::vector<std::string> feasible;       // in the order of World::nodes()
  // The scores from 0 to 100 of each plugin, and their weighted sums, in the order of `feasible`. Empty when fewer than
  // two nodes fit.
  std::vector<std::pair<std::string, std::vector<int64_t>>> scores;
  std::vector<int64_t> totals;
  std::vector<std::string> ties;  // the nodes with the best total, in descending order of names
  bool unschedulable = false;     // no node fits; preemption may help

  std::optional<Preemption> preemption;
  // All options among which 1.29 chooses at random. `preemption` is the first of them.
  std::vector<Preemption> preemption_one_of;
  std::string preemption_error;
};

class Scheduler {
 public:
  // `world` must outlive the scheduler. REQUIRES: there is at least one profile.
  Scheduler(World* world, std::vector<configuration::ResolvedProfile> profiles)
      : world_(world), profiles_(std::move(profiles)) {
    BERTH_REQUIRES(!profiles_.empty());
  }

  // Adds a pending pod with status.nominatedNodeName. Ignores pods that would not be attempted.
  void AddNominated(const api::PodPtr& pod);

  // Decides where the pod goes and, when a node is found, assumes the pod and its volumes there. If `preempt` is set
  // and the pod fits nowhere, the decision has the preemption that would follow, which is not applied.
  Decision ScheduleOne(const api::PodPtr& pod, bool preempt);

  // Returns the round-robin counter that chooses among the best nodes, so that another scheduler can be given the same.
  uint64_t* last_node_index() { return &last_node_index_; }
  bool has_nominated() const { return !nominated_.empty(); }

 private:
  struct Attempt;  // the state of one cycle
  const configuration::ResolvedProfile* ProfileOf(const api::Pod& pod) const;
  std::string WhyNotAttempted(const api::Pod& pod) const;
  void Decide(Attempt* attempt);
  Status PreFilter(Attempt* attempt, std::optional<std::set<Symbol>>* names);
  void Filter(Attempt* attempt, const Nodes& nodes);
  Status FilterWithNominated(const Attempt& attempt, const NodeInfo& info) const;
  void Score(Attempt* attempt);
  void Select(Attempt* attempt);
  void Assume(const Attempt& attempt);
  void Preempt(Attempt* attempt);
  std::string WhyNotEligible(const Attempt& attempt) const;
  struct Candidate;
  Status DryRun(const Attempt& attempt, const NodeInfo& info, Candidate* candidate) const;

  World* world_;
  std::vector<configuration::ResolvedProfile> profiles_;
  std::vector<api::PodPtr> nominated_;
  uint64_t last_node_index_ = 0;
};

// Returns FitError's text: "0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods."
std::string FitErrorText(size_t nodes, const std::map<std::string, Status>& failures, const std::string& pre_filter);

}  // namespace berth::scheduler::reference::plugins
