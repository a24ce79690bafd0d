// Release 1.10 decoded JSON with json-iterator, whose errors name the types on the way to the mistake and quote the
// text around it. Decoder reproduces that, including its peculiarities, because clients show these texts to their
// users.
#include "pkg/api/validation/schema.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "pkg/api/json.h"
#include "pkg/api/json_text.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/quantity.h"
#include "pkg/api/validation/per_release.h"
#include "pkg/api/validation/schema_types.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::validation {
namespace {

using api::JsonText;
using api::JsonWriter;
using Kind = FieldDef::Kind;
using Shape = FieldDef::Shape;

std::vector<std::string_view> Split(std::string_view s, char sep) {
  std::vector<std::string_view> out;
  while (!s.empty()) {
    size_t n = s.find(sep);
    std::string_view part = s.substr(0, n);
    if (!part.empty()) out.push_back(part);
    s = n == std::string_view::npos ? std::string_view() : s.substr(n + 1);
  }
  return out;
}

bool Strip(std::string_view* s, std::string_view prefix) {
  if (!s->starts_with(prefix)) return false;
  s->remove_prefix(prefix.size());
  return true;
}

// The type table, parsed once from its text.
class Registry {
 public:
  // Without a release, it has the members of all of them, of two with one name the later one.
  explicit Registry(std::optional<Version> release) {
    std::vector<std::pair<FieldDef*, std::string>> structs;
    std::vector<std::pair<std::string, std::vector<std::string_view>>> blocks;
    for (std::string_view table : {kPodTypes, kClusterTypes, kGroupTypes}) {
      for (std::string_view line : Split(table, '\n')) {
        if (line[0] != ' ') {
          blocks.emplace_back(std::string(line), std::vector<std::string_view>());
        } else if (!line.starts_with("    ")) {
          blocks.back().second.push_back(line);
        } else {
          std::string_view& row = blocks.back().second.back();
          row = std::string_view(row.data(), static_cast<size_t>(line.end() - row.begin()));
        }
      }
    }
    for (auto& [name, lines] : blocks) {
      auto type = std::make_unique<TypeDef>();
      auto words = Split(name, ' ');
      type->name = words[0];
      type->proto = words.size() > 1 && words[1] == "proto";
      if (words.back() == "s") scheduling_.push_back(type.get());
      type->fields.reserve(lines.size());  // because pointers to them are kept
      size_t number = 0;
      for (std::string_view line : lines) {
        FieldDef f;
        f.number = static_cast<int>(++number);
        std::string of = ReadField(line, &f);
        f.span = SpanOf(type->name, f);
        if (release && !f.span.Has(*release)) continue;
        if (!release && !type->fields.empty() && type->fields.back().name == f.name) {
          type->fields.back() = std::move(f);
          continue;
        }
        type->fields.push_back(std::move(f));
        if (type->fields.back().kind == Kind::kStruct) structs.emplace_back(&type->fields.back(), of);
      }
      types_[type->name] = std::move(type);
    }
    for (auto& [field, of] : structs) field->type = &Get(of);
  }

  const TypeDef& Get(std::string_view name) const {
    auto it = types_.find(std::string(name));
    CHECK(it != types_.end()) << "no API type named " << name;
    return *it->second;
  }
  const std::vector<const TypeDef*>& scheduling() const { return scheduling_; }

