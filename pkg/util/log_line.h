// Structured log lines: a message with named values, in the form that Kubernetes has used since 1.19:
//   I1122 10:00:00.000000     1 scheduler_log.cc:80] "Successfully bound pod to node" pod="default/web-1" node="node-a"
// The text is written through glog, so the flags of the log apply. A sink that writes another form, such as JSON, finds
// the parts of the line in LogLine::Current(). After WriteSentences() the same line is
//   I1122 10:00:00.000000     1 scheduler_log.cc:80] Successfully bound pod to node (pod default/web-1, node node-a)
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth::util {

// A place in the source code. std::source_location cannot be used, because clang 14 does not have it.
struct LogOrigin {
  const char* file;
  int line;
  // When used as a default argument, Current() returns where the function with that argument is called.
  static constexpr LogOrigin Current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

class LogLine {
 public:
  // An API object: "namespace/name" in text, an object with both members in JSON. Cluster-wide objects have no
  // namespace.
  struct ObjectName {
    std::string ns, name;
  };
  // An object without public fields, which Kubernetes prints as {}.
  struct EmptyObject {};
  using Value = std::variant<std::string, int64_t, ObjectName, EmptyObject>;
  struct Field {
    std::string key;
    Value value;
  };

  // `where` is logged as the origin of the line.
  explicit LogLine(std::string_view message, LogOrigin where = LogOrigin::Current())
      : message_(message), where_(where) {}

  LogLine& Add(std::string_view key, std::string_view text);
  LogLine& Add(std::string_view key, int64_t number);
  LogLine& AddEmptyObject(std::string_view key);
  LogLine& AddObject(std::string_view key, std::string_view ns, std::string_view name);

  // Replaces the whole line after WriteSentences(), where release 1.10 uses other words.
  LogLine& InSentences(std::string sentence) {
    sentence_ = std::move(sentence);
    return *this;
  }

  // Writes the line with severity INFO. Callers ask VLOG_IS_ON(verbosity) in their file, so that --vmodule works.
  void Info(int verbosity = 0);
  // Writes the line with severity ERROR. `error` precedes the other values in text and follows them in JSON. It is left
  // out if it is empty.
  void Error(std::string_view error);
  // Writes the line with severity WARNING. `error` is treated as by Error().
  void Warning(std::string_view error = {});

  // Returns the line that this thread is writing at the moment, or null if the log line is plain text. For log sinks.
  static const LogLine* Current();

  const std::string& message() const { return message_; }
  const std::vector<Field>& fields() const { return fields_; }
  bool is_error() const { return is_error_; }
  const std::string& error() const { return error_; }
  int verbosity() const { return verbosity_; }
  // Returns the line with named values, without the prefix that the log adds.
  std::string Text() const;
  // Returns the line as a sentence.
  std::string Sentence() const;

  // Makes all lines sentences, as release 1.10 writes them. To be called before other threads log.
  static void WriteSentences();

 private:
  void Write(int severity) const;

  std::string message_, sentence_;
  LogOrigin where_;
  std::vector<Field> fields_;
  bool is_error_ = false;
  std::string error_;
  int verbosity_ = 0;
};

}  // namespace berth::util
