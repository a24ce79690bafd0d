// How the daemon contends for its lock.
#pragma once
#include <string>

#include "cmd/kube-scheduler/component_config.h"
#include "pkg/client/leaderelection.h"

namespace berth::kube_scheduler {

// Returns the lock, its timings and, in release 1.29, the timeout that requests about it name, for a process of this
// identity ("<host>_<uuid>").
client::LeaderElectionOptions LockOptionsOf(const Configuration& config, std::string identity);

}  // namespace berth::kube_scheduler