 private:
  // Returns the releases that have a member; `always` says that it is always written.
  static release::Span SpanOf(const std::string& type, const FieldDef& f) {
    static const auto* const spans = [] {
      auto* all = new absl::flat_hash_map<std::string, release::Span>;
      for (const MemberRow& row : kMembers) {
        for (std::string_view member : Split(row.members, ' ')) (*all)[std::string(member)] = row.span;
      }
      return all;
    }();
    const std::string name = absl::StrCat(type, ".", f.name);
    if (const auto it = spans->find(name + "!"); f.always && it != spans->end()) return it->second;
    const auto it = spans->find(name);
    return it == spans->end() ? release::Span{} : it->second;
  }
  // Returns the name of the struct type, if it is one.
  static std::string ReadField(std::string_view line, FieldDef* f) {
    auto words = Split(line, ' ');
    f->name = words[0];
    f->go_name = f->name == "metadata" ? "ObjectMeta" : f->name;
    f->go_name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(f->go_name[0])));
    for (size_t i = 2; i < words.size(); ++i) {
      std::string_view w = words[i];
      if (Strip(&w, "key=")) {
        f->merge_key = w;
      } else if (Strip(&w, "go=")) {
        f->go_name = w;
      } else if (Strip(&w, "n=")) {
        CHECK(absl::SimpleAtoi(std::string(w), &f->number));
      } else if (Strip(&w, "in=")) {
        CHECK(absl::SimpleAtoi(std::string(w), &f->within));
      } else if (w == "merge") {
        f->merge_primitives = true;
      } else if (w == "retain") {
        f->retain_keys = true;
      } else if (w[0] == 's') {
        f->scheduling = line.substr(static_cast<size_t>(w.begin() - line.begin()));
        break;
      }
    }
    std::string_view t = words[1];
    if (t.ends_with('!')) {
      f->always = true;
      t.remove_suffix(1);
    }
    if (Strip(&t, "[]")) {
      f->shape = Shape::kList;
    } else if (Strip(&t, "map[")) {
      f->shape = Shape::kMap;
      t.remove_suffix(1);
    } else if (Strip(&t, "*")) {
      f->pointer = true;
    }
    if (t == "map" || t == "rl") {
      f->shape = Shape::kMap;
      f->kind = t == "map" ? Kind::kString : Kind::kQuantity;
      return {};
    }
    static constexpr std::pair<std::string_view, Kind> kKinds[] = {
        {"string", Kind::kString}, {"bool", Kind::kBool},           {"int32", Kind::kInt32},
        {"int64", Kind::kInt64},   {"quantity", Kind::kQuantity},   {"time", Kind::kTime},
        {"any", Kind::kAny},       {"microtime", Kind::kMicroTime}, {"intstr", Kind::kIntOrString}};
    for (auto& [word, kind] : kKinds) {
      if (word == t) {
        f->kind = kind;
        return {};
      }
    }
    f->kind = Kind::kStruct;
    return std::string(t);
  }

  absl::flat_hash_map<std::string, std::unique_ptr<TypeDef>> types_;
  std::vector<const TypeDef*> scheduling_;
};

const Registry& AllReleases() {
  static const auto* types = new Registry(std::nullopt);
  return *types;
}

// Returns whether the time has the form "2026-01-01T00:00:00Z", which needs no conversion.
bool IsPlainTime(std::string_view s) {
  static constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (s.size() != kForm.size()) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (kForm[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != kForm[i]) return false;
  }
  return s.substr(5, 2) <= "12" && s.substr(8, 2) <= "31" && s.substr(11, 2) <= "23" && s.substr(14, 2) <= "59";
}

class Decoder {
 public:
  Decoder(std::string_view version, std::string_view source) : version_(version), source_(source) {}

  bool Struct(const Value& in, const TypeDef& type, Value* out) {
    *out = Value::Object();
    if (in.IsNull()) return true;
    if (!in.IsObject()) return Wrong(in, "readObjectStart: expect { or n, but found ");
    out->keys.reserve(in.keys.size());
    out->items.reserve(in.keys.size());
    for (size_t i = 0; i < in.keys.size(); ++i) {
      const FieldDef* f = Match(in, i, type);
      if (f == nullptr || in.items[i].IsNull()) continue;
      Value decoded;
      if (!Field(in.items[i], *f, &decoded)) {
        error_ = f->go_name + ": " + error_;
        WrapFollowing(in, i, type);
        return false;
      }
      if (Value* before = out->Find(f->name)) {
        *before = std::move(decoded);
      } else {
        out->keys.push_back(f->name);
        out->items.push_back(std::move(decoded));
      }
    }
    return true;
  }

  std::string Error() const {
    if (source_.empty()) return error_;
    auto cut = [&](size_t around) {
      size_t from = head_ > around ? head_ - around : 0;
      return std::string(source_.substr(from, std::min(head_ + around, source_.size()) - from));
    };
    return absl::StrCat(error_, ", error found in #", std::min<size_t>(head_, 10), " byte of ...|", cut(10),
                        "|..., bigger context ...|", cut(50), "|...");
  }
  std::string TypeName(const TypeDef& t) const { return absl::StrCat(std::string(version_), ".", t.name); }
  void Prefix(const std::string& p) { error_ = p + error_; }

