// Numbers keep the digits that they were written with, and every value knows its position in the text, which the errors
// of a later decoding quote.
#include "pkg/api/validation/value.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "pkg/api/json_writer.h"
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
Value Value::Object(std::initializer_list<Named> members) {
  Value v = Object();
  v.SetAll(members);
  return v;
}

void Value::SetAll(std::initializer_list<Named> members) {
  for (const Named& m : members) {
    if (const auto* text = std::get_if<std::string_view>(&m.value_)) {
      Set(m.key_, String(*text));
    } else if (const auto* b = std::get_if<bool>(&m.value_)) {
      Set(m.key_, Bool(*b));
    } else if (const auto* n = std::get_if<int64_t>(&m.value_)) {
      Set(m.key_, Int(*n));
    } else {
      Set(m.key_, *std::get<const Value*>(m.value_));
    }
  }
}

int64_t Value::AsInt() const {
  int64_t n = 0;
  if (type_ != Type::kNumber) return 0;
  auto r = std::from_chars(text_.data(), text_.data() + text_.size(), n);
  return r.ec == std::errc() && r.ptr == text_.data() + text_.size() ? n : 0;
}

namespace {

constexpr size_t kMostSearched = 32;  // comparing this many keys is cheaper than hashing one

}  // namespace

// Invariant: places[k] is the last position of key k among the first `covered` keys. Members are only ever appended
// between two searches, unless Erase or EraseAll drops the index.
size_t Value::PlaceInIndex(std::string_view key) const {
  const std::vector<std::string>& all = keys;
  if (index_.places == nullptr || index_.covered > all.size()) {
    index_.places = std::make_unique<absl::flat_hash_map<std::string, uint32_t>>();
    index_.covered = 0;
  }
  for (; index_.covered < all.size(); ++index_.covered) {
    (*index_.places)[all[index_.covered]] = static_cast<uint32_t>(index_.covered);
  }
  auto it = index_.places->find(absl::string_view(key.data(), key.size()));
  return it == index_.places->end() ? all.size() : it->second;
}

size_t Value::PlaceOf(std::string_view key) const {
  const std::vector<std::string>& all = keys;
  if (all.size() > kMostSearched) return PlaceInIndex(key);
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i] == key) return i;
  }
  return all.size();
}

const Value* Value::Find(std::string_view key) const {
  const size_t place = PlaceOf(key);
  return place == keys.size() ? nullptr : &items[place];
}
Value* Value::Find(std::string_view key) {
  const size_t place = PlaceOf(key);
  return place == keys.size() ? nullptr : &items[place];
}

void Value::Freeze() {
  // A search must not change a value that others read.
  if (keys.size() > kMostSearched) PlaceInIndex("");
  keys.Freeze([](const std::string&) {});
  items.Freeze([](Value& v) { v.Freeze(); });
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
  Value* v = this;
  for (std::string_view key : path) {
    if (v == nullptr) return nullptr;
    v = v->Find(key);
  }
  return v;
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
  if (PlaceOf(key) == keys.size()) return;
  index_.places.reset();
  std::vector<std::string>& names = keys.own();
  std::vector<Value>& values = items.own();
  for (size_t i = names.size(); i-- > 0;) {
    if (names[i] == key) {
      names.erase(names.begin() + static_cast<ptrdiff_t>(i));
      values.erase(values.begin() + static_cast<ptrdiff_t>(i));
    }
  }
}

void Value::EraseAll(const absl::flat_hash_set<std::string>& gone) {
  std::vector<std::string>& names = keys.own();
  std::vector<Value>& values = items.own();
  size_t kept = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (gone.contains(names[i])) continue;
    if (kept != i) {
      names[kept] = std::move(names[i]);
      values[kept] = std::move(values[i]);
    }
    ++kept;
  }
  if (kept == names.size()) return;
  index_.places.reset();
  names.resize(kept);
  values.resize(kept);
}

void Value::Append(Value v) {
  type_ = Type::kArray;
  items.push_back(std::move(v));
}

// The order of an object's members does not matter.
bool operator==(const Value& a, const Value& b) {
  if (a.type_ != b.type_ || a.bool_ != b.bool_ || a.text_ != b.text_ || a.items.size() != b.items.size()) return false;
  if (!a.IsObject()) return a.items == b.items;
  if (a.items.Shares(b.items) && a.keys == b.keys) return true;
  for (size_t i = 0; i < a.keys.size(); ++i) {
    const Value* other = b.Find(a.keys[i]);
    if (other == nullptr || !(a.items[i] == *other)) return false;
  }
  return true;
}

// ---- parsing ------------------------------------------------------------------------------------

namespace {

bool IsAscii(std::string_view s) {
  unsigned char all = 0;
  for (char c : s) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

}  // namespace

// Copies a parsed document. Where it is `as_written`, members that occur twice stay, and values know their positions.
class ValueBuilder {
 public:
  ValueBuilder(bool as_written, bool is_ascii) : as_written_(as_written), is_ascii_(is_ascii) {}

