// The reference scheduler of release 1.29: one scheduling cycle and the preemption that may follow, as Kubernetes
// 1.29.14 decides them, with every node looked at and ties broken as release 1.10 breaks them (by name, then round
// robin). Slow and obvious; the production scheduler is held against it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/reference/v1_29/plugin.h"

namespace berth::scheduler::reference::v1_29 {

struct Preemption {
  std::string node;                             // empty: none
  std::vector<std::string> victims;             // namespace/name, most important first
  std::vector<std::string> nominated_to_clear;  // namespace/name
};

struct Decision {
  std::string host;           // empty when the pod is not placed
  std::string not_attempted;  // why the pod was not tried at all; nothing else is set then
  std::string error;
  std::map<std::string, Status> failures;  // by node
  std::vector<std::string> feasible;       // in the order of nodes
  // Of each plugin that scored, by place in `feasible`, 0..100; weighted sums likewise. Empty when fewer than two fit.
  std::vector<std::pair<std::string, std::vector<int64_t>>> scores;
  std::vector<int64_t> totals;
  std::vector<std::string> ties;  // nodes with the best total, by name descending
  bool unschedulable = false;     // no node fits; preemption may help

  std::optional<Preemption> preemption;
  std::vector<Preemption> preemption_one_of;  // nodes between which 1.29 chooses by chance; the first is `preemption`
  std::string preemption_error;
};

class Scheduler {
 public:
  // REQUIRES: at least one profile; all outlive the scheduler.
  Scheduler(World* world, std::vector<configuration::ResolvedProfile> profiles)
      : world_(world), profiles_(std::move(profiles)) {}

  // Pods that have status.nominatedNodeName and wait to be placed. Pods that would not be tried are passed over.
  void AddNominated(const api::PodPtr& pod);

  // Decides a pod and, when a node is found, assumes the pod and its volumes there. With `preempt` a pod that fits
  // nowhere gets the preemption that would follow; nothing of it is applied.
  Decision ScheduleOne(const api::PodPtr& pod, bool preempt);

  // The counter of round robin among the best nodes, for a scheduler that decides in turn with this one.
  uint64_t* last_node_index() { return &last_node_index_; }
  bool has_nominated() const { return !nominated_.empty(); }

 private:
  struct Attempt;  // what one cycle keeps
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

}  // namespace berth::scheduler::reference::v1_29