 private:
  // Returns the field of a member. A name that differs in case counts only if the exact name does not occur.
  static const FieldDef* Match(const Value& in, size_t i, const TypeDef& type) {
    if (const FieldDef* f = type.Find(in.keys[i])) return f;
    for (const FieldDef& f : type.fields) {
      if (api::internal::SameIgnoringCase(f.name, in.keys[i])) return in.Find(f.name) == nullptr ? &f : nullptr;
    }
    return nullptr;
  }

  // 1.10's decoder continues after an error in a value: structs and lists after it add their names to the text.
  void WrapFollowing(const Value& in, size_t failed, const TypeDef& type) {
    if (!reads_on_) return;
    for (size_t i = failed + 1; i < in.keys.size(); ++i) {
      const FieldDef* f = Match(in, i, type);
      if (f == nullptr || in.items[i].IsNull() || f->kind != Kind::kStruct || f->shape == Shape::kMap) continue;
      error_ = absl::StrCat(f->go_name, ": ", f->shape == Shape::kList ? "[]" : "", TypeName(*f->type), ": ", error_);
    }
  }

  // Notes that a value has a wrong type. The decoder of 1.10 has read one byte by then, so it continues with the
  // following members only if the value is one byte long (see WrapFollowing).
  bool Wrong(const Value& in, std::string_view expected) {
    char found = in.begin < source_.size() ? source_[in.begin] : '?';
    error_ = std::string(expected) + found;
    head_ = in.begin + 1;
    reads_on_ = in.end - in.begin == 1;
    return false;
  }
  // Notes that a value was read completely and then refused, so the decoder of 1.10 continues after it.
  bool Bad(const Value& in, const std::string& why) {
    error_ = "unmarshalerDecoder: " + why;
    head_ = in.end;
    reads_on_ = true;
    return false;
  }

  bool Field(const Value& in, const FieldDef& f, Value* out) {
    if (f.shape == Shape::kList) {
      *out = Value::Array();
      std::string of = f.kind == Kind::kStruct ? TypeName(*f.type) : "string";
      if (!in.IsArray()) {
        Wrong(in, "ReadArrayCB: expect [ or n, but found ");
        error_ = "[]" + of + ": " + error_;
        return false;
      }
      out->items.reserve(in.items.size());
      for (const Value& e : in.items) {
        if (!One(e, f, &out->items.emplace_back())) {
          error_ = absl::StrCat("[]", of, ": ", error_);
          return false;
        }
      }
      return true;
    }
    if (f.shape == Shape::kMap) {
      *out = Value::Object();
      if (!in.IsObject()) return Wrong(in, "ReadMapCB: expect { or n, but found ");
      for (size_t i = 0; i < in.keys.size(); ++i) {
        Value v;
        if (!One(in.items[i], f, &v)) return false;
        out->Set(in.keys[i], std::move(v));
      }
      return true;
    }
    return One(in, f, out);
  }

  bool One(const Value& in, const FieldDef& f, Value* out) {
    switch (f.kind) {
      case Kind::kString:
        if (in.IsNull()) {
          *out = Value::String("");
          return true;
        }
        if (!in.IsString()) return Wrong(in, "ReadString: expects \" or n, but found ");
        *out = in;
        return true;
      case Kind::kBool:
        if (!in.IsBool()) return Wrong(in, "ReadBool: expect t or f, but found ");
        *out = in;
        return true;
      case Kind::kInt32:
      case Kind::kInt64:
        return Integer(in, f.kind == Kind::kInt32, out);
      case Kind::kQuantity: {
        if (in.IsNull()) {
          *out = Value::String("0");
          return true;
        }
        if (!in.IsString() && !in.IsNumber()) return Bad(in, "quantities must be strings or numbers");
        auto q = CanonicalQuantity(in.text());
        if (!q.ok()) return Bad(in, util::Message(q.status()));
        *out = Value::String(*q);
        return true;
      }
      case Kind::kTime:
      case Kind::kMicroTime:
        return Time(in, f.kind == Kind::kMicroTime, out);
      case Kind::kIntOrString:
        if (in.IsNumber()) return Integer(in, true, out);
        if (!in.IsString()) return Bad(in, "must be an integer or a string");
        *out = in;
        return true;
      case Kind::kAny:
        *out = in;
        return true;
      case Kind::kStruct:
        if (Struct(in, *f.type, out)) return true;
        if (in.IsObject()) error_ = TypeName(*f.type) + ": " + error_;
        return false;
    }
    return false;
  }