  void Build(const api::Json& j, Value* v) const {
    static constexpr Value::Type kTypes[] = {Value::Type::kNull,   Value::Type::kBool,   Value::Type::kBool,
                                             Value::Type::kNumber, Value::Type::kNumber, Value::Type::kString,
                                             Value::Type::kArray,  Value::Type::kObject};
    v->type_ = kTypes[static_cast<size_t>(j.type())];
    v->bool_ = j.Bool();
    if (as_written_) {
      v->begin = static_cast<uint32_t>(j.begin_offset());
      v->end = static_cast<uint32_t>(j.end_offset());
    }
    if (const size_t size = j.size(); size > 0) {
      v->items.reserve(size);
      if (j.IsObject()) v->keys.reserve(size);
      for (auto [key, value] : j.Children()) Build(value, j.IsObject() ? Member(key, v) : &v->items.emplace_back());
    } else {
      SetText(j.Text(), &v->text_);
    }
  }

 private:
  Value* Member(std::string_view key, Value* object) const {
    if (Value* same = as_written_ ? nullptr : object->Find(key)) {
      *same = Value();
      return same;
    }
    SetText(key, &object->keys.emplace_back());
    return &object->items.emplace_back();
  }

  // Each byte that is not UTF-8 becomes U+FFFD.
  void SetText(std::string_view s, std::string* out) const {
    if (is_ascii_) {
      out->assign(s);
      return;
    }
    while (!s.empty()) {
      const size_t n = util::Utf8Length(s);
      out->append(n == 0 ? "\xEF\xBF\xBD" : s.substr(0, n));
      s.remove_prefix(n == 0 ? 1 : n);
    }
  }

  const bool as_written_;
  const bool is_ascii_;  // so is all that the document was parsed from
};

absl::StatusOr<Value> ParseJson(std::string_view text) {
  if (text.size() >= UINT32_MAX) return util::InvalidArgument("a JSON text of more than 4 GiB");
  // Most texts are single objects. The document of the last one has room for the next.
  constexpr size_t kLarge = 1 << 20;
  static thread_local api::Document kept;
  api::Document large;
  api::Document& document = text.size() < kLarge ? kept : large;
  if (absl::Status s = document.ParseAsGo(text); !s.ok()) return s;
  Value v;
  ValueBuilder(true, IsAscii(text)).Build(document.root(), &v);
  return v;
}

Value FromJson(const api::Json& j) {
  Value v;
  ValueBuilder(false, false).Build(j, &v);
  return v;
}

// ---- writing ------------------------------------------------------------------------------------

namespace {

bool HasItems(const Value& v) {
  return v.type() == Value::Type::kArray || v.type() == Value::Type::kObject;
}

// Appends a value that is no array and no object.
void AppendScalar(const Value& v, std::string* out) {
  switch (v.type()) {
    case Value::Type::kBool:
      out->append(v.AsBool() ? "true" : "false");
      return;
    case Value::Type::kNumber:
      out->append(v.text());
      return;
    case Value::Type::kString:
      api::AppendJsonString(v.text(), out);
      return;
    default:
      out->append("null");
  }
}

void Write(const Value& v, bool sorted, api::JsonWriter* j) {
  if (!HasItems(v)) return AppendScalar(v, j->Place());
  if (v.type() == Value::Type::kArray) {
    j->Each(v.items, [&](const Value& item) { Write(item, sorted, j); });
    return;
  }
  j->Object();
  std::vector<size_t> order;
  if (sorted) order = OrderOfKeys(v);
  for (size_t n = 0; n < v.items.size(); ++n) {
    const size_t i = sorted ? order[n] : n;
    j->Key(v.keys[i]);
    Write(v.items[i], sorted, j);
  }
  j->End();
}

}  // namespace

std::vector<size_t> OrderOfKeys(const Value& v) {
  std::vector<size_t> order(v.keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return v.keys[a] < v.keys[b]; });
  return order;
}

void AppendJson(const Value& v, std::string* out) {
  if (!HasItems(v)) return AppendScalar(v, out);
  api::JsonWriter j(out);
  Write(v, false, &j);
}
std::string ToJson(const Value& v) {
  api::JsonWriter j;
  Write(v, false, &j);
  return j.Take();
}
std::string ToSortedJson(const Value& v) {
  api::JsonWriter j;
  Write(v, true, &j);
  return j.Take();
}

std::string ToIndentedJson(const Value& v) {
  api::JsonWriter j(api::JsonWriter::Layout::kIndentedOpen);
  Write(v, false, &j);
  return j.Take();
}

std::string Indent(std::string_view json) {
  const auto v = ParseJson(json);
  return v.ok() ? ToIndentedJson(*v) : std::string(json);
}

const Value& OrEmpty(const Value* v) {
  static const Value kEmpty = Value::Object();
  return v == nullptr || v->IsNull() ? kEmpty : *v;
}

}  // namespace berth::validation
