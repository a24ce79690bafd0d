// One loop over the text: a value begins, or one has ended. Nearly every byte of a list or a watch passes here, so a
// string is found by its end alone, and nothing is copied but into the document.
#include "pkg/api/json_quick.h"

#include <array>
#include <cstdint>
#include <string>

#include "pkg/api/json_scanner.h"

namespace berth::api::internal {
namespace {

constexpr size_t kDepth = 64;  // deeper documents are left to the complete parser
constexpr size_t kLargestSource = UINT32_MAX / 2;
constexpr size_t kMostDigits = 18;  // of an integer that fits into 64 bits whatever its digits are

class Parser {
 public:
  Parser(std::string_view text, KnownArrays* known, Unread unread, DocumentBuilder* out)
      : text_(text), path_(known), skips_(unread == Unread::kManagedFields), out_(*out) {}

  bool Parse() {
    if (text_.size() > kLargestSource) return false;
    out_.KeepSource(text_);
    for (SkipSpace();;) {
      const char c = Peek();
      if (c == '[' && at_ == unread_) {
        if (!SkipArray()) return false;
      } else if (c == '{' || c == '[') {
        if (!Open(c)) return false;
        SkipSpace();
        if (Peek() != closing_[depth_ - 1]) {
          if (c == '{' && !Key()) return false;
          continue;
        }
      } else if (!Leaf(c)) {
        return false;
      }
      bool over = false;
      if (!AfterValue(&over)) return false;
      if (!over) continue;
      if (compact_) out_.SourceIsCompact();
      return true;
    }
  }

 private:
  // Returns the byte at this place; NUL at the end, where no value and no separator can be.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  // Nearly all texts are without space, so the first byte tells.
  void SkipSpace() {
    if (at_ == text_.size() || static_cast<unsigned char>(text_[at_]) > ' ') return;
    const size_t from = at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
    if (at_ > from) compact_ = false;
  }

  bool Open(char c) {
    if (depth_ == kDepth) return false;
    closing_[depth_++] = c == '{' ? '}' : ']';
    const size_t from = at_++;
    if (c == '{') {
      out_.StartObject(from);
      return true;
    }
    out_.StartArray(from);
    const size_t size = path_.SizeIfKnown(depth_, from);
    if (size <= 2) return true;
    compact_ = false;
    at_ = from + size - 1;
    return Peek() == ']';
  }

  // Goes on to the next value, or past the end of the document.
  bool AfterValue(bool* over) {
    for (;;) {
      SkipSpace();
      if (depth_ == 0) {
        *over = true;
        return at_ == text_.size();
      }
      const char c = Peek();
      const char closing = closing_[depth_ - 1];
      if (c == ',') {
        ++at_;
        SkipSpace();
        return closing == ']' || Key();
      }
      if (c != closing) return false;
      out_.End(++at_);
      --depth_;
    }
  }

  bool Key() {
    std::string_view key;
    if (Peek() != '"' || !String(&key)) return false;
    if (escaped_) {
      out_.Key(key);
    } else {
      out_.KeyInSource(Place(key), key.size());
    }
    path_.Key(depth_, key);
    SkipSpace();
    if (Peek() != ':') return false;
    ++at_;
    SkipSpace();
    if (skips_ && depth_ <= 3) NoteKey(key);
    return true;
  }

  // Notes where managedFields begins if the key is that of the object's metadata.
  void NoteKey(std::string_view key) {
    if (depth_ == 1) {
      in_object_ = key == "object";
      metadata_ = key == "metadata" ? 1 : 0;
    } else if (depth_ == 2 && in_object_) {
      metadata_ = key == "metadata" ? 2 : 0;
    } else if (metadata_ != 0 && depth_ == metadata_ + 1 && key == "managedFields") {
      unread_ = at_;
    }
  }

  bool SkipArray() {
    JsonScanner scanner;
    const size_t from = at_;
    at_ += scanner.Scan(text_.substr(from));
    if (!scanner.done() || text_[at_ - 1] != ']') return false;
    out_.UnreadArray(from, at_);
    return true;
  }

  bool Leaf(char c) {
    const size_t from = at_;
    if (c == '"') {
      std::string_view s;
      if (!String(&s)) return false;
      if (escaped_) {
        out_.String(s, from, at_);
      } else {
        out_.StringInSource(Place(s), s.size(), from, at_);
      }
      return true;
    }
    if (c == 't' || c == 'f' || c == 'n') return Word(c);
    return Integer();
  }

