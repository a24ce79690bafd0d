// The table is made at its first use, from the marks in the rows of the API's types (validation/schema_types.h); Cutter
// walks an object and the table side by side and copies only what the table names.
#include "pkg/api/scheduling_fields.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/api/validation/schema.h"
#include "pkg/util/contract.h"

namespace berth::api {
namespace {

using validation::FieldDef;
using validation::TypeDef;

// ---- the table ----------------------------------------------------------------------------------

enum class Shape : uint8_t { kKeep, kNested, kNamed, kLabels, kKeys, kJson };

struct Field {
  std::string name;
  Shape shape = Shape::kKeep;
  NameClass what = NameClass::kName;
  bool per_pod = false, of_resize = false;
  std::vector<Field> fields;
};

constexpr std::pair<std::string_view, NameClass> kClasses[] = {
    {"name", NameClass::kName},         {"node", NameClass::kNode},       {"namespace", NameClass::kNamespace},
    {"uid", NameClass::kUid},           {"key", NameClass::kLabelKey},    {"value", NameClass::kLabelValue},
    {"resource", NameClass::kResource}, {"image", NameClass::kImage},     {"scheduler", NameClass::kSchedulerName},
    {"text", NameClass::kText},         {"address", NameClass::kAddress}, {"driver", NameClass::kDriver},
    {"word", NameClass::kWord},
};

// A mark as schema_types.h explains it, of a row ("s=node/", named "s") or of a member in the braces of one.
struct Mark {
  std::string_view name, what;
  bool per_pod = false, of_resize = false;
  bool braces = false;
  std::string_view members;
};

std::vector<Mark> ReadMarks(std::string_view text) {
  std::vector<Mark> marks;
  for (size_t at = 0; (at = text.find_first_not_of(" \n", at)) != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(" \n{", at), text.size());
    Mark m;
    m.name = text.substr(at, end - at);
    m.per_pod = m.name.ends_with('/');
    m.of_resize = m.name.ends_with('+');
    if (m.per_pod || m.of_resize) m.name.remove_suffix(1);
    if (const size_t n = m.name.find('='); n != std::string_view::npos) {
      m.what = m.name.substr(n + 1);
      m.name = m.name.substr(0, n);
    }
    at = end;
    m.braces = at < text.size() && text[at] == '{';
    for (int open = m.braces; open > 0;) {
      ++at;
      open += (text.at(at) == '{') - (text.at(at) == '}');
    }
    if (m.braces) m.members = text.substr(end + 1, at++ - end - 1);
    marks.push_back(m);
  }
  return marks;
}

std::vector<Field> FieldsOf(const TypeDef* type, std::string_view members);

// `member` is null if its type does not have it.
Field FieldOf(std::string_view name, Mark mark, const FieldDef* member) {
  Field f;
  f.name = name;
  f.per_pod = mark.per_pod;
  f.of_resize = mark.of_resize;
  if (mark.what.empty() && !mark.braces && member != nullptr && !member->scheduling.empty()) {
    mark = ReadMarks(member->scheduling).front();
  }
  const bool is_map = member != nullptr && member->shape == FieldDef::Shape::kMap;
  const auto* known =
      std::find_if(std::begin(kClasses), std::end(kClasses), [&](auto& c) { return c.first == mark.what; });
  if (known != std::end(kClasses)) {
    f.what = known->second;
    f.shape = f.what == NameClass::kWord ? Shape::kKeep : is_map ? Shape::kKeys : Shape::kNamed;
  } else if (!mark.what.empty()) {
    f.shape = Shape::kJson;
    f.fields = FieldsOf(&validation::TypeOfAllReleases(mark.what), "*");
  } else if (mark.braces || (member != nullptr && member->kind == FieldDef::Kind::kStruct)) {
    f.shape = Shape::kNested;
    f.fields = FieldsOf(member == nullptr ? nullptr : member->type, mark.braces ? mark.members : "*");
  } else if (is_map) {
    f.shape = member->kind == FieldDef::Kind::kString ? Shape::kLabels : Shape::kKeys;
    f.what = NameClass::kResource;
  }
  return f;
}

// Returns the fields of a type that `members` names, in the type's order, and then those that it does not have. `type`
// is null inside of a map.
std::vector<Field> FieldsOf(const TypeDef* type, std::string_view members) {
  std::vector<Mark> marks = ReadMarks(members);
  const bool all = std::erase_if(marks, [](const Mark& m) { return m.name == "*"; }) > 0;
  std::vector<Field> out;
  if (type != nullptr) {
    for (const FieldDef& f : type->fields) {
      const auto said = std::find_if(marks.begin(), marks.end(), [&](const Mark& m) { return m.name == f.name; });
      if (said != marks.end()) {
        out.push_back(FieldOf(f.name, *said, &f));
        marks.erase(said);
      } else if (all && !f.scheduling.empty()) {
        out.push_back(FieldOf(f.name, ReadMarks(f.scheduling).front(), &f));
      }
    }
  }
  for (const Mark& m : marks) out.push_back(FieldOf(m.name, m, nullptr));
  return out;
}

using Table = std::map<std::string, std::vector<Field>, std::less<>>;

const Table& Tables() {
  static const Table* const kTable = [] {
    auto* t = new Table;
    for (const TypeDef* kind : validation::SchedulingTypes()) (*t)[kind->name] = FieldsOf(kind, "*");
    return t;
  }();
  return *kTable;
}

void AppendPaths(const std::vector<Field>& fields, const std::string& prefix, std::vector<std::string>* out) {
  for (const Field& f : fields) {
    std::string& path = out->emplace_back(absl::StrCat(prefix, f.name));
    for (const auto& [name, what] : kClasses) {
      if (what == f.what && (f.shape == Shape::kNamed || f.shape == Shape::kKeys)) path.append("=").append(name);
    }
    if (f.shape == Shape::kKeys) path += ":";
    if (f.shape == Shape::kLabels) path += "=key:value";
    if (f.shape == Shape::kJson) path += "=JSON";
    path += f.per_pod ? "/" : f.of_resize ? "+" : "";
    AppendPaths(f.fields, absl::StrCat(prefix, f.name, "."), out);
  }
}

// ---- cutting ------------------------------------------------------------------------------------

class Cutter {
 public:
  enum class Extent : uint8_t { kAll, kTemplate, kResizedTemplate };
  Cutter(Renamer* renamer, Extent extent) : renamer_(renamer), extent_(extent) {}

