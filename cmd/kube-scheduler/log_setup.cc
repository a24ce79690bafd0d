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
#include "pkg/api/json_writer.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

// Without gflags, glog has these as plain variables but does not declare them.
DECLARE_bool(log_year_in_prefix);
DECLARE_string(vmodule);

namespace berth::kube_scheduler {
namespace {

using api::JsonWriter;

// Writes each line as a JSON object to standard error. The members depend on the release.
class JsonSink : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* file, int line, const google::LogMessageTime& time,
            const char* message, size_t size) override {
    const double millis = static_cast<double>(time.timestamp()) * 1000.0 + time.usec() / 1000.0;
    const std::string out = Json(severity, millis, absl::StrCat(file, ":", line), {message, size});
    (void)!write(STDERR_FILENO, out.data(), out.size());
  }

 protected:
  virtual std::string Json(google::LogSeverity severity, double millis, const std::string& caller,
                           std::string_view text) = 0;
};

// {"ts":1511229600123.456,"caller":"scheduler.cc:42","severity":"INFO","msg":"..."}
class JsonSinkOfSentences final : public JsonSink {
  std::string Json(google::LogSeverity severity, double millis, const std::string& caller,
                   std::string_view text) override {
    JsonWriter out;
    out.Object().Key("ts").Literal(absl::StrFormat("%.3f", millis)).Member("caller", caller);
    return out.Member("severity", google::GetLogSeverityName(severity)).Member("msg", text).End().Finish();
  }
};

void WriteLogValue(const util::LogLine::Value& value, JsonWriter* out) {
  if (const auto* number = std::get_if<int64_t>(&value)) {
    out->Number(*number);
  } else if (const auto* object = std::get_if<util::LogLine::ObjectName>(&value)) {
    out->Object().Member("name", object->name).MemberUnlessEmpty("namespace", object->ns).End();
  } else if (std::holds_alternative<util::LogLine::EmptyObject>(value)) {
    out->Literal("{}");
  } else {
    out->Text(std::get<std::string>(value));
  }
}

// Kubernetes 1.29 component-base logs/json: an informational line has its verbosity in "v", an error its text in "err"
// at the end.
//   {"ts":1511229600123.456,"caller":"scheduler_log.cc:99","msg":"...","v":2,"pod":{"name":"a","namespace":"b"}}
class JsonSinkOfMessages final : public JsonSink {
  std::string Json(google::LogSeverity severity, double millis, const std::string& caller,
                   std::string_view text) override {
    const util::LogLine* line = util::LogLine::Current();
    JsonWriter out;
    out.Object().Key("ts").Literal(absl::StrFormat("%.3f", millis)).Member("caller", caller);
    out.Member("msg", line != nullptr ? line->message() : text);
    if (severity < google::ERROR) out.Member("v", line != nullptr ? line->verbosity() : 0);
    if (line != nullptr) {
      for (const util::LogLine::Field& f : line->fields()) WriteLogValue(f.value, &out.Key(f.key));
      if (line->is_error()) out.MemberUnlessEmpty("err", line->error());
    }
    return out.End().Finish();
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

// glog's type of this function includes the attribute, which clang accepts only in this form.
__attribute__((noreturn)) void EndAfterFatal() {
  _exit(255);
}

}  // namespace

absl::Status SetUpLogging(const LoggingOptions& o, const char* program, bool structured) {
  if (!o.log_to_stderr && o.format == "text" && !o.log_dir.empty()) BERTH_RETURN_IF_ERROR(CheckDirectory(o.log_dir));
  if (o.flush_frequency <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("--log-flush-frequency: invalid value ",
                                                   FormatGoDuration(o.flush_frequency), ": must be greater than 0"));
  }
  FLAGS_log_year_in_prefix = false;
  if (!structured) util::LogLine::WriteSentences();
  FLAGS_logtostderr = o.log_to_stderr;
  FLAGS_alsologtostderr = o.also_log_to_stderr;
  FLAGS_log_dir = o.log_dir;
  FLAGS_stderrthreshold = o.stderr_threshold;
  FLAGS_v = o.verbosity;
  FLAGS_vmodule = o.vmodule;
  FLAGS_logbufsecs = static_cast<int32_t>(std::min(o.flush_frequency, absl::Hours(24)) / absl::Seconds(1));
  if (o.format == "json") {
    // All lines are written by the sink, so glog itself must not write any.
    FLAGS_logtostderr = false;
    FLAGS_alsologtostderr = false;
    FLAGS_stderrthreshold = google::NUM_SEVERITIES;
    for (int s = google::INFO; s < google::NUM_SEVERITIES; ++s) google::SetLogDestination(s, "");
    static JsonSinkOfSentences sentences;
    static JsonSinkOfMessages messages;
    google::AddLogSink(structured ? static_cast<JsonSink*>(&messages) : &sentences);
  }
  static std::string name;
  name = program;
  google::InitGoogleLogging(name.c_str());
  google::InstallFailureFunction(&EndAfterFatal);
  if (!o.backtrace_at.empty()) LOG(WARNING) << "--log-backtrace-at has no effect; use a debugger's breakpoint";
  return absl::OkStatus();
}

}  // namespace berth::kube_scheduler
