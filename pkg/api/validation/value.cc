// The API has its own parser and writer of JSON, because clients see what they do: the parser's errors are Go's to the
// letter, numbers keep the digits that they were written with, and every value knows its position in the text, which
// the errors of a later decoding quote.
#include "pkg/api/validation/value.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "pkg/util/status.h"
#include "pkg/util/utf8.h"

namespace berth::validation {

Value Value::Bool(bool b) {
  Value v;
  v.type_ = Type::kBool;
  v.bool_ = b;
  return v;
}
Value Value::Int(int64_t n) {
  return Number(std::to_string(n));
}
Value Value::Number(std::string_view literal) {
  Value v;
  v.type_ = Type::kNumber;
  v.text_ = literal;
  return v;
}
Value Value::String(std::string_view s) {
  Value v;
  v.type_ = Type::kString;
  v.text_ = s;
  return v;
}
Value Value::Array() {
  Value v;
  v.type_ = Type::kArray;
  return v;
}
Value Value::Object() {
  Value v;
  v.type_ = Type::kObject;
  return v;
}

int64_t Value::AsInt() const {
  int64_t n = 0;
  if (type_ != Type::kNumber) return 0;
  auto r = std::from_chars(text_.data(), text_.data() + text_.size(), n);
  return r.ec == std::errc() && r.ptr == text_.data() + text_.size() ? n : 0;
}

// Invariant: places[k] is the last position of key k among the first `covered` keys. Members are only ever appended
// between two searches, unless Erase or EraseAll drops the index.
const Value* Value::FindIndexed(std::string_view key) const {
  if (index_.places == nullptr || index_.covered > keys.size()) {
    index_.places = std::make_unique<absl::flat_hash_map<std::string, uint32_t>>();
    index_.covered = 0;
  }
  for (; index_.covered < keys.size(); ++index_.covered) {
    (*index_.places)[keys[index_.covered]] = static_cast<uint32_t>(index_.covered);
  }
  auto it = index_.places->find(absl::string_view(key.data(), key.size()));
  return it == index_.places->end() ? nullptr : &items[it->second];
}

const Value* Value::Find(std::string_view key) const {
  constexpr size_t kMostSearched = 32;  // comparing this many keys is cheaper than hashing one
  if (keys.size() > kMostSearched) return FindIndexed(key);
  for (size_t i = keys.size(); i-- > 0;) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}
Value* Value::Find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).Find(key));
}

const Value* Value::At(std::initializer_list<std::string_view> path) const {
  const Value* v = this;
  for (std::string_view key : path) {
    if (v == nullptr) return nullptr;
    v = v->Find(key);
  }
  return v;
}
Value* Value::At(std::initializer_list<std::string_view> path) {
  return const_cast<Value*>(std::as_const(*this).At(path));
}

std::string_view Value::Str(std::string_view key) const {
  const Value* v = Find(key);
  return v != nullptr && v->IsString() ? std::string_view(v->text_) : std::string_view();
}

Value& Value::Set(std::string_view key, Value v) {
  if (Value* old = Find(key)) {
    *old = std::move(v);
    return *old;
  }
  type_ = Type::kObject;
  keys.emplace_back(key);
  return items.emplace_back(std::move(v));
}

Value& Value::Child(std::string_view key) {
  Value* v = Find(key);
  if (v == nullptr) return Set(key, Object());
  if (v->IsNull()) *v = Object();
  return *v;
}

void Value::Erase(std::string_view key) {
  if (Find(key) == nullptr) return;
  index_.places.reset();
  for (size_t i = keys.size(); i-- > 0;) {
    if (keys[i] == key) {
      keys.erase(keys.begin() + static_cast<ptrdiff_t>(i));
      items.erase(items.begin() + static_cast<ptrdiff_t>(i));
    }
  }
}

void Value::EraseAll(const absl::flat_hash_set<std::string>& gone) {
  size_t kept = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (gone.contains(keys[i])) continue;
    if (kept != i) {
      keys[kept] = std::move(keys[i]);
      items[kept] = std::move(items[i]);
    }
    ++kept;
  }
  if (kept == keys.size()) return;
  index_.places.reset();
  keys.resize(kept);
  items.resize(kept);
}

