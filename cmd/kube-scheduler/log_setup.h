// glog made to look like the log of Kubernetes; or JSON lines instead, with the fields of the release.
#pragma once
#include <absl/status/status.h>

#include "cmd/kube-scheduler/options.h"

namespace berth::kube_scheduler {

// To be called once, before threads start. `program`: argv[0]. A fatal log line ends the process with status 255. An
// error names the flag: there is nowhere to write log files to, or they would be flushed without a pause.
absl::Status SetUpLogging(const LoggingOptions& options, const char* program, bool release_1_29);

}  // namespace berth::kube_scheduler
