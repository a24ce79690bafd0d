// The parts of glog that the engine calls, as libberth.so has them: messages go to the callback of the handle in use,
// and a failed CHECK or assert ends the call of the library and not the process. glog itself writes to standard error,
// has flags for the whole process, and belongs to the program that loads the library. Linked into libberth.so alone.
#include <assert.h>
#include <glog/logging.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "pkg/capi/guard.h"

namespace fLI {  // NOLINT: glog's name
google::int32 FLAGS_v = 0;
}  // namespace fLI

namespace google {

struct LogMessage::LogMessageData {
  explicit LogMessageData(LogSeverity of) : stream(text, sizeof(text) - 1, 0), severity(of) {}
  std::string Text() const { return {text, stream.pcount()}; }
  char text[4096];
  LogStream stream;
  LogSeverity severity;
};

LogMessageTime::LogMessageTime() : time_struct_(), timestamp_(0), usecs_(0), gmtoffset_(0) {}

LogMessage::LogMessage(const char*, int, LogSeverity severity, int64, SendMethod)
    : allocated_(nullptr), data_(new LogMessageData(severity)) {}
LogMessage::LogMessage(const char* file, int line) : LogMessage(file, line, GLOG_INFO) {}
LogMessage::LogMessage(const char* file, int line, LogSeverity severity)
    : LogMessage(file, line, severity, 0, &LogMessage::SendToLog) {}
std::ostream& LogMessage::stream() {
  return data_->stream;
}
void LogMessage::SendToLog() {}

LogMessage::~LogMessage() {
  const std::unique_ptr<LogMessageData> data(data_);
  berth::capi::PassLog(data->severity, data->Text());
}

LogMessageFatal::LogMessageFatal(const char* file, int line) : LogMessage(file, line, GLOG_FATAL) {
  const char* slash = std::strrchr(file, '/');
  stream() << (slash == nullptr ? file : slash + 1) << ":" << line << ": ";
}
LogMessageFatal::LogMessageFatal(const char* file, int line, const CheckOpString& result)
    : LogMessageFatal(file, line) {
  stream() << "Check failed: " << *result.str_ << " ";
}
LogMessageFatal::~LogMessageFatal() {
  char why[1024];
  {
    const auto& written = static_cast<LogStream&>(stream());
    std::snprintf(why, sizeof(why), "%.*s", static_cast<int>(written.pcount()), written.pbase());
  }
  berth::capi::BreakOff(why);
}

bool InitVLOG3__(SiteFlag*, int32*, const char*, int32) {
  return false;
}

namespace base {
CheckOpMessageBuilder::CheckOpMessageBuilder(const char* exprtext) : stream_(new std::ostringstream) {
  *stream_ << exprtext << " (";
}
CheckOpMessageBuilder::~CheckOpMessageBuilder() {
  delete stream_;
}
std::ostream* CheckOpMessageBuilder::ForVar2() {
  *stream_ << " vs. ";
  return stream_;
}
std::string* CheckOpMessageBuilder::NewString() {
  *stream_ << ")";
  return new std::string(stream_->str());
}
}  // namespace base

}  // namespace google

extern "C" void __assert_fail(const char* assertion, const char* file, unsigned line, const char*) noexcept {
  char why[1024];
  std::snprintf(why, sizeof(why), "%s:%u: %s", file, line, assertion);
  berth::capi::BreakOff(why);
}
