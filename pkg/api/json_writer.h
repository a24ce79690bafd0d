// Writes JSON, member by member, in the order of the calls: one value, or one on each line.
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::api {

// Appends `s` to `out` as a JSON string with quotes, escaped as Go's encoding/json does (<, >, & as \u003c..., invalid
// UTF-8 as \ufffd). A JSON string is a YAML string, too.
void AppendJsonString(std::string_view s, std::string* out);
std::string JsonString(std::string_view s);

// A text that is to be written. The compiler sees whether a literal is short and needs no escapes, as nearly all names
// of members; it is then copied as it stands.
class JsonText {
 public:
  static constexpr size_t kMostPlain = 60;

  template <size_t N>
  consteval JsonText(const char (&literal)[N])  // NOLINT
      : text_(literal, N - 1), plain_(N - 1 <= kMostPlain && NeedsNoEscapes(text_)) {}
  template <typename T>
  requires(!std::is_array_v<T> && std::convertible_to<const T&, std::string_view>) JsonText(const T& text)  // NOLINT
      : text_(text) {}

  // Returns a text, such as the name of an API field. REQUIRES: it has at most kMostPlain bytes and needs no escapes.
  static JsonText Plain(std::string_view text) {
    JsonText plain(text);
    BERTH_REQUIRES(text.size() <= kMostPlain && NeedsNoEscapes(text));
    plain.plain_ = true;
    return plain;
  }

  std::string_view text() const { return text_; }
  bool plain() const { return plain_; }

 private:
  static constexpr bool NeedsNoEscapes(std::string_view text) {
    for (const char c : text) {
      if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&') return false;
    }
    return true;
  }

  std::string_view text_;
  bool plain_ = false;
};

// What stands last in the text says whether a comma is due. So several writers may write one text in turn.
class JsonWriter {
 public:
  // On one line without blanks, or indented by two blanks for each level. kIndentedOpen is the indented form of the
  // Kubernetes 1.10 encoder, in which an empty object takes three lines and the second one is blank.
  enum class Layout { kCompact, kIndented, kIndentedOpen };
  explicit JsonWriter(Layout layout = Layout::kCompact)
      : out_(&own_), indented_(layout != Layout::kCompact), opens_empty_(layout == Layout::kIndentedOpen) {}
  // Appends to a text of the caller's, which is empty or ends where a value may begin: at a bracket, a colon, a comma,
  // a blank, a line feed, or a value of the array or object that is open there.
  explicit JsonWriter(std::string* out) : out_(out), indented_(false), opens_empty_(false) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  JsonWriter& Object() { return Open('{', 0); }
  JsonWriter& Array() { return Open('[', 1); }
  // Closes the innermost object or array that this writer has opened. REQUIRES: there is one.
  JsonWriter& End() {
    if (open_ == 1) Recall();
    const bool array = (open_ & 1) != 0;
    if (opens_empty_ && out_->back() == '{') NewLine();
    open_ >>= 1;
    if (indented_ && out_->back() != (array ? '[' : '{')) NewLine();
    *out_ += array ? ']' : '}';
    return *this;
  }
  // REQUIRES: an object is open.
  JsonWriter& Key(JsonText key) {
    if (!key.plain() || indented_) return OtherKey(key.text());
    char text[JsonText::kMostPlain + 4];
    text[0] = ',';
    text[1] = '"';
    const size_t size = key.text().size(), first = out_->back() == '{';
    std::memcpy(text + 2, key.text().data(), size);
    std::memcpy(text + 2 + size, "\":", 2);
    out_->append(text + first, size + 4 - first);
    return *this;
  }
  JsonWriter& Text(JsonText value) {
    Separate();
    return Append(value);
  }
  // An object's "namespace/name", or the name alone.
  JsonWriter& Name(std::string_view ns, std::string_view name);
  template <std::integral T>
  JsonWriter& Number(T value) {
    Separate();
    return Append(value);
  }
  JsonWriter& Bool(bool value) { return Literal(value ? "true" : "false"); }
  JsonWriter& Literal(std::string_view json) {  // a value that is JSON already
    Separate();
    *out_ += json;
    return *this;
  }
  // Returns the text, to which the caller appends a value.
  std::string* Place() {
    Separate();
    return out_;
  }
  // A part of a constant document as it stands, where one append instead of several matters. Its brackets are the
  // caller's, so they are closed by another part.
  JsonWriter& Part(std::string_view text) {
    *out_ += text;
    return *this;
  }
  // The members of an object that is JSON without blanks already.
  JsonWriter& MembersOf(std::string_view object);
  // The elements of an array that are JSON already, with commas between them, or none.
  JsonWriter& ElementsOf(std::string_view json) { return json.empty() ? *this : Literal(json); }
  // An array; `write` writes an element.
  template <typename List, typename F>
  JsonWriter& Each(const List& list, F write) {
    Array();
    for (const auto& element : list) write(element);
    return End();
  }
  template <typename List = std::vector<std::string>>
  JsonWriter& Texts(const List& values) {
    return Each(values, [this](const auto& v) { Text(v); });
  }
  JsonWriter& Member(JsonText key, JsonText value) { return Key(key).Append(value); }
  template <std::integral T>
  JsonWriter& Member(JsonText key, T value) {
    return Key(key).Append(value);
  }
  JsonWriter& MemberUnlessEmpty(JsonText key, std::string_view value) {
    return value.empty() ? *this : Member(key, value);
  }

  // Ends a line, after which another value may come. REQUIRES: everything is closed.
  JsonWriter& EndLine() {
    BERTH_REQUIRES(open_ == 1 && outer_.empty());
    *out_ += '\n';
    return *this;
  }
  // Returns the text, ended by a line feed, and keeps nothing. REQUIRES: everything is closed.
  std::string Finish() { return EndLine().Take(); }
  // The same in a format of -o, "json" or "yaml".
  std::string Finish(std::string_view format);
  // The same without a line feed.
  std::string Take() {
    BERTH_REQUIRES(open_ == 1 && outer_.empty());
    return std::move(*out_);
  }

 private:
  JsonWriter& Open(char bracket, uint64_t array) {
    Separate();
    *out_ += bracket;
    if (open_ >> 63 != 0) outer_.push_back(std::exchange(open_, 1));
    open_ = open_ << 1 | array;
    return *this;
  }
  // Writes what stands before a value: nothing after a key or at the top level, otherwise a comma, except before the
  // first element, and a new line.
  void Separate() {
    if (out_->empty()) return;
    const char last = out_->back();
    if (last == ':' || last == ' ' || last == '\n' || last == ',') return;
    if (last != '[') *out_ += ',';
    if (indented_) NewLine();
  }
  JsonWriter& Append(JsonText value);
  template <std::integral T>
  JsonWriter& Append(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      *out_ += value ? "true" : "false";
    } else if (value >= 0 && value < 10) {
      *out_ += static_cast<char>('0' + value);
    } else {
      char digits[24];
      out_->append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
    }
    return *this;
  }
  JsonWriter& OtherKey(std::string_view key);
  void NewLine();
  // Goes back to the levels around the last 63.
  void Recall() {
    BERTH_REQUIRES(!outer_.empty());
    open_ = outer_.back();
    outer_.pop_back();
  }

  std::string own_;  // if the caller has none
  std::string* const out_;
  const bool indented_, opens_empty_;
  // What is open, a bit for each of the innermost levels: 1 for an array. The first bit is a mark.
  uint64_t open_ = 1;
  std::vector<uint64_t> outer_;  // the same for 63 levels each
};

inline JsonWriter& JsonWriter::Append(JsonText value) {
  if (!value.plain()) {
    AppendJsonString(value.text(), out_);
    return *this;
  }
  char text[JsonText::kMostPlain + 2];
  text[0] = '"';
  const size_t size = value.text().size();
  std::memcpy(text + 1, value.text().data(), size);
  text[size + 1] = '"';
  out_->append(text, size + 2);
  return *this;
}

}  // namespace berth::api
