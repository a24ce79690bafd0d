// glog made to look like the log of Kubernetes 1.10; or JSON lines instead.
#pragma once
#include "cmd/kube-scheduler/options.h"

namespace berth::kube_scheduler {

// Once, before threads start. `program`: argv[0]. A fatal log line ends the process with status 255.
void SetUpLogging(const LoggingOptions& options, const char* program);

}  // namespace berth::kube_scheduler
