#include "cmd/kube-scheduler/process_log.h"

#include <glog/logging.h>

#include "cmd/kube-scheduler/build_info.h"
#include "cmd/kube-scheduler/end_process.h"
#include "pkg/util/log_line.h"

namespace berth::kube_scheduler {

using releases::LogForm;
using util::LogLine;

void ProcessLog::Starting() const {
  const auto& version = GetBuildInfo(release_).git_version;
  switch (form_.log) {
    case LogForm::kSentences:
      LOG(INFO) << "Version: " << version;
      break;
    case LogForm::kMixed:
      VLOG(1) << "Starting Kubernetes Scheduler version " << version;
      break;
    case LogForm::kMessages:
      LogLine("Starting Kubernetes Scheduler").Add("version", version).Info();
  }
}

void ProcessLog::Failed(std::string_view error) const {
  if (form_.log == LogForm::kMessages) return LogLine("command failed").Error(error);
  PrintError(error, form_.command.bare_errors);
}

void ProcessLog::Terminating(std::string_view signal) const {
  if (form_.log == LogForm::kMessages) {
    LogLine("Requested to terminate, exiting").Add("signal", signal).Info();
  } else {
    LOG(INFO) << "Received " << signal << ", finishing";
  }
}

void ProcessLog::Ended() const {
  if (form_.log == LogForm::kMessages) {
    LogLine("Scheduling queue is closed").Info();
  } else {
    LOG(INFO) << "Finished";
  }
}

void ProcessLog::LostLease() const {
  LOG_IF(ERROR, form_.log == LogForm::kSentences) << "lost master";
}

void ProcessLog::EndWithoutLease() const {
  switch (form_.log) {
    case LogForm::kSentences:
      return PrintError("lost lease", form_.command.bare_errors);
    case LogForm::kMixed:
      LOG(ERROR) << "leaderelection lost";
      return;
    case LogForm::kMessages:
      LogLine("Leaderelection lost").Error("");
  }
}

}  // namespace berth::kube_scheduler