void Value::Append(Value v) {
  type_ = Type::kArray;
  items.push_back(std::move(v));
}

// The order of an object's members does not matter.
bool operator==(const Value& a, const Value& b) {
  if (a.type_ != b.type_ || a.bool_ != b.bool_ || a.text_ != b.text_ || a.items.size() != b.items.size()) return false;
  if (!a.IsObject()) return a.items == b.items;
  for (size_t i = 0; i < a.keys.size(); ++i) {
    const Value* other = b.Find(a.keys[i]);
    if (other == nullptr || !(a.items[i] == *other)) return false;
  }
  return true;
}

// ---- parsing ------------------------------------------------------------------------------------

std::string QuoteChar(unsigned char c) {
  if (c == '\'') return "'\\''";
  if (c == '"') return "'\"'";
  if (c == '\\') return "'\\\\'";
  if (c == '\n') return "'\\n'";
  if (c == '\r') return "'\\r'";
  if (c == '\t') return "'\\t'";
  if (c >= 0x20 && c < 0x7f) return {'\'', static_cast<char>(c), '\''};
  constexpr char kHex[] = "0123456789abcdef";
  if (c < 0x80) return std::string("'\\x") + kHex[c >> 4] + kHex[c & 15] + "'";
  if (c < 0xa0 || c == 0xad) return std::string("'\\u00") + kHex[c >> 4] + kHex[c & 15] + "'";
  return {'\'', static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f)), '\''};
}

std::string Quote(std::string_view s) {
  std::string out = "\"";
  constexpr char kHex[] = "0123456789abcdef";
  for (char ch : s) {
    auto c = static_cast<unsigned char>(ch);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += ch;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += ch;
    }
  }
  return out + '"';
}

