// How the daemon contends for its lock.
#pragma once
#include <string>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/health.h"
#include "pkg/client/leaderelection.h"

namespace berth::kube_scheduler {

// Returns the lock, its timings and, in release 1.29, the timeout that requests about it name, for a process of this
// identity ("<host>_<uuid>").
client::LeaderElectionOptions LockOptionsOf(const Configuration& config, std::string identity);

// Returns the check "leaderElection" (Kubernetes 1.29): well unless this process leads by a lease that ended 20 s ago,
// as when it hangs. The elector must outlive the check.
HealthCheck LeaderCheck(const client::LeaderElector& elector, absl::Duration lease);

}  // namespace berth::kube_scheduler
