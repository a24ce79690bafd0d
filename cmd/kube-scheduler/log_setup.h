// glog made to look like the log of Kubernetes 1.10; or JSON lines instead.
#pragma once
#include <absl/status/status.h>

#include "cmd/kube-scheduler/options.h"

namespace berth::kube_scheduler {

// Once, before threads start. `program`: argv[0]. A fatal log line ends the process with status 255. An error names the
// flag: there is nowhere to write log files to, or they would be flushed without a pause.
absl::Status SetUpLogging(const LoggingOptions& options, const char* program);

}  // namespace berth::kube_scheduler
