// Release 1.29 in a simulation. Pods are placed by the incremental scheduler where its rules know all of a profile and
// the pod; every other decision comes from the scheduler that is written down in pkg/scheduler/reference/v1_29, which
// calls every rule for every node and can say everything about it.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/incremental/incremental_scheduler.h"
#include "pkg/scheduler/reference/v1_29/scheduler.h"

namespace berth::lab {

// What a decision of release 1.29 has beside those of 1.10.
struct LaterFields {
  std::string not_attempted;  // why the pod was not tried; nothing else of the decision is of use then
  std::map<std::string, std::string> rejections;  // node to "Plugin Code"
  std::vector<std::string> ties;                  // nodes with the best total, by name descending
  std::string preemption_error;
};

class SimulationV1_29 {
 public:
  // Errors: a pod that is bound twice.
  // `cache` follows every placement, counts as 1.29 does, and outlives the simulation.
  static absl::StatusOr<std::unique_ptr<SimulationV1_29>> Make(const Scenario& scenario, const Algorithm& algorithm,
                                                               scheduler::Cache* cache);

  // Tries one pod and, when it fits, assumes it and its volumes. `trace` may be null.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionTrace* trace);

  // Of the last decision.
  const LaterFields& fields() const { return fields_; }
  bool may_preempt() const { return preemption_tried_; }
  const scheduler::Preemption& preemption() const { return preemption_; }

 private:
  SimulationV1_29() = default;
  std::optional<scheduler::Decision> PlaceIncrementally(const api::PodPtr& pod);
  void CatchUp();
  void Add(const api::Object& object);

  scheduler::reference::v1_29::World world_;
  std::unique_ptr<scheduler::reference::v1_29::Scheduler> scheduler_;
  std::map<std::string, api::PodPtr> pods_;  // by namespace/name
  // What the incremental scheduler runs for a profile; no entry for a profile that only the reference knows.
  struct Profile {
    scheduler::AlgorithmConfig config;
    std::unique_ptr<scheduler::IncrementalScheduler> scheduler;
  };
  std::map<std::string, std::unique_ptr<Profile>, std::less<>> incremental_;  // by scheduler name
  scheduler::Cache* cache_ = nullptr;
  std::vector<api::PodPtr> placed_;  // incrementally, and not yet in world_
  bool preempts_ = false;
  LaterFields fields_;
  bool preemption_tried_ = false;
  scheduler::Preemption preemption_;
};

}  // namespace berth::lab
