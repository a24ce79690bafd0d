// Answers in the three notations of -o: a table for people, JSON and YAML for programs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

// Writes one JSON value, member by member, in the order of the calls.
class JsonOut {
 public:
  JsonOut& Object() { return Open('{'); }
  JsonOut& Array() { return Open('['); }
  JsonOut& End();
  JsonOut& Key(std::string_view key);
  JsonOut& Text(std::string_view value);
  JsonOut& Number(int64_t value);
  JsonOut& Bool(bool value);
  JsonOut& Literal(std::string_view json);  // a value that is JSON already
  // Several at once.
  JsonOut& Texts(const std::vector<std::string>& values);
  JsonOut& Member(std::string_view key, std::string_view value) { return Key(key).Text(value); }
  JsonOut& Member(std::string_view key, const char* value) { return Key(key).Text(value); }
  JsonOut& Member(std::string_view key, int64_t value) { return Key(key).Number(value); }
  JsonOut& Member(std::string_view key, bool value) { return Key(key).Bool(value); }

  // The whole value and a line end, as `format` says: "json" or "yaml".
  std::string Finish(std::string_view format) const;

 private:
  JsonOut& Open(char bracket);
  void Separate();
  std::string text_;
  std::string closing_;  // of the open objects and arrays
  bool first_ = true, after_key_ = false;
};

// Columns of equal width, three blanks between; the last column is as wide as it is.
std::string Table(const std::vector<std::vector<std::string>>& rows);

// "3 nodes", "1 node".
std::string Counted(int64_t n, std::string_view what);

// The first few of `names`, and how many more: "a, b, c and 7 more".
std::string Some(const std::vector<std::string>& names, size_t most);

}  // namespace berth::explain
