// How the daemon takes part in leader election.
#pragma once
#include <string>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/health.h"
#include "pkg/client/leaderelection.h"

namespace berth::kube_scheduler {

// Returns the lock, its timings and, in release 1.29, the timeout in requests about it, for a process with this
// identity ("<host>_<uuid>").
client::LeaderElectionOptions LockOptionsOf(const Configuration& config, std::string identity);

// Returns the check "leaderElection" (Kubernetes 1.29). It fails if this process is still the leader although its lease
// expired more than 20 s ago, for example because it hangs. `elector` must outlive the check.
HealthCheck LeaderCheck(const client::LeaderElector& elector, absl::Duration lease);

}  // namespace berth::kube_scheduler