  bool Integer(const Value& in, bool narrow, Value* out) {
    if (!in.IsNumber()) return Wrong(in, "readUint32: unexpected character: \xef\xbf\xbd");
    int64_t n = in.AsInt();
    if ((n == 0 && in.text() != "0" && in.text() != "-0") ||
        (narrow && (n > std::numeric_limits<int32_t>::max() || n < std::numeric_limits<int32_t>::min()))) {
      return Bad(
          in, absl::StrCat("cannot unmarshal number ", in.text(), " into Go value of type int", narrow ? "32" : "64"));
    }
    *out = Value::Int(n);
    return true;
  }

  bool Time(const Value& in, bool micro, Value* out) {
    if (!in.IsString()) return Bad(in, "a time is a string like \"2006-01-02T15:04:05Z\"");
    if (!micro && IsPlainTime(in.text())) {
      *out = in;
      return true;
    }
    absl::Time t;
    std::string why;
    if (!absl::ParseTime(absl::RFC3339_full, in.text(), &t, &why)) {
      return Bad(in, absl::StrCat("parsing time ", util::GoQuoted(in.text()),
                                  " as \"2006-01-02T15:04:05Z07:00\": cannot parse"));
    }
    *out =
        Value::String(absl::FormatTime(micro ? "%Y-%m-%dT%H:%M:%E6SZ" : "%Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone()));
    return true;
  }

  std::string_view version_, source_;
  std::string error_;
  size_t head_ = 0;
  bool reads_on_ = false;
};

const Value kNull;

// Returns what Go writes of a value that was never set; null: it has a form of its own for that.
const Value& ZeroOf(Kind kind) {
  static const Value text = Value::String(""), no = Value::Bool(false), number = Value::Int(0),
                     quantity = Value::String("0");
  switch (kind) {
    case Kind::kString:
      return text;
    case Kind::kBool:
      return no;
    case Kind::kInt32:
    case Kind::kInt64:
    case Kind::kIntOrString:
      return number;
    case Kind::kQuantity:
      return quantity;
    default:
      return kNull;
  }
}

void Write(const Value& v, const TypeDef& type, JsonWriter* j);

void WriteOne(const Value& v, const FieldDef& f, JsonWriter* j) {
  if (f.kind == Kind::kStruct) {
    Write(v, *f.type, j);
  } else {
    AppendJson(v.IsNull() ? ZeroOf(f.kind) : v, j->Place());
  }
}

void WriteMap(const Value& v, const FieldDef& f, JsonWriter* j) {
  j->Object();
  for (const size_t n : OrderOfKeys(v)) WriteOne(v.items[n], f, &j->Key(v.keys[n]));
  j->End();
}

void WriteMember(const Value& v, const FieldDef& f, JsonWriter* j) {
  j->Key(JsonText::Plain(f.name));
  if (f.shape == Shape::kOne) {
    WriteOne(v, f, j);
  } else if (v.IsNull()) {
    j->Literal("null");
  } else if (f.shape == Shape::kMap) {
    WriteMap(v, f, j);
  } else {
    j->Each(v.items, [&](const Value& e) { WriteOne(e, f, j); });
  }
}

// Finds the members of a value for the fields of its type, which must be asked for in their order.
class MembersByField {
 public:
  static constexpr size_t kAbsent = SIZE_MAX;

  MembersByField(const Value& v, const TypeDef& type) : value_(v), keys_(v.keys.get()) {
    // Values mostly have their members in the type's order, and then nothing needs to be searched for.
    if (v.items.mark() == &type) {
      in_order_ = true;
      return;
    }
    size_t found = 0;
    for (const FieldDef& f : type.fields) found += found < keys_.size() && keys_[found] == f.name;
    in_order_ = found == keys_.size();
  }
  // Returns the place of the member, or kAbsent.
  size_t Place(const FieldDef& f) {
    if (next_ < keys_.size() && keys_[next_] == f.name) return next_++;
    if (in_order_) return kAbsent;
    const Value* member = value_.Find(f.name);
    if (member == nullptr) return kAbsent;
    const auto place = static_cast<size_t>(member - value_.items.data());
    next_ = place + 1;
    return place;
  }

 private:
  const Value& value_;
  const std::vector<std::string>& keys_;
  bool in_order_ = false;
  size_t next_ = 0;
};

// Returns whether Go's omitempty would omit the value.
bool LeftOut(const Value& v, const FieldDef& f) {
  if (f.always) return false;
  if (f.shape != Shape::kOne) return v.items.empty();
  if (f.pointer) return v.IsNull();
  switch (f.kind) {
    case Kind::kString:
      return v.text().empty();
    case Kind::kBool:
      return !v.AsBool();
    case Kind::kInt32:
    case Kind::kInt64:
      return v.IsNull() || v.text() == "0";
    case Kind::kAny:
      return v.IsNull();
    default:
      return false;  // structs, times, quantities and int-or-strings are always written
  }
}

void Write(const Value& v, const TypeDef& type, JsonWriter* j) {
  j->Object();
  if (v.items.mark() == &type) {
    // All members of a normal value are written, in the type's order.
    const std::vector<std::string>& keys = v.keys.get();
    const FieldDef* f = type.fields.data();
    for (size_t i = 0; i < keys.size(); ++i, ++f) {
      while (f->name != keys[i]) ++f;
      WriteMember(v.items[i], *f, j);
    }
  } else {
    MembersByField members(v, type);
    for (const FieldDef& f : type.fields) {
      const size_t place = members.Place(f);
      const Value& member = place == MembersByField::kAbsent ? kNull : v.items[place];
      if (!LeftOut(member, f)) WriteMember(member, f, j);
    }
  }
  j->End();
}

void NormalizeOne(const FieldDef& f, Value* v) {
  if (f.kind == Kind::kStruct) {
    Normalize(*f.type, v);
  } else if (v->IsNull()) {
    *v = ZeroOf(f.kind);
  }
}

// Values that are not structs are frozen with what holds them, so most of them need not be touched.
bool IsNormal(const FieldDef& f, const Value& v) {
  return f.kind == Kind::kStruct ? v.items.mark() == f.type : !v.IsNull();
}

void NormalizeAll(const FieldDef& f, Value* v) {
  const std::vector<Value>& all = v->items.get();
  if (std::all_of(all.begin(), all.end(), [&](const Value& e) { return IsNormal(f, e); })) return;
  for (Value& element : v->items) NormalizeOne(f, &element);
}

void NormalizeMap(const FieldDef& f, Value* v) {
  if (!v->IsObject()) *v = Value::Object();
  const std::vector<std::string>& keys = v->keys.get();
  if (!std::is_sorted(keys.begin(), keys.end())) {
    Value sorted = Value::Object();
    for (size_t i : OrderOfKeys(*v)) {
      sorted.keys.push_back(keys[i]);
      sorted.items.push_back(std::move(v->items[i]));
    }
    *v = std::move(sorted);
  }
  NormalizeAll(f, v);
}

void NormalizeField(const FieldDef& f, Value* v) {
  if (f.shape == Shape::kOne) return NormalizeOne(f, v);
  if (v->IsNull()) return;
  if (f.shape == Shape::kMap) return NormalizeMap(f, v);
  if (!v->IsArray()) *v = Value::Array();
  NormalizeAll(f, v);
}

}  // namespace

const FieldDef* TypeDef::Find(std::string_view member) const {
  for (const FieldDef& f : fields) {
    if (f.name == member) return &f;
  }
  return nullptr;
}

const TypeDef& TypeOf(std::string_view name, Version release) {
  static const auto* types = new PerRelease<Registry>;
  return types->Of(release).Get(name);
}

const TypeDef& TypeOfAllReleases(std::string_view name) {
  return AllReleases().Get(name);
}

const std::vector<const TypeDef*>& SchedulingTypes() {
  return AllReleases().scheduling();
}

absl::StatusOr<Value> Decode(const Value& in, const TypeDef& type, std::string_view version, std::string_view source) {
  Decoder d(version, source);
  Value out;
  if (!d.Struct(in, type, &out)) {
    if (in.IsObject()) d.Prefix(d.TypeName(type) + ": ");
    return util::InvalidArgument(d.Error());
  }
  return out;
}

void Encode(const Value& v, const TypeDef& type, std::string* out) {
  JsonWriter j(out);
  Write(v, type, &j);
}

bool EncodeAlike(const Value& a, const Value& b, const TypeDef& type) {
  std::string text, other;
  Encode(a, type, &text);
  Encode(b, type, &other);
  return text == other;
}

void Normalize(const TypeDef& type, Value* v) {
  if (v->items.mark() == &type) return;
  constexpr size_t kAbsent = MembersByField::kAbsent;
  std::vector<std::pair<const FieldDef*, size_t>> written;  // where their values stand
  written.reserve(type.fields.size());
  bool in_place = v->IsObject();
  const std::vector<std::string>& keys = v->keys.get();
  const std::vector<Value>& items = v->items.get();
  MembersByField members(*v, type);
  for (const FieldDef& f : type.fields) {
    const size_t at = members.Place(f);
    if (LeftOut(at == kAbsent ? kNull : items[at], f)) continue;
    in_place = in_place && at == written.size();
    written.emplace_back(&f, at);
  }
  if (!in_place || written.size() != keys.size()) {
    Value ordered = Value::Object();
    ordered.keys.reserve(written.size());
    ordered.items.reserve(written.size());
    for (const auto& [f, at] : written) {
      ordered.keys.push_back(f->name);
      ordered.items.push_back(at == kAbsent ? Value() : std::move(v->items[at]));
    }
    *v = std::move(ordered);
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const FieldDef& f = *written[i].first;
    // What is one plain value and has been written is normal.
    if (f.shape == Shape::kOne && IsNormal(f, std::as_const(v->items)[i])) continue;
    NormalizeField(f, &v->items[i]);
  }
  v->items.set_mark(&type);
}

absl::StatusOr<std::string> CanonicalQuantity(std::string_view text) {
  auto q = api::Quantity::Parse(text);
  if (!q.ok()) return q.status();
  if (q->SaturatesValue()) return std::string(text);  // beyond int64 the text is kept unchanged
  std::string canonical = q->RoundedUpToMilli().String();
  // 1.10 keeps the texts "+1" and "01", which differ from the canonical form only by a sign or leading zeros.
  std::string_view bare = text;
  if (bare.starts_with('+')) bare.remove_prefix(1);
  while (bare.size() > 1 && bare[0] == '0' && bare[1] >= '0' && bare[1] <= '9') bare.remove_prefix(1);
  if (bare == canonical) return std::string(text);
  return canonical;
}

// Four fields of a pod's spec are in its security context in the server's internal form, which is what is printed.
std::string GoDump(const Value* v, const TypeDef& type) {
  static const std::vector<std::string_view> kInSecurityContext = {"hostNetwork", "hostPID", "hostIPC",
                                                                   "shareProcessNamespace"};
  bool pod_spec = type.name == "PodSpec";
  JsonWriter out;
  out.Object();
  for (const FieldDef& f : type.fields) {
    if (pod_spec && (f.name == "serviceAccount" || std::find(kInSecurityContext.begin(), kInSecurityContext.end(),
                                                             f.name) != kInSecurityContext.end()))
      continue;
    const Value* m = v == nullptr ? nullptr : v->Find(f.name);
    if (m == nullptr) m = &kNull;
    std::string value;
    if (f.shape == Shape::kMap) {
      if (m->items.empty()) {
        value = "null";
      } else {
        JsonWriter map(&value);
        WriteMap(*m, f, &map);
      }
    } else if (f.shape == Shape::kList) {
      if (m->items.empty()) {
        value = "null";
      } else {
        JsonWriter list(&value);
        list.Each(m->items,
                  [&](const Value& e) { list.Literal(f.kind == Kind::kStruct ? GoDump(&e, *f.type) : ToJson(e)); });
      }
    } else if (f.kind == Kind::kStruct) {
      value = m->IsNull() && f.pointer ? "null" : GoDump(m, *f.type);
      if (pod_spec && f.name == "securityContext" && v != nullptr && value != "null") {
        JsonWriter moved;
        moved.Object();
        for (std::string_view name : kInSecurityContext) {
          const FieldDef* g = type.Find(name);
          const Value* h = v->Find(name);
          moved.Key(g->go_name).Literal(h != nullptr ? ToJson(*h) : g->pointer ? "null" : "false");
        }
        value = moved.MembersOf(value).End().Take();
      }
    } else if (m->IsNull() && f.pointer) {
      value = "null";
    } else {
      JsonWriter one(&value);
      WriteOne(*m, f, &one);
    }
    out.Key(f.go_name).Literal(value);
  }
  return out.End().Take();
}

}  // namespace berth::validation
