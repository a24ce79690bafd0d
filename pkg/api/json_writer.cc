#include "pkg/api/json_writer.h"

#include "pkg/api/json.h"
#include "pkg/util/contract.h"

namespace berth::api {

void JsonWriter::NewLine() {
  text_ += '\n';
  text_.append(2 * closing_.size(), ' ');
}

// Writes what stands before a value or key: nothing after a key or at the top level, and otherwise a comma, except
// before the first one, and a new line.
void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (closing_.empty()) return;
  if (!first_) text_ += ',';
  first_ = false;
  NewLine();
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  closing_ += bracket == '{' ? '}' : ']';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::End() {
  BERTH_REQUIRES(!closing_.empty());
  char bracket = closing_.back();
  closing_.pop_back();
  if (!first_) NewLine();
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendJsonString(key, &text_);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view value) {
  Separate();
  AppendJsonString(value, &text_);
  return *this;
}

JsonWriter& JsonWriter::Number(int64_t value) {
  Separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Texts(const std::vector<std::string>& values) {
  Array();
  for (const std::string& v : values) Text(v);
  return End();
}

}  // namespace berth::api
