// Runs a scheduler over a cluster offline, with the same code as the daemon.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/explain/explanation.h"
#include "pkg/lab/decider.h"
#include "pkg/lab/scenario.h"
#include "pkg/scheduler/core/generic_scheduler.h"

namespace berth::lab {

// What a decision of a release with an order of nodes of its own has beside its outcome.
struct DecisionFields {
  std::string not_attempted;  // if not empty, why the pod was not tried; nothing else is meaningful then
  std::map<std::string, std::string> rejections;  // node to "Plugin Code"; of profiles only
  std::vector<std::string> ties;                  // the nodes with the best total, in the order of choice
  std::string preemption_error;
  std::string hint;  // the node that batching proposed
};

class Simulation {
 public:
  // Fills the cache and builds the scheduler. Returns an error if two objects conflict or if the algorithm cannot be
  // built. The scenario must outlive the simulation.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const Scenario& scenario) {
    return Make(scenario, scenario.algorithm);
  }
  // The same with another algorithm than that of the scenario.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const Scenario& scenario, const Algorithm& algorithm);

  scheduler::Cache& cache() { return cache_; }
  const Scenario& scenario() const { return scenario_; }
  // With several profiles, these return the scheduler and the algorithm of the first.
  scheduler::GenericScheduler& scheduler() { return *deciders_.front().scheduler; }
  const scheduler::EffectiveAlgorithm& effective() const { return deciders_.front().effective; }
  bool preempts() const { return preempts_; }
  bool pod_priority() const { return pod_priority_; }

  // Schedules one pod and, if it fits, assumes it on its node. Fills `trace` if it is not null. REQUIRES: with
  // kIncremental, `trace` is null.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionMode mode, scheduler::DecisionTrace* trace);
  // The same with the reference scheduler if `trace` is not null, and with the incremental scheduler otherwise.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionTrace* trace = nullptr) {
    using scheduler::DecisionMode;
    return Place(pod, trace == nullptr ? DecisionMode::kIncremental : DecisionMode::kReference, trace);
  }

  // Assumes the pod on a node without a decision, as if it had been placed there. Returns why that is impossible.
  absl::Status PlaceOn(const api::PodPtr& pod, scheduler::Symbol node);
  // Takes an assumed pod from its node again, and gives back the claims that it assumed there.
  absl::Status Forget(const api::Pod& pod);
  // Returns the scheduler that decides about the pod, or null if no profile has the pod's schedulerName.
  scheduler::GenericScheduler* SchedulerOf(const api::Pod& pod);
  // Returns why the pod is not tried at all, as the daemon would not. Empty if it is tried.
  std::string WhyHeld(const api::PodPtr& pod);
  // Sets what is added to all decisions (core/guest.h); null: nothing.
  void set_guest(scheduler::Guest* guest);
  // The round-robin counter that chooses among the best nodes.
  uint64_t turn() const { return turn_; }
  void set_turn(uint64_t turn) { turn_ = turn; }

  // Returns the pod of the last decision kPlaced, with its node.
  const api::PodPtr& last_placed() const { return last_placed_; }

  // After a decision kUnfit: returns whom to evict so that the pod would fit, or nullopt if preemption is off.
  std::optional<scheduler::Preemption> Preempt(const api::PodPtr& pod, const scheduler::Decision& decision);

  // Returns what the last decision has beside its outcome, or null in a release whose decisions have nothing else.
  const DecisionFields* fields() const { return fields_ ? &*fields_ : nullptr; }
  const release::Id& release() const { return *release_; }

  // Explains why the pod is placed where it is placed. The pod is not assumed.
  explain::Explanation Explain(const api::PodPtr& pod);

 private:
  Simulation(const Scenario& scenario, const scheduler::AssemblyConfig& config)
      : scenario_(scenario), parts_(config), cache_(parts_.cache) {}
  void Reserve();
  absl::Status Add(const api::Object& object);
  Decider* DeciderOf(const api::Pod& pod);
  // Returns why the pod is not tried, as the daemon would not. Empty if it is tried.
  std::string WhyNotTried(const api::Pod& pod);
  // Places a pod of Scenario::bound_by_controller on its node if nothing but the node's conditions prevents it.
  void BindAsController(const api::PodPtr& pod, scheduler::Decision* d) const;
  // Assumes the pod's claims on the node if its decider does. Returns why that failed; empty if it did not.
  std::string AssumeClaims(const Decider& decider, const api::Pod& pod, scheduler::Symbol node);
  // Returns the pod without the fields that --ignore-unknown-fields passes over.
  api::PodPtr AsTaken(const api::PodPtr& pod) const;
  void FillFields(const scheduler::DecisionTrace& trace);

  const Scenario& scenario_;
  const release::Id* release_ = nullptr;
  scheduler::Assembly parts_;
  scheduler::Cache& cache_;  // of parts_
  std::vector<Decider> deciders_;
  std::optional<DecisionFields> fields_;
  // What was assumed for pods, by uid. Pods without such claims are absent.
  absl::flat_hash_map<std::string, scheduler::ClaimBinder::Assumed> assumed_claims_;
  api::PodPtr last_placed_;
  bool preempts_ = false;
  TieBreaker ties_;
  uint64_t turn_ = 0, cycle_ = 0;  // shared by all deciders, as in the daemon
  bool pod_priority_ = false;
  bool looks_at_all_nodes_ = true;
  bool by_profiles_ = false;  // whether fields_ has the plugins that reject a node
  bool ignore_unknown_fields_ = false;
};

}  // namespace berth::lab
