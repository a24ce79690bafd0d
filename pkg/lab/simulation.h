// Runs a scheduler over a cluster offline, with the same code as the daemon.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <memory>
#include <optional>
#include <string>

#include "pkg/explain/explanation.h"
#include "pkg/lab/scenario.h"
#include "pkg/lab/simulation_v1_29.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::lab {

class Simulation {
 public:
  // Fills the cache and builds the scheduler. Returns an error if two objects conflict or if the algorithm cannot be
  // built. REQUIRES: the scenario outlives the simulation.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const Scenario& scenario) {
    return Make(scenario, scenario.algorithm);
  }
  // The same with another algorithm than that of the scenario.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const Scenario& scenario, const Algorithm& algorithm);

  scheduler::Cache& cache() { return cache_; }
  const Scenario& scenario() const { return scenario_; }
  // For release 1.29, these return the scheduler and the algorithm of the first profile.
  scheduler::GenericScheduler& scheduler() {
    return later_ == nullptr ? *scheduler_ : *later_->FirstProfile().scheduler;
  }
  const scheduler::EffectiveAlgorithm& effective() const {
    return later_ == nullptr ? effective_ : later_->FirstProfile().effective;
  }
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
  uint64_t turn() const;
  void set_turn(uint64_t turn);

  // Returns the pod of the last decision kPlaced, with its node.
  const api::PodPtr& last_placed() const { return last_placed_; }

  // After a decision kUnfit: returns whom to evict so that the pod would fit, or nullopt if preemption is off.
  std::optional<scheduler::Preemption> Preempt(const api::PodPtr& pod, const scheduler::Decision& decision);

  // Returns what the last decision has in addition to that of 1.10. Null for release 1.10.
  const LaterFields* later_fields() const {
    if (later_ != nullptr) return &later_->fields();
    return fields_ ? &*fields_ : nullptr;
  }
  const release::Id& release() const { return *release_; }

  // Explains why the pod is placed where it is placed. The pod is not assumed.
  explain::Explanation Explain(const api::PodPtr& pod);

 private:
  Simulation(const Scenario& scenario, const scheduler::Release& release)
      : scenario_(scenario), cache_(release.describe_template, release.cache) {}
  void Reserve();
  absl::Status Add(const api::Object& object);
  void MakeBinder(const scheduler::SchedulerGates& gates, scheduler::FactoryArgs* args);
  // Returns why release 1.10 does not try the pod, as the daemon would not. Empty if it tries it.
  std::string WhyNotTried(const api::Pod& pod) const;
  // Places a pod of Scenario::bound_by_controller on its node if nothing but the node's conditions prevents it.
  void BindAsController(const api::PodPtr& pod, scheduler::Decision* d) const;

  const Scenario& scenario_;
  const release::Id* release_ = nullptr;
  std::unique_ptr<SimulationV1_29> later_;  // for release 1.29, it decides and uses cache_
  scheduler::Cache cache_;
  scheduler::NominatedPods nominated_;
  std::unique_ptr<scheduler::NodeSampler> sampler_;         // null: decisions look at all nodes
  std::unique_ptr<scheduler::VolumeBinder> volume_binder_;  // for a release that does not provision claims
  std::unique_ptr<scheduler::ClaimBinder> claim_binder_;    // for one that does, unless profiles decide
  scheduler::EffectiveAlgorithm effective_;
  std::unique_ptr<scheduler::GenericScheduler> scheduler_;
  std::optional<LaterFields> fields_;  // for a release with an order of nodes of its own, unless profiles decide
  // What the claim binder assumed for pods that are assumed, by uid. Pods without such claims are absent.
  absl::flat_hash_map<std::string, scheduler::ClaimBinder::Assumed> assumed_claims_;
  api::PodPtr last_placed_;
  bool preempts_ = false;
  TieBreaker ties_;
  bool pod_priority_ = false;
  bool ignore_unknown_fields_ = false;
  // Assumes the pod's claims on the node, unless profiles decide. Returns why that failed; empty if it did not.
  std::string AssumeClaims(const api::Pod& pod, scheduler::Symbol node);
  // Returns the pod without the fields that --ignore-unknown-fields passes over.
  api::PodPtr AsTaken(const api::PodPtr& pod) const;
};

}  // namespace berth::lab
