#include "cmd/kube-scheduler/process_log.h"

#include <glog/logging.h>

#include "cmd/kube-scheduler/build_info.h"
#include "cmd/kube-scheduler/end_process.h"
#include "pkg/util/log_line.h"

namespace berth::kube_scheduler {

using util::LogLine;

void ProcessLog::Starting() const {
  if (structured_) {
    LogLine("Starting Kubernetes Scheduler").Add("version", GetBuildInfo(release_).git_version).Info();
  } else {
    LOG(INFO) << "Version: " << GetBuildInfo(release_).git_version;
  }
}

void ProcessLog::Failed(std::string_view error) const {
  structured_ && !bare_errors_ ? LogLine("command failed").Error(error) : PrintError(error, bare_errors_);
}

void ProcessLog::Terminating(std::string_view signal) const {
  if (structured_) {
    LogLine("Requested to terminate, exiting").Add("signal", signal).Info();
  } else {
    LOG(INFO) << "Received " << signal << ", finishing";
  }
}

void ProcessLog::Ended() const {
  if (structured_) {
    LogLine("Scheduling queue is closed").Info();
  } else {
    LOG(INFO) << "Finished";
  }
}

void ProcessLog::LostLease() const {
  if (!structured_) LOG(ERROR) << "lost master";
}

void ProcessLog::EndWithoutLease() const {
  if (!structured_) return PrintError("lost lease", bare_errors_);
  LogLine(bare_errors_ ? "leaderelection lost" : "Leaderelection lost").Error("");
}

}  // namespace berth::kube_scheduler
