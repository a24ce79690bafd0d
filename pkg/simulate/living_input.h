// The objects of an input as a store gets them.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/simulate/arrivals.h"
#include "pkg/simulate/steps.h"
#include "pkg/world/objects.h"

namespace berth::simulate {

class LivingInput {
 public:
  // What is there at the beginning, and when workloads are created. An error names file, line, object and field.
  struct Workload {
    const lab::Given* given;
    Micros at;
  };
  // The scenario must have been read with its objects kept, and must outlive the object, as must the steps.
  static absl::StatusOr<LivingInput> Of(const lab::Scenario& scenario, const std::vector<Step>& steps);

  // Everything but workloads, in the order in which it is to be stored: pods last.
  const std::vector<const lab::Given*>& first() const { return first_; }
  // DaemonSets first, then in the order of the input.
  const std::vector<Workload>& workloads() const { return workloads_; }
  // The uids of owners that are not in the input.
  const absl::flat_hash_set<std::string>& absent_owners() const { return absent_owners_; }

  // Returns whether objects of the kind make pods.
  static bool MakesPods(std::string_view kind);

  // Return the object as it is stored: as it was at the beginning of the simulation, for times of the input may be
  // later than that.
  static world::Value Stored(const lab::Given& given);
  // The pod that arrives, and whether it is stored verbatim.
  world::Value PodOf(const Arrival& a, bool* verbatim) const;
  // The node that joins. It is stored with defaults.
  world::Value NodeOf(const Step& join) const;

 private:
  std::vector<const lab::Given*> first_;
  std::vector<Workload> workloads_;
  absl::flat_hash_set<std::string> absent_owners_;
  absl::flat_hash_map<std::string, const lab::Given*> waiting_, nodes_;  // by "namespace/name", by name
};

// Adds the workloads of the input that can be scaled or restarted, by "KIND NAMESPACE/NAME".
void AddWorkloads(const lab::Scenario& scenario, WorkloadPods* workloads);

// Returns why the controllers of an input must be simulated, or an empty text if its pods alone say what happens.
// `has_end`: whether the simulation is cut at a time, without which CronJobs would go on for ever.
std::string WhyControllers(const lab::Scenario& scenario, const std::vector<Step>& steps, bool has_end);

// How long a pod runs, if the annotation schedsim/duration says so; kNever otherwise.
Micros DurationOf(const world::Value& pod);

}  // namespace berth::simulate
