// Writes results in the three formats of -o: a table for users, and JSON or YAML for programs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

// Builds one JSON value. Members and elements appear in the order of the calls.
class JsonOut {
 public:
  // Open an object or an array, which the matching End() closes.
  JsonOut& Object() { return Open('{'); }
  JsonOut& Array() { return Open('['); }
  JsonOut& End();
  JsonOut& Key(std::string_view key);
  JsonOut& Text(std::string_view value);
  JsonOut& Number(int64_t value);
  JsonOut& Bool(bool value);
  JsonOut& Literal(std::string_view json);  // a value that is JSON already
  // Combinations of the calls above.
  JsonOut& Texts(const std::vector<std::string>& values);
  JsonOut& Member(std::string_view key, std::string_view value) { return Key(key).Text(value); }
  JsonOut& Member(std::string_view key, const char* value) { return Key(key).Text(value); }
  JsonOut& Member(std::string_view key, int64_t value) { return Key(key).Number(value); }
  JsonOut& Member(std::string_view key, bool value) { return Key(key).Bool(value); }

  // Returns the complete value and a final newline. `format` is "json" or "yaml". REQUIRES: every object and array was
  // closed.
  std::string Finish(std::string_view format) const;

 private:
  JsonOut& Open(char bracket);
  void Separate();
  std::string text_;
  std::string closing_;  // the closing brackets of what is open, innermost last
  bool first_ = true, after_key_ = false;
};

// Returns the rows as a table with three blanks between columns. The last column is not padded.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// Returns a number with a noun, such as "3 nodes" or "1 node".
std::string Counted(int64_t n, std::string_view what);

// Returns the first `most` names and how many more there are: "a, b, c and 7 more". A single remaining name is shown.
std::string Some(const std::vector<std::string>& names, size_t most);

}  // namespace berth::explain
