// The current line is published in a thread-local variable while glog writes it, so that a log sink, which glog calls
// on the same thread, can find the parts from which the text was made.
#include "pkg/util/log_line.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include "pkg/util/go_text.h"

namespace berth::util {
namespace {

thread_local const LogLine* current = nullptr;
bool sentences = false;  // set at most once, before other threads exist

// Appends text as klog does. Text of several lines is not quoted: each line begins with a tab, and " >" ends the text.
void AppendText(std::string_view text, std::string* out) {
  if (text.find('\n') == std::string_view::npos) {
    out->append(GoQuoted(text));
    return;
  }
  out->append("<\n");
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out->append("\t").append(text.substr(0, end)).append("\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  out->append(" >");
}

void AppendField(std::string_view key, const LogLine::Value& value, std::string* out) {
  out->append(" ").append(key).append("=");
  if (const auto* number = std::get_if<int64_t>(&value)) {
    absl::StrAppend(out, *number);
  } else if (const auto* object = std::get_if<LogLine::ObjectName>(&value)) {
    AppendText(absl::StrCat(object->ns, object->ns.empty() ? "" : "/", object->name), out);
  } else if (std::holds_alternative<LogLine::EmptyObject>(value)) {
    out->append("{}");
  } else {
    AppendText(std::get<std::string>(value), out);
  }
}

}  // namespace

LogLine& LogLine::Add(std::string_view key, std::string_view text) {
  fields_.push_back({std::string(key), std::string(text)});
  return *this;
}

LogLine& LogLine::Add(std::string_view key, int64_t number) {
  fields_.push_back({std::string(key), number});
  return *this;
}

LogLine& LogLine::AddEmptyObject(std::string_view key) {
  fields_.push_back({std::string(key), EmptyObject{}});
  return *this;
}

LogLine& LogLine::AddObject(std::string_view key, std::string_view ns, std::string_view name) {
  fields_.push_back({std::string(key), ObjectName{std::string(ns), std::string(name)}});
  return *this;
}

std::string LogLine::Text() const {
  std::string out = GoQuoted(message_);
  if (is_error_ && !error_.empty()) AppendField("err", error_, &out);
  for (const Field& f : fields_) AppendField(f.key, f.value, &out);
  return out;
}

std::string LogLine::Sentence() const {
  if (!sentence_.empty()) return sentence_;
  std::string out = message_;
  std::string_view before = " (";
  for (const Field& f : fields_) {
    out.append(before).append(f.key).append(" ");
    if (const auto* number = std::get_if<int64_t>(&f.value)) {
      absl::StrAppend(&out, *number);
    } else if (const auto* object = std::get_if<ObjectName>(&f.value)) {
      absl::StrAppend(&out, object->ns, object->ns.empty() ? "" : "/", object->name);
    } else if (std::holds_alternative<EmptyObject>(f.value)) {
      out.append("{}");
    } else {
      out.append(std::get<std::string>(f.value));
    }
    before = ", ";
  }
  if (!fields_.empty()) out.append(")");
  if (!error_.empty()) absl::StrAppend(&out, ": ", error_);
  return out;
}

void LogLine::WriteSentences() {
  sentences = true;
}

void LogLine::Info(int verbosity) {
  verbosity_ = verbosity;
  Write(google::INFO);
}

void LogLine::Error(std::string_view error) {
  is_error_ = true;
  error_ = error;
  Write(google::ERROR);
}

void LogLine::Warning(std::string_view error) {
  is_error_ = true;
  error_ = error;
  Write(google::WARNING);
}

void LogLine::Write(int severity) const {
  current = this;
  google::LogMessage(where_.file, where_.line, severity).stream() << (sentences ? Sentence() : Text());
  current = nullptr;
}

const LogLine* LogLine::Current() {
  return current;
}

}  // namespace berth::util