  // Reduces an object or a list of objects. Anything else is kept, so that the decoder reports it.
  void Nested(Json j, const std::vector<Field>& fields) {
    if (j.IsArray()) {
      j_.Array();
      for (auto member : j.Children()) Nested(member.value, fields);
      j_.End();
    } else if (j.IsObject()) {
      j_.Object();
      for (auto [key, value] : j.Children()) {
        const Field* f = Find(fields, key);
        if (f == nullptr || value.IsNull()) continue;
        if (extent_ == Extent::kResizedTemplate && f->per_pod && f->name == "conditions") {
          ResizeCondition(value);
          continue;
        }
        if (extent_ != Extent::kAll && f->per_pod) continue;
        if (extent_ == Extent::kTemplate && f->of_resize) continue;
        const size_t before = out_.size();
        j_.Key(f->name);
        const size_t value_at = out_.size();
        Value(value, *f);
        // An object of which nothing is kept has no meaning at the top levels, while an empty one may have one.
        const bool emptied = std::string_view(out_).substr(value_at) == "{}" && value.size() != 0;
        if (emptied && (f->name == "metadata" || f->name == "status" || f->name == "annotations")) out_.resize(before);
      }
      j_.End();
    } else {
      Kept(j);
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  static const Field* Find(const std::vector<Field>& fields, std::string_view key) {
    for (const Field& f : fields) {
      if (absl::EqualsIgnoreCase(absl::string_view(f.name), absl::string_view(key.data(), key.size()))) return &f;
    }
    return nullptr;
  }
  // Keeps whether a resize cannot be made, which decides what the pod counts for.
  void ResizeCondition(Json conditions) {
    for (auto c : conditions.Children()) {
      if (c.value.Find("type").Text() != "PodResizePending") continue;
      j_.Key("conditions").Array().Object().Member("type", "PodResizePending");
      j_.Member("reason", c.value.Find("reason").Text()).End().End();
      return;
    }
  }
  void Text(NameClass what, std::string_view text) {
    renamer_ == nullptr ? j_.Text(text) : j_.Text(renamer_->Rename(what, text));
  }
  void Named(Json j, NameClass what) {
    if (j.IsString()) {
      Text(what, j.Text());
    } else if (j.IsArray()) {
      j_.Array();
      for (auto member : j.Children()) Named(member.value, what);
      j_.End();
    } else if (j.IsObject()) {
      Kept(j);
    } else {
      j_.Literal(j.Serialize());
    }
  }
  // A number, a word of the API, or anything else that was written in its place.
  void Kept(Json j) {
    if (renamer_ == nullptr) {
      j_.Literal(j.Serialize());
    } else if (j.IsObject()) {
      static constexpr NameClass kWord = NameClass::kWord;
      Map(j, NameClass::kName, &kWord);
    } else {
      Named(j, NameClass::kWord);
    }
  }
  void Map(Json j, NameClass keys, const NameClass* values) {
    if (!j.IsObject()) return Named(j, NameClass::kWord);
    j_.Object();
    for (auto [key, value] : j.Children()) {
      renamer_ == nullptr ? j_.Key(key) : j_.Key(renamer_->Rename(keys, key));
      if (values != nullptr && value.IsString()) {
        Text(*values, value.Text());
      } else {
        Kept(value);
      }
    }
    j_.End();
  }
  void JsonText(Json j, const std::vector<Field>& fields) {
    Document inner;
    if (!j.IsString() || !inner.Parse(j.Text()).ok()) {
      // Text that is not JSON is replaced by other text that is not JSON, so that nothing else is revealed.
      j_.Text(j.IsString() && j.Text().empty() ? "" : "{");
      return;
    }
    Cutter cutter(renamer_, Extent::kAll);
    cutter.Nested(inner.root(), fields);
    j_.Text(cutter.Take());
  }
  void Value(Json j, const Field& f) {
    static constexpr NameClass kValue = NameClass::kLabelValue;
    switch (f.shape) {
      case Shape::kKeep:
        Kept(j);
        break;
      case Shape::kNested:
        Nested(j, f.fields);
        break;
      case Shape::kNamed:
        Named(j, f.what);
        break;
      case Shape::kLabels:
        Map(j, NameClass::kLabelKey, &kValue);
        break;
      case Shape::kKeys:
        Map(j, f.what, nullptr);
        break;
      case Shape::kJson:
        JsonText(j, f.fields);
        break;
    }
  }

  Renamer* renamer_;
  Extent extent_;
  std::string out_;
  JsonWriter j_{&out_};
};

std::string Cut(std::string_view kind, Json object, Renamer* renamer, Cutter::Extent extent) {
  Cutter cutter(renamer, extent);
  cutter.Nested(object, Tables().find(kind)->second);
  return cutter.Take();
}

// ---- what decoders keep -------------------------------------------------------------------------

std::atomic<bool> keeps_fields{false};

// Invariant: by_template has no more than max(1024, twice the number of living templates at the last sweep) entries,
// because entries whose template is gone are removed when that size is reached.
struct TemplateTexts {
  struct Entry {
    std::weak_ptr<const PodTemplate> owner;
    std::shared_ptr<const std::string> text;
  };
  std::mutex mutex;
  absl::flat_hash_map<const PodTemplate*, Entry> by_template;
  size_t next_sweep = 1024;
};
TemplateTexts& Texts() {
  static auto* const kTexts = new TemplateTexts;
  return *kTexts;
}

}  // namespace

std::vector<std::string> SchedulingKinds() {
  std::vector<std::string> kinds;
  for (const auto& [kind, fields] : Tables()) kinds.push_back(kind);
  return kinds;
}

std::vector<std::string> SchedulingFieldPaths(std::string_view kind) {
  BERTH_REQUIRES(IsSchedulingKind(kind));
  std::vector<std::string> paths;
  AppendPaths(Tables().find(kind)->second, "", &paths);
  return paths;
}

bool IsSchedulingKind(std::string_view kind) {
  return Tables().find(kind) != Tables().end();
}

std::string CutToSchedulingFields(std::string_view kind, Json object, Renamer* renamer) {
  BERTH_REQUIRES(IsSchedulingKind(kind));
  return Cut(kind, object, renamer, Cutter::Extent::kAll);
}

std::string CutToTemplateFields(Json pod, Renamer* renamer, bool resized) {
  return Cut("Pod", pod, renamer, resized ? Cutter::Extent::kResizedTemplate : Cutter::Extent::kTemplate);
}

void KeepSchedulingFields(bool keep) {
  keeps_fields = keep;
}

bool KeepsSchedulingFields() {
  return keeps_fields.load(std::memory_order_relaxed);
}

std::shared_ptr<const std::string> TemplateFields(const std::shared_ptr<const PodTemplate>& t) {
  TemplateTexts& texts = Texts();
  std::lock_guard lock(texts.mutex);
  auto it = texts.by_template.find(t.get());
  // The address may have belonged to another template before.
  if (it == texts.by_template.end() || it->second.owner.lock() != t) return nullptr;
  return it->second.text;
}

void NoteTemplateFields(const std::shared_ptr<const PodTemplate>& t, Json pod, bool resized) {
  if (TemplateFields(t) != nullptr) return;
  auto text = std::make_shared<const std::string>(CutToTemplateFields(pod, nullptr, resized));
  TemplateTexts& texts = Texts();
  std::lock_guard lock(texts.mutex);
  texts.by_template[t.get()] = {t, std::move(text)};
  if (texts.by_template.size() < texts.next_sweep) return;
  absl::erase_if(texts.by_template, [](const auto& e) { return e.second.owner.expired(); });
  texts.next_sweep = std::max<size_t>(1024, 2 * texts.by_template.size());
}

}  // namespace berth::api
