// Writes one JSON value, member by member, in the order of the calls.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::api {

// Returns `s` as a JSON string with quotes, escaped as Go's encoding/json does. A JSON string is a YAML string, too.
std::string JsonString(std::string_view s);

class JsonWriter {
 public:
  // On one line without blanks, or indented by two blanks for each level.
  enum class Layout { kCompact, kIndented };
  explicit JsonWriter(Layout layout = Layout::kCompact) : indented_(layout == Layout::kIndented) {}

  JsonWriter& Object() { return Open('{'); }
  JsonWriter& Array() { return Open('['); }
  // Closes the innermost open object or array. REQUIRES: there is one.
  JsonWriter& End();
  JsonWriter& Key(std::string_view key);
  JsonWriter& Text(std::string_view value);
  JsonWriter& Number(int64_t value) { return Literal(std::to_string(value)); }
  JsonWriter& Bool(bool value) { return Literal(value ? "true" : "false"); }
  JsonWriter& Literal(std::string_view json);  // a value that is JSON already
  JsonWriter& Texts(const std::vector<std::string>& values);
  JsonWriter& Member(std::string_view key, std::string_view value) { return Key(key).Text(value); }
  JsonWriter& Member(std::string_view key, const char* value) { return Key(key).Text(value); }
  JsonWriter& Member(std::string_view key, int64_t value) { return Key(key).Number(value); }
  JsonWriter& Member(std::string_view key, bool value) { return Key(key).Bool(value); }

  // Returns the text, ended by a line feed. REQUIRES: everything is closed.
  std::string Finish() const {
    BERTH_REQUIRES(closing_.empty());
    return text_ + "\n";
  }
  // The same in a format of -o, "json" or "yaml".
  std::string Finish(std::string_view format) const;

 private:
  JsonWriter& Open(char bracket);
  void Separate();
  void NewLine();

  const bool indented_;
  std::string text_;
  std::string closing_;  // the closing brackets that are still to come, innermost last
  bool first_ = true;    // the innermost container is empty so far
  bool after_key_ = false;
};

}  // namespace berth::api
