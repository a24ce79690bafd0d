// An object is examined twice: first Walker compares its members with the type's fields, in every release, so that it
// can say which release has a field; then the object is decoded, completed with defaults and validated as the server
// does for a creation.
#include "pkg/api/validation/check.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>

#include "pkg/api/quantity.h"
#include "pkg/api/validation/defaults.h"
#include "pkg/api/validation/validation.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::validation {
namespace {

using FieldKind = FieldDef::Kind;
using Shape = FieldDef::Shape;

// Returns ` (did you mean "requests"?)` if a member of the type has a similar name, and otherwise an empty text.
std::string Suggestion(std::string_view name, const TypeDef& type) {
  std::vector<std::string_view> names;
  for (const FieldDef& f : type.fields) names.push_back(f.name);
  return util::SuggestionFor(name, names);
}

std::string_view TypeName(const Value& v) {
  switch (v.type()) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kBool:
      return "a boolean";
    case Value::Type::kNumber:
      return "a number";
    case Value::Type::kString:
      return "a string";
    case Value::Type::kArray:
      return "a list";
    case Value::Type::kObject:
      return "an object";
  }
  return "";
}

bool IsBytes(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || resource == "storage" ||
         resource.starts_with("hugepages-");
}

// Returns "1.16 and later", or "before 1.24".
std::string ReleasesOf(const release::Span& span) {
  return span.HasBeginning() ? absl::StrCat(release::NameOf(span.since), " and later")
                             : absl::StrCat("before ", release::NameOf(span.until));
}

// Finds fields that are unknown, of another release, or of a wrong type.
class Walker {
 public:
  Walker(Version release, std::vector<Problem>* problems) : release_(release), problems_(problems) {}

  // `other` is the same type in the other release.
  void Struct(const Value& v, const TypeDef& type, const TypeDef& other, const std::string& path) {
    if (v.IsNull()) return;
    if (!v.IsObject()) return WrongType(v, "an object", path);
    for (size_t i = 0; i < v.keys.size(); ++i) {
      const std::string& key = v.keys[i];
      bool type_meta = path.empty() && (key == "kind" || key == "apiVersion");
      if (type_meta) continue;
      std::string at = path.empty() ? key : absl::StrCat(path, ".", key);
      const FieldDef* there = other.Find(key);
      if (const FieldDef* f = type.Find(key)) {
        Field(v.items[i], *f, there == nullptr ? *f : *there, at);
      } else if (there != nullptr) {
        Add(Problem::Kind::kIgnoredField, at,
            absl::StrCat("is a field of Kubernetes ", ReleasesOf(there->span), "; release ", release::NameOf(release_),
                         " does not have it"));
      } else {
        Add(Problem::Kind::kUnknownField, at, absl::StrCat("unknown field", Suggestion(key, type)));
      }
    }
  }

  bool wrong_type() const { return wrong_type_; }

 private:
  void Add(Problem::Kind kind, const std::string& path, std::string message) {
    problems_->push_back({kind, path, std::move(message)});
  }
  void WrongType(const Value& v, std::string_view want, const std::string& path) {
    wrong_type_ = true;
    std::string text = ToJson(v);
    constexpr size_t kMostShown = 60;
    if (text.size() > kMostShown) text = text.substr(0, kMostShown) + "...";
    Add(Problem::Kind::kRefused, path,
        absl::StrCat("Invalid value: ", text, ": must be ", std::string(want), ", not ", std::string(TypeName(v))));
  }

  void Field(const Value& v, const FieldDef& f, const FieldDef& other, const std::string& path) {
    if (f.shape == Shape::kList) {
      if (v.IsNull()) return;
      if (!v.IsArray()) return WrongType(v, "a list", path);
      for (size_t i = 0; i < v.items.size(); ++i) One(v.items[i], f, other, absl::StrCat(path, "[", i, "]"));
      return;
    }
    if (f.shape == Shape::kMap) {
      if (v.IsNull()) {
        if (f.kind == FieldKind::kQuantity) Add(Problem::Kind::kSuspicious, path, "is null: no amount is given");
        return;
      }
      if (!v.IsObject()) return WrongType(v, "an object", path);
      for (size_t i = 0; i < v.keys.size(); ++i) {
        std::string at = absl::StrCat(path, "[", v.keys[i], "]");
        One(v.items[i], f, other, at);
        if (f.kind == FieldKind::kQuantity) Amount(v.keys[i], v.items[i], at);
      }
      return;
    }
    One(v, f, other, path);
  }

  // Reports amounts that are accepted but probably mistakes.
  void Amount(const std::string& resource, const Value& v, const std::string& path) {
    if (v.IsNull()) return Add(Problem::Kind::kSuspicious, path, "is null: no amount is given");
    auto q = api::Quantity::Parse(v.text());
    if (!q.ok() || !IsBytes(resource) || q->SaturatesMilliValue() || q->MilliValue() % 1000 == 0) return;
    std::string digits = v.text().substr(0, v.text().find_first_not_of("+-0123456789."));
    Add(Problem::Kind::kSuspicious, path,
        absl::StrCat(v.text(), " is not a whole number of bytes (the suffix m means thousandths); did you mean ",
                     digits, "Mi?"));
  }

