// The event recorders: one for each scheduler name, and one for the lock.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cmd/kube-scheduler/component_config.h"
#include "pkg/client/events.h"

namespace berth::kube_scheduler {

// By scheduler name. In release 1.29 the lock has its own recorder, under the empty name.
using EventRecorders = std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>>;

// Returns the recorders of a configuration. `burst` is the number of requests that the client may send at once.
// `executor` and `client` must outlive the recorders. Where the release asks the server first which events it has, this
// blocks until it has answered. To be called while the thread of `executor` runs, on another.
EventRecorders MakeRecorders(const Configuration& config, int burst, client::Executor* executor,
                             client::HttpClient* client);

// Returns the recorder for events about the lock, which are written in core/v1 in every release.
client::EventRecorder* RecorderOfLock(const Configuration& config, const EventRecorders& recorders);

}  // namespace berth::kube_scheduler
