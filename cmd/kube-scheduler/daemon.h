// The running scheduler: threads, connections, leadership, and how it starts and ends (Kubernetes 1.10
// cmd/kube-scheduler/app).
//
// Threads: the main one waits for signals; one decides (Scheduler and Cache live there alone); one talks to the API
// server about pods and follows it; one renews the lease and writes events, so that neither waits for pods; one serves
// pages. News and replies reach the deciding thread through the Inbox, what it wants done leaves through ApiActions.
#pragma once
#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/options.h"

namespace berth::kube_scheduler {

// Runs until a signal or a fatal error; gives the exit status. Signals must be blocked already (BlockSignals), before
// any thread was started.
int RunDaemon(const Configuration& config, const Options& options);

void BlockSignals();

}  // namespace berth::kube_scheduler
