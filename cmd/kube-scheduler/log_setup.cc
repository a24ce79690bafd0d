#include "cmd/kube-scheduler/log_setup.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/go_text.h"
#include "pkg/api/json.h"
#include "pkg/util/status.h"

// glog leaves these to gflags; they are plain variables for us.
DECLARE_bool(log_year_in_prefix);
DECLARE_string(vmodule);

namespace berth::kube_scheduler {
namespace {

// {"ts":1511229600123.456,"caller":"scheduler.cc:42","severity":"INFO","msg":"..."}, one a line.
class JsonSink final : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* file, int line, const google::LogMessageTime& time,
            const char* message, size_t size) override {
    const double millis = static_cast<double>(time.timestamp()) * 1000.0 + time.usec() / 1000.0;
    std::string out = absl::StrFormat("{\"ts\":%.3f,\"caller\":\"%s:%d\",\"severity\":\"%s\",\"msg\":", millis, file,
                                      line, google::GetLogSeverityName(severity));
    api::AppendJsonString({message, size}, &out);
    out += "}\n";
    (void)!write(STDERR_FILENO, out.data(), out.size());
  }
};

absl::Status CheckDirectory(const std::string& dir) {
  struct stat st;
  if (stat(dir.c_str(), &st) == 0 && !S_ISDIR(st.st_mode))
    errno = ENOTDIR;
  else if (access(dir.c_str(), W_OK | X_OK) == 0)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--log-dir: cannot write log files to ", dir, ": ", absl::AsciiStrToLower(std::strerror(errno))));
}

// glog wants the attribute in the type of the function, where clang puts it only in this form.
__attribute__((noreturn)) void EndAfterFatal() {
  _exit(255);
}

}  // namespace

absl::Status SetUpLogging(const LoggingOptions& o, const char* program) {
  if (!o.log_to_stderr && o.format == "text" && !o.log_dir.empty()) BERTH_RETURN_IF_ERROR(CheckDirectory(o.log_dir));
  if (o.flush_frequency <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("--log-flush-frequency: invalid value ",
                                                   FormatGoDuration(o.flush_frequency), ": must be greater than 0"));
  }
  FLAGS_log_year_in_prefix = false;
  FLAGS_logtostderr = o.log_to_stderr;
  FLAGS_alsologtostderr = o.also_log_to_stderr;
  FLAGS_log_dir = o.log_dir;
  FLAGS_stderrthreshold = o.stderr_threshold;
  FLAGS_v = o.verbosity;
  FLAGS_vmodule = o.vmodule;
  FLAGS_logbufsecs = static_cast<int32_t>(std::min(o.flush_frequency, absl::Hours(24)) / absl::Seconds(1));
  if (o.format == "json") {
    // Only the sink writes.
    FLAGS_logtostderr = false;
    FLAGS_alsologtostderr = false;
    FLAGS_stderrthreshold = google::NUM_SEVERITIES;
    for (int s = google::INFO; s < google::NUM_SEVERITIES; ++s) google::SetLogDestination(s, "");
    static JsonSink sink;
    google::AddLogSink(&sink);
  }
  static std::string name;
  name = program;
  google::InitGoogleLogging(name.c_str());
  google::InstallFailureFunction(&EndAfterFatal);
  if (!o.backtrace_at.empty()) LOG(WARNING) << "--log-backtrace-at has no effect; use a debugger's breakpoint";
  return absl::OkStatus();
}

}  // namespace berth::kube_scheduler
