// The running scheduler: threads, connections, leadership, start and shutdown (cmd/kube-scheduler/app of Kubernetes
// 1.10).
//
// Threads: the main thread waits for signals. One sends requests about pods and follows the API server. One renews the
// lease and writes events, so that neither waits for pods. One serves pages. One makes decisions; when it sleeps and
// little arrives, the thread that follows the API server decides itself (rounds.h). Scheduler and Cache belong to
// whoever holds the round. Changes and replies reach it through the Inbox; its requests leave through ApiActions.
#pragma once
#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/options.h"

namespace berth::kube_scheduler {

// Runs until a signal or a fatal error and returns the exit status. BlockSignals must have been called before any
// thread was started.
int RunDaemon(const Configuration& config, const Options& options);

void BlockSignals();

}  // namespace berth::kube_scheduler