namespace {

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xc0 | c >> 6));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | c >> 12));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | c >> 18));
    out->push_back(static_cast<char>(0x80 | (c >> 12 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

// Parses in one pass without recursion; the stack holds the open containers.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<Value> Run() {
    Value root;
    if (!ParseInto(&root)) return util::InvalidArgument(error_);
    SkipSpace();
    if (pos_ < text_.size()) return util::InvalidArgument(Unexpected("after top-level value"));
    return root;
  }

 private:
  void SkipSpace() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\t' || text_[pos_] == '\r'))
      ++pos_;
  }
  std::string Unexpected(std::string_view where) const {
    if (pos_ >= text_.size()) return "unexpected end of JSON input";
    return absl::StrCat("invalid character ", QuoteChar(static_cast<unsigned char>(text_[pos_])), " ",
                        std::string(where));
  }
  bool Fail(std::string_view where) {
    error_ = Unexpected(where);
    return false;
  }

  bool ParseInto(Value* root) {
    std::vector<Value*> open;
    Value* slot = root;
    for (;;) {
      // The next value goes to `slot`.
      SkipSpace();
      if (pos_ >= text_.size()) return Fail("looking for beginning of value");
      slot->begin = static_cast<uint32_t>(pos_);
      char c = text_[pos_];
      bool opened = false;
      if (c == '{' || c == '[') {
        if (open.size() >= kMaxDepth) {
          error_ = absl::StrCat("exceeded max depth of ", kMaxDepth);
          return false;
        }
        slot->type_ = c == '{' ? Value::Type::kObject : Value::Type::kArray;
        ++pos_;
        open.push_back(slot);
        opened = true;
      } else if (!Scalar(slot)) {
        return false;
      }
      if (!opened) slot->end = static_cast<uint32_t>(pos_);
      // Closes the containers that end here, then finds the place of the next value.
      slot = nullptr;
      while (slot == nullptr) {
        if (open.empty()) return true;
        Value* container = open.back();
        SkipSpace();
        bool object = container->IsObject();
        char close = object ? '}' : ']';
        if (pos_ < text_.size() && text_[pos_] == close) {
          ++pos_;
          container->end = static_cast<uint32_t>(pos_);
          open.pop_back();
          opened = false;
          continue;
        }
        if (!opened) {
          if (pos_ >= text_.size() || text_[pos_] != ',')
            return Fail(object ? "after object key:value pair" : "after array element");
          ++pos_;
          SkipSpace();
        }
        opened = false;
        if (object) {
          if (pos_ >= text_.size() || text_[pos_] != '"') return Fail("looking for beginning of object key string");
          std::string& key = container->keys.emplace_back();
          if (!String(&key)) return false;
          SkipSpace();
          if (pos_ >= text_.size() || text_[pos_] != ':') return Fail("after object key");
          ++pos_;
        }
        slot = &container->items.emplace_back();
      }
    }
  }

  bool Scalar(Value* v) {
    char c = text_[pos_];
    switch (c) {
      case '"':
        v->type_ = Value::Type::kString;
        return String(&v->text_);
      case 't':
        v->type_ = Value::Type::kBool;
        v->bool_ = true;
        return Literal("true");
      case 'f':
        v->type_ = Value::Type::kBool;
        return Literal("false");
      case 'n':
        return Literal("null");
      default:
        if (c == '-' || IsDigit(c)) return NumberLiteral(v);
        return Fail("looking for beginning of value");
    }
  }

  bool Literal(std::string_view word) {
    for (char want : word) {
      if (pos_ >= text_.size() || text_[pos_] != want)
        return Fail(absl::StrCat("in literal ", std::string(word), " (expecting ",
                                 QuoteChar(static_cast<unsigned char>(want)), ")"));
      ++pos_;
    }
    return true;
  }

  bool Digits(std::string_view where) {
    if (pos_ >= text_.size() || !IsDigit(text_[pos_])) return Fail(where);
    while (pos_ < text_.size() && IsDigit(text_[pos_])) ++pos_;
    return true;
  }

  bool NumberLiteral(Value* v) {
    size_t begin = pos_;
    v->type_ = Value::Type::kNumber;
    if (text_[pos_] == '-') ++pos_;
    if (pos_ < text_.size() && text_[pos_] == '0') {
      ++pos_;
    } else if (!Digits("in numeric literal")) {
      return false;
    }
    if (pos_ < text_.size() && text_[pos_] == '.') {
      ++pos_;
      if (!Digits("after decimal point in numeric literal")) return false;
    }
    if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
      ++pos_;
      if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-')) ++pos_;
      if (!Digits("in exponent of numeric literal")) return false;
    }
    v->text_ = text_.substr(begin, pos_ - begin);
    return true;
  }

  bool Hex4(uint32_t* c) {
    *c = 0;
    for (int i = 0; i < 4; ++i, ++pos_) {
      if (pos_ >= text_.size()) return Fail("in \\u hexadecimal character escape");
      char h = text_[pos_];
      uint32_t digit;
      if (IsDigit(h)) {
        digit = static_cast<uint32_t>(h - '0');
      } else if (h >= 'a' && h <= 'f') {
        digit = static_cast<uint32_t>(h - 'a' + 10);
      } else if (h >= 'A' && h <= 'F') {
        digit = static_cast<uint32_t>(h - 'A' + 10);
      } else {
        return Fail("in \\u hexadecimal character escape");
      }
      *c = *c * 16 + digit;
    }
    return true;
  }

  bool String(std::string* out) {
    ++pos_;
    for (;;) {
      size_t run = pos_;
      while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\\' &&
             static_cast<unsigned char>(text_[pos_]) >= 0x20 && static_cast<unsigned char>(text_[pos_]) < 0x80)
        ++pos_;
      out->append(text_.substr(run, pos_ - run));
      if (pos_ >= text_.size()) return Fail("in string literal");
      auto c = static_cast<unsigned char>(text_[pos_]);
      if (c == '"') {
        ++pos_;
        return true;
      }
      if (c < 0x20) return Fail("in string literal");
      if (c >= 0x80) {
        size_t n = util::Utf8Length(text_.substr(pos_));
        if (n == 0) {
          AppendUtf8(0xfffd, out);
          ++pos_;
        } else {
          out->append(text_.substr(pos_, n));
          pos_ += n;
        }
        continue;
      }
      ++pos_;
      if (pos_ >= text_.size()) return Fail("in string escape code");
      static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
      size_t k = kFrom.find(text_[pos_]);
      if (k != std::string_view::npos) {
        out->push_back(kTo[k]);
        ++pos_;
        continue;
      }
      if (text_[pos_] != 'u') return Fail("in string escape code");
      ++pos_;
      uint32_t code;
      if (!Hex4(&code)) return false;
      if (code >= 0xd800 && code < 0xe000) {
        uint32_t low = 0;
        size_t back = pos_;
        if (code < 0xdc00 && text_.substr(pos_, 2) == "\\u") {
          pos_ += 2;
          if (!Hex4(&low)) return false;
        }
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else {
          pos_ = back;
          code = 0xfffd;
        }
      }
      AppendUtf8(code, out);
    }
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string error_;
};

