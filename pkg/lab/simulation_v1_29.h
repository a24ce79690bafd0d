// Release 1.29 in a simulation: its decisions come from the scheduler that is written down in
// pkg/scheduler/reference/v1_29, which calls every rule for every node and keeps nothing between decisions.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/scheduler/core/generic_scheduler.h"
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
  static absl::StatusOr<std::unique_ptr<SimulationV1_29>> Make(const Scenario& scenario, const Algorithm& algorithm);

  // Tries one pod and, when it fits, assumes it and its volumes. `trace` may be null.
  scheduler::Decision Place(const api::PodPtr& pod, scheduler::DecisionTrace* trace);

  // Of the last decision.
  const LaterFields& fields() const { return fields_; }
  bool may_preempt() const { return preemption_tried_; }
  const scheduler::Preemption& preemption() const { return preemption_; }

 private:
  SimulationV1_29() = default;
  void Add(const api::Object& object);

  scheduler::reference::v1_29::World world_;
  std::unique_ptr<scheduler::reference::v1_29::Scheduler> scheduler_;
  std::map<std::string, api::PodPtr> pods_;  // by namespace/name
  bool preempts_ = false;
  LaterFields fields_;
  bool preemption_tried_ = false;
  scheduler::Preemption preemption_;
};

}  // namespace berth::lab