  bool Word(char c) {
    const std::string_view word = c == 't' ? "true" : c == 'f' ? "false" : "null";
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t from = at_;
    at_ += word.size();
    if (c == 'n') {
      out_.Null(from, at_);
    } else {
      out_.Bool(c == 't', from, at_);
    }
    return true;
  }

  bool Integer() {
    const size_t from = at_;
    const bool negative = Peek() == '-';
    if (negative) ++at_;
    const size_t first = at_;
    int64_t v = 0;
    for (char c = Peek(); c >= '0' && c <= '9'; c = Peek()) {
      if (at_ - first == kMostDigits) return false;
      v = 10 * v + (c - '0');
      ++at_;
    }
    const size_t digits = at_ - first;
    if (digits == 0 || (digits > 1 && text_[first] == '0')) return false;
    const char next = Peek();
    if (next == '.' || next == 'e' || next == 'E') return false;
    out_.IntInSource(negative ? -v : v, from, at_);
    return true;
  }

  // Returns where a part of the text begins.
  size_t Place(std::string_view part) const { return static_cast<size_t>(part.data() - text_.data()); }

  // Reads a string whose opening quote is here. The result is valid until the next call. It is a part of the text
  // unless `escaped_` is then true.
  bool String(std::string_view* out) {
    escaped_ = false;
    const size_t n = PlainRun(text_.substr(++at_));
    *out = text_.substr(at_, n);
    at_ += n;
    if (Peek() == '"') {
      ++at_;
      return true;
    }
    escaped_ = true;
    unescaped_.assign(*out);
    while (Peek() == '\\') {
      if (!Escape()) return false;
      const size_t run = PlainRun(text_.substr(at_));
      unescaped_.append(text_.substr(at_, run));
      at_ += run;
    }
    if (Peek() != '"') return false;
    ++at_;
    *out = unescaped_;
    return true;
  }

  bool Escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    at_ += 2;
    if (c == 'u') return AsciiEscape();
    const char meant = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
    if (meant == c && c != '"' && c != '\\' && c != '/') return false;
    unescaped_ += meant;
    return true;
  }

  // Reads the digits of \u003c and its like, with which Go writes some characters of ASCII.
  bool AsciiEscape() {
    const std::string_view digits = text_.substr(at_, 4);
    if (digits.size() < 4 || digits[0] != '0' || digits[1] != '0' || digits[2] < '2' || digits[2] > '7') return false;
    const char low = digits[3];
    const bool decimal = low >= '0' && low <= '9';
    const char lower = static_cast<char>(low | 0x20);
    if (!decimal && (lower < 'a' || lower > 'f')) return false;
    unescaped_ += static_cast<char>(16 * (digits[2] - '0') + (decimal ? low - '0' : lower - 'a' + 10));
    at_ += 4;
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  KnownPath path_;
  const bool skips_;            // whether metadata.managedFields is left unread
  bool in_object_ = false;      // whether the member of the outermost object is "object"
  size_t metadata_ = 0;         // the depth of the object's "metadata"; 0: it is not there, or elsewhere
  size_t unread_ = ~size_t{0};  // where managedFields begins
  DocumentBuilder& out_;
  std::array<char, kDepth> closing_;  // the brackets that close what is open
  size_t depth_ = 0;
  bool compact_ = true;   // all that was read is in the document, and there was no space between tokens
  bool escaped_ = false;  // the last string had escapes
  std::string unescaped_;
};

size_t SkipSpaceFrom(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
  return at;
}

}  // namespace

bool HasUsualEscapes(std::string_view s) {
  for (size_t at = 0; (at = s.find('\\', at)) != std::string_view::npos; at += 2) {
    const char c = at + 1 < s.size() ? s[at + 1] : '\0';
    if (c == '"' || c == '\\' || c == 'n' || c == 'r' || c == 't') continue;
    const std::string_view digits = c == 'u' ? s.substr(at + 2, 4) : std::string_view();
    if (digits != "003c" && digits != "003e" && digits != "0026") return false;
  }
  return true;
}

size_t NextElement(std::string_view text) {
  const size_t comma = SkipSpaceFrom(text, 1);
  if (comma >= text.size() || text[comma] != ',') return text.size();
  const size_t begin = SkipSpaceFrom(text, comma + 1);
  return begin < text.size() && text[begin] == '{' ? begin : text.size();
}

size_t ObjectSize(std::string_view text) {
  if (text.empty() || text[0] != '{') return 0;
  JsonScanner scanner;
  const size_t size = scanner.Scan(text);
  return scanner.done() ? size : 0;
}

bool ParseQuickly(std::string_view text, KnownArrays* known, Unread unread, DocumentBuilder* out) {
  return Parser(text, known, unread, out).Parse();
}

}  // namespace berth::api::internal
