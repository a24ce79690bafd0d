// Log lines made of a message and named values, as Kubernetes writes them since 1.19:
//   I1122 10:00:00.000000     1 scheduler_log.cc:80] "Successfully bound pod to node" pod="default/web-1" node="node-a"
// The text goes through glog, so that the flags about the log apply. A sink that writes another form, such as JSON,
// finds the parts of the line in LogLine::Current(). After WriteSentences() the same line is
//   I1122 10:00:00.000000     1 scheduler_log.cc:80] Successfully bound pod to node (pod default/web-1, node node-a)
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth::util {

// A place in the sources. Not std::source_location, which clang 14 does not have.
struct LogOrigin {
  const char* file;
  int line;
  // As a default argument of a function, Current() is where that function is called.
  static constexpr LogOrigin Current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

class LogLine {
 public:
  // An object of the API: "namespace/name" in text, an object with both in JSON. Cluster-wide objects have no
  // namespace.
  struct ObjectName {
    std::string ns, name;
  };
  // What Kubernetes prints of an object without public fields: {}.
  struct EmptyObject {};
  using Value = std::variant<std::string, int64_t, ObjectName, EmptyObject>;
  struct Field {
    std::string key;
    Value value;
  };

  // `where` is what the log names as the origin of the line.
  explicit LogLine(std::string_view message, LogOrigin where = LogOrigin::Current())
      : message_(message), where_(where) {}

  LogLine& Add(std::string_view key, std::string_view text);
  LogLine& Add(std::string_view key, int64_t number);
  LogLine& AddEmptyObject(std::string_view key);
  LogLine& AddObject(std::string_view key, std::string_view ns, std::string_view name);

  // Replaces the whole line after WriteSentences(), for what release 1.10 says in other words.
  LogLine& InSentences(std::string sentence) {
    sentence_ = std::move(sentence);
    return *this;
  }

  // Writes the line with severity INFO. The caller has checked VLOG_IS_ON(verbosity), so that --vmodule works by file.
  void Info(int verbosity = 0);
  // Writes the line with severity ERROR. `error` comes first among the values in text, and last in JSON; an empty one
  // is left out.
  void Error(std::string_view error);
  // Writes the line with severity WARNING, and the error in the same places.
  void Warning(std::string_view error = {});

  // Returns the line that this thread is writing right now; null when what is written is plain text. For log sinks.
  static const LogLine* Current();

  const std::string& message() const { return message_; }
  const std::vector<Field>& fields() const { return fields_; }
  bool is_error() const { return is_error_; }
  const std::string& error() const { return error_; }
  int verbosity() const { return verbosity_; }
  // Returns the line without what precedes it in the log, with named values.
  std::string Text() const;
  // Returns the same as a sentence.
  std::string Sentence() const;

  // Makes all lines sentences, as release 1.10 writes them. To be called before other threads write.
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
