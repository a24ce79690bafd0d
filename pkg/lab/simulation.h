// One scheduler over one cluster, offline: the same code that the daemon runs.
#pragma once
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
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::lab {

class Simulation {
 public:
  // Fills the cache and builds the scheduler. Errors: an object that cannot be there twice, an algorithm that cannot
  // be.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const Scenario& scenario) {
    return Make(scenario, scenario.algorithm);
  }
  // With another algorithm than the Scenario's own. The Scenario must outlive the simulation.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(const Scenario& scenario, const Algorithm& algorithm);

  scheduler::Cache& cache() { return cache_; }
  const Scenario& scenario() const { return scenario_; }
  // Of release 1.29 that of the first profile.
  scheduler::GenericScheduler& scheduler() {
    return later_ == nullptr ? *scheduler_ : *later_->FirstProfile().scheduler;
  }
  const scheduler::EffectiveAlgorithm& effective() const {
    return later_ == nullptr ? effective_ : later_->FirstProfile().effective;
  }
  bool preempts() const { return preempts_; }
  bool pod_priority() const { return pod_priority_; }

  // Tries one pod and, when it fits, assumes it on its node.
  // REQUIRES: `trace`, which is filled when it is not null, is not given with kIncremental.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionMode mode, scheduler::DecisionTrace* trace);
  // The same by the reference scheduler when there is a trace to fill, else incrementally.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionTrace* trace = nullptr) {
    using scheduler::DecisionMode;
    return Place(pod, trace == nullptr ? DecisionMode::kIncremental : DecisionMode::kReference, trace);
  }

  // After a decision kUnfit, with preempts(): whom to evict so that the pod would fit; nullopt when nothing is tried.
  std::optional<scheduler::Preemption> Preempt(const api::PodPtr& pod, const scheduler::Decision& decision);

  // What the last decision has beside the fields of 1.10; null in release 1.10.
  const LaterFields* later_fields() const { return later_ == nullptr ? nullptr : &later_->fields(); }
  const std::string& release() const { return release_; }

  // Why the pod goes where it goes. The pod is not assumed.
  explain::Explanation Explain(const api::PodPtr& pod);

 private:
  Simulation(const Scenario& scenario, const scheduler::Release& release)
      : scenario_(scenario), cache_(release.describe_template) {}
  absl::Status Add(const api::Object& object);
  // Returns why the pod is not tried in release 1.10, as the daemon leaves it alone; empty when it is.
  std::string WhyNotTried(const api::Pod& pod) const;

  const Scenario& scenario_;
  std::string release_;
  std::unique_ptr<SimulationV1_29> later_;  // decides, in release 1.29; the cache follows
  scheduler::Cache cache_;
  scheduler::NominatedPods nominated_;
  std::unique_ptr<scheduler::VolumeBinder> volume_binder_;
  scheduler::EffectiveAlgorithm effective_;
  std::unique_ptr<scheduler::GenericScheduler> scheduler_;
  bool preempts_ = false;
  bool pod_priority_ = false;
  bool ignore_unknown_fields_ = false;
};

}  // namespace berth::lab