  void One(const Value& v, const FieldDef& f, const FieldDef& other, const std::string& path) {
    if (v.IsNull()) return;
    switch (f.kind) {
      case FieldKind::kString:
        if (!v.IsString()) WrongType(v, "a string", path);
        return;
      case FieldKind::kBool:
        if (!v.IsBool()) WrongType(v, "true or false", path);
        return;
      case FieldKind::kInt32:
      case FieldKind::kInt64:
        if (!v.IsNumber()) WrongType(v, "a whole number", path);
        return;
      case FieldKind::kQuantity:
        if (!v.IsString() && !v.IsNumber()) return WrongType(v, "a quantity such as 500m or 2Gi", path);
        if (auto q = api::Quantity::Parse(v.text()); !q.ok()) {
          wrong_type_ = true;
          Add(Problem::Kind::kRefused, path,
              absl::StrCat("Invalid value: ", util::GoQuoted(v.text()), ": ", util::Message(q.status())));
        }
        return;
      case FieldKind::kTime:
      case FieldKind::kMicroTime:
        if (!v.IsString()) WrongType(v, "a time such as \"2006-01-02T15:04:05Z\"", path);
        return;
      case FieldKind::kIntOrString:
        if (!v.IsString() && !v.IsNumber()) WrongType(v, "a whole number or a string", path);
        return;
      case FieldKind::kAny:
        return;
      case FieldKind::kStruct:
        Struct(v, *f.type, other.type == nullptr ? *f.type : *other.type, path);
    }
  }

  Version release_;
  std::vector<Problem>* problems_;
  bool wrong_type_ = false;
};

// Fills in what a client may leave to the server, as far as validation needs it.
void CompleteMetadata(const ResourceInfo& r, Value* v) {
  Value& meta = v->Child("metadata");
  if (r.namespaced && meta.Str("namespace").empty()) meta.Set("namespace", Value::String("default"));
  if (meta.Str("name").empty() && !meta.Str("generateName").empty()) {
    std::string name(meta.Str("generateName"));
    meta.Set("name", Value::String(absl::StrCat(name, "x")));  // the server appends letters and digits
  }
}

void Strict(const Value& v, const TypeDef& type, const std::string& path, std::vector<std::string>* errors);

void StrictOne(const Value& v, const FieldDef& f, const std::string& path, std::vector<std::string>* errors) {
  if (f.kind != FieldKind::kStruct) return;
  if (f.shape == Shape::kList) {
    for (size_t i = 0; i < v.items.size(); ++i) Strict(v.items[i], *f.type, absl::StrCat(path, "[", i, "]"), errors);
  } else if (f.shape == Shape::kMap) {
    for (size_t i = 0; i < v.keys.size(); ++i) Strict(v.items[i], *f.type, absl::StrCat(path, ".", v.keys[i]), errors);
  } else {
    Strict(v, *f.type, path, errors);
  }
}

void Strict(const Value& v, const TypeDef& type, const std::string& path, std::vector<std::string>* errors) {
  absl::flat_hash_set<std::string> seen;
  for (size_t i = 0; i < v.keys.size(); ++i) {
    const std::string& key = v.keys[i];
    std::string at = path.empty() ? key : absl::StrCat(path, ".", key);
    if (!seen.insert(key).second) errors->push_back(absl::StrCat("duplicate field ", util::GoQuoted(at)));
    if (path.empty() && (key == "kind" || key == "apiVersion")) continue;
    const FieldDef* f = type.Find(key);
    if (f == nullptr) {
      errors->push_back(absl::StrCat("unknown field ", util::GoQuoted(at)));
    } else {
      StrictOne(v.items[i], *f, at, errors);
    }
  }
}

}  // namespace

std::vector<Problem> CheckObject(const Catalog& catalog, const Value& object) {
  std::vector<Problem> problems;
  std::string api_version(object.Str("apiVersion").empty() ? "v1" : object.Str("apiVersion"));
  const ResourceInfo* r = catalog.FindKind(api_version, object.Str("kind"));
  if (r == nullptr) return problems;
  size_t version = 0;
  while (r->versions[version].Text() != api_version) ++version;
  const TypeDef& type = r->TypeIn(version);

  Walker walker(catalog.release(), &problems);
  walker.Struct(object, type, TypeOfAllReleases(type.name), "");
  if (walker.wrong_type()) return problems;
  auto decoded = Decode(object, type, r->versions[version].version, "");
  if (!decoded.ok()) {
    problems.push_back({Problem::Kind::kRefused, "", util::Message(decoded.status())});
    return problems;
  }
  if (version > 0 && r->other_type != nullptr) return problems;  // validation applies to the stored form
  CompleteMetadata(*r, &*decoded);
  ApplyDefaults(*r, r->versions[version], &*decoded);
  for (FieldError& e : ValidateCreate(*r, *decoded)) {
    if (e.field == "spec.externalID") continue;  // 1.10 derives it from the name, whose absence has been reported
    problems.push_back({Problem::Kind::kRefused, std::move(e.field), std::move(e.message)});
  }
  return problems;
}

std::vector<std::string> StrictErrors(const Value& object, const TypeDef& type) {
  std::vector<std::string> errors;
  Strict(object, type, "", &errors);
  return errors;
}

}  // namespace berth::validation
