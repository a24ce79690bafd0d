// Builds a scheduler from an AlgorithmSource (SchedulerConfig of Kubernetes 1.10).
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/options.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::kube_scheduler {

// Returns the text under policy.cfg in a ConfigMap. Errors: "couldn't get policy config map ns/name: ...", "missing
// policy config map value at key "policy.cfg"".
using PolicyConfigMapReader = std::function<absl::StatusOr<std::string>(const PolicyConfigMapSource&)>;

// Returns the gates that all schedulers of the process share, and logs those that mean something else here.
scheduler::SchedulerGates GatesOfRules(const Configuration& config, const Options& options);

// Builds the scheduler and logs what it will run. Error texts are 1.10's. `*node_json` is set to true if an extender
// needs whole nodes. `*policy_text`, unless it is null, is set to the Policy's JSON if there is one.
absl::StatusOr<std::unique_ptr<scheduler::GenericScheduler>> BuildAlgorithm(
    const std::string& scheduler_name, const AlgorithmSource& source, scheduler::FactoryArgs args,
    const PolicyConfigMapReader& read_map, bool* node_json, std::string* policy_text = nullptr);

// Logs which rules of a scheduler were registered without traits and what that costs. Logs nothing if there are none.
void LogNotIncremental(const std::string& scheduler_name, const scheduler::GenericScheduler& algorithm);

}  // namespace berth::kube_scheduler