absl::StatusOr<Value> ParseJson(std::string_view text) {
  if (text.size() >= UINT32_MAX) return util::InvalidArgument("a JSON text of more than 4 GiB");
  return Parser(text).Run();
}

Value FromJson(const api::Json& j) {
  using Type = api::Json::Type;
  switch (j.type()) {
    case Type::kNull:
      return Value();
    case Type::kFalse:
    case Type::kTrue:
      return Value::Bool(j.Bool());
    case Type::kInt:
    case Type::kDouble:
      return Value::Number(j.Text());
    case Type::kString:
      return Value::String(j.Text());
    case Type::kArray: {
      Value v = Value::Array();
      for (auto member : j.Children()) v.items.push_back(FromJson(member.value));
      return v;
    }
    case Type::kObject: {
      Value v = Value::Object();
      for (auto member : j.Children()) v.Set(member.key, FromJson(member.value));
      return v;
    }
  }
  return Value();
}

// ---- writing ------------------------------------------------------------------------------------

namespace {

std::vector<size_t> SortedOrder(const Value& v) {
  std::vector<size_t> order(v.keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return v.keys[a] < v.keys[b]; });
  return order;
}

void Append(const Value& v, bool sorted, std::string* out) {
  switch (v.type()) {
    case Value::Type::kNull:
      out->append("null");
      return;
    case Value::Type::kBool:
      out->append(v.AsBool() ? "true" : "false");
      return;
    case Value::Type::kNumber:
      out->append(v.text());
      return;
    case Value::Type::kString:
      api::AppendJsonString(v.text(), out);
      return;
    case Value::Type::kArray:
      out->push_back('[');
      for (size_t i = 0; i < v.items.size(); ++i) {
        if (i > 0) out->push_back(',');
        Append(v.items[i], sorted, out);
      }
      out->push_back(']');
      return;
    case Value::Type::kObject: {
      out->push_back('{');
      std::vector<size_t> order;
      if (sorted) order = SortedOrder(v);
      for (size_t n = 0; n < v.items.size(); ++n) {
        size_t i = sorted ? order[n] : n;
        if (n > 0) out->push_back(',');
        api::AppendJsonString(v.keys[i], out);
        out->push_back(':');
        Append(v.items[i], sorted, out);
      }
      out->push_back('}');
      return;
    }
  }
}

}  // namespace

void AppendJson(const Value& v, std::string* out) {
  Append(v, false, out);
}
std::string ToJson(const Value& v) {
  std::string out;
  Append(v, false, &out);
  return out;
}
std::string ToSortedJson(const Value& v) {
  std::string out;
  Append(v, true, &out);
  return out;
}

std::string Indent(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  size_t depth = 0;
  bool in_string = false;
  auto line = [&] {
    out.push_back('\n');
    out.append(depth * 2, ' ');
  };
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (in_string) {
      out.push_back(c);
      if (c == '\\' && i + 1 < json.size()) {
        out.push_back(json[++i]);
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    switch (c) {
      case '"':
        in_string = true;
        out.push_back(c);
        break;
      case '{':
      case '[':
        out.push_back(c);
        if (i + 1 < json.size() && json[i + 1] == ']') {
          out.push_back(json[++i]);
        } else {
          ++depth;
          line();
        }
        break;
      case '}':
      case ']':
        --depth;
        line();
        out.push_back(c);
        break;
      case ',':
        out.push_back(c);
        line();
        break;
      case ':':
        out.append(": ");
        break;
      case '\n':
      case ' ':
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

const Value& OrEmpty(const Value* v) {
  static const Value kEmpty = Value::Object();
  return v == nullptr || v->IsNull() ? kEmpty : *v;
}

}  // namespace berth::validation
