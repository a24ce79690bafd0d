// Sets up glog so that the log looks like that of Kubernetes, or has JSON lines with the fields of the release.
#pragma once
#include <absl/status/status.h>

#include "cmd/kube-scheduler/options.h"

namespace berth::kube_scheduler {

// `program` is argv[0]. A fatal log line ends the process with status 255. An error names the flag: the directory of
// the log files cannot be written, or the flush interval is not positive. To be called once, before threads start.
absl::Status SetUpLogging(const LoggingOptions& options, const char* program, bool structured);

}  // namespace berth::kube_scheduler
