// A set of fields is a Value in the form of managedFields: the members of an object are "f:NAME", the elements of a
// list with keys are "k:{"name":"c"}", those of a set are "v:"x"". An empty set means the value as a whole; "." within
// one means that the element itself was applied.
#include "pkg/apiserver/apply.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <set>

#include "pkg/util/go_text.h"

namespace berth::apiserver {
namespace {

using Shape = FieldDef::Shape;
using Kind = FieldDef::Kind;

// Objects that are replaced as a whole.
bool IsAtomic(const FieldDef& f) {
  static const std::set<std::string_view> kTypes = {
      "LabelSelector",        "NodeSelector",          "NodeSelectorTerm",   "KeySelector",
      "FileKeySelector",      "ObjectFieldSelector",   "ObjectReference",    "SecretReference",
      "LocalObjectReference", "ResourceFieldSelector", "TypedLocalReference"};
  if (f.shape == Shape::kMap) return f.name == "nodeSelector" || f.name == "selector";
  return f.kind != Kind::kStruct || kTypes.contains(f.type->name);
}

// Returns the members by which an element of such a list is known.
std::vector<std::string_view> KeysOf(const FieldDef& f) {
  if (f.merge_key == "containerPort" || f.merge_key == "port") return {f.merge_key, "protocol"};
  if (f.merge_key == "topologyKey") return {"topologyKey", "whenUnsatisfiable"};
  return {f.merge_key};
}

bool IsKeyed(const FieldDef& f) {
  return f.shape == Shape::kList && f.kind == Kind::kStruct && !f.merge_key.empty();
}
bool IsSet(const FieldDef& f) {
  return f.shape == Shape::kList && f.merge_primitives;
}

std::string KeyOf(const Value& element, const FieldDef& f) {
  Value key = Value::Object();
  for (std::string_view member : KeysOf(f)) {
    const Value* v = element.Find(member);
    if (v != nullptr) key.Set(member, *v);
    if (v == nullptr && member == "protocol") key.Set(member, Value::String("TCP"));
  }
  return "k:" + ToSortedJson(key);
}

// The elements of a list by their keys, or of a set by their values.
class Elements {
 public:
  Elements(const Value* list, const FieldDef& f) : field_(f) {
    for (size_t i = 0; list != nullptr && i < list->items.size(); ++i) places_.emplace(NameOf(list->items[i]), i);
  }
  std::string NameOf(const Value& element) const {
    return IsKeyed(field_) ? KeyOf(element, field_) : "v:" + ToSortedJson(element);
  }
  std::optional<size_t> Find(const std::string& name) const {
    auto it = places_.find(name);
    return it == places_.end() ? std::nullopt : std::optional(it->second);
  }
  // Notes an element that was appended.
  void Add(const std::string& name, size_t place) { places_.emplace(name, place); }

 private:
  const FieldDef& field_;
  absl::flat_hash_map<std::string, size_t> places_;
};

// Members that say which object it is, and those that only the server sets.
bool IsOfServer(std::string_view member) {
  static const std::set<std::string_view> kMembers = {
      "name",     "namespace",         "uid",           "resourceVersion",   "generation",
      "selfLink", "creationTimestamp", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"};
  return kMembers.contains(member);
}

Value Fields(const Value& v, const TypeDef& type, bool is_meta) {
  Value out = Value::Object();
  for (size_t i = 0; i < v.keys.size(); ++i) {
    const FieldDef* f = type.Find(v.keys[i]);
    const Value& member = v.items[i];
    if (f == nullptr || member.IsNull() || (is_meta && IsOfServer(f->name))) continue;
    Value& fields = out.Set("f:" + f->name, Value::Object());
    if (IsKeyed(*f)) {
      for (const Value& element : member.items) {
        Value& of_element = fields.Set(KeyOf(element, *f), Fields(element, *f->type, false));
        of_element.Set(".", Value::Object());
      }
    } else if (IsSet(*f)) {
      for (const Value& element : member.items) fields.Set("v:" + ToSortedJson(element), Value::Object());
    } else if (f->shape == Shape::kMap && !IsAtomic(*f)) {
      for (const std::string& key : member.keys) fields.Set("f:" + key, Value::Object());
    } else if (f->shape == Shape::kOne && !IsAtomic(*f)) {
      const bool meta = f->type->name == "ObjectMeta";
      fields = Fields(member, *f->type, meta);
      // A name alone is nothing that was applied.
      if (meta && fields.empty()) out.Erase("f:" + f->name);
    }
  }
  return out;
}

// Merges what was applied into an object.
void Merge(const Value& applied, const TypeDef& type, bool is_meta, Value* live) {
  for (size_t i = 0; i < applied.keys.size(); ++i) {
    const FieldDef* f = type.Find(applied.keys[i]);
    const Value& member = applied.items[i];
    const bool is_key = is_meta && (applied.keys[i] == "name" || applied.keys[i] == "namespace");
    if (f == nullptr || member.IsNull() || (is_meta && IsOfServer(f->name) && !is_key)) continue;
    Value* there = live->Find(f->name);
    if (there == nullptr || there->IsNull()) {
      live->Set(f->name, member);
    } else if (IsKeyed(*f) || IsSet(*f)) {
      Elements known(there, *f);
      for (const Value& element : member.items) {
        const std::string key = known.NameOf(element);
        if (const auto place = known.Find(key); !place) {
          known.Add(key, there->items.size());
          there->Append(element);
        } else if (IsKeyed(*f)) {
          Merge(element, *f->type, false, &there->items[*place]);
        }
      }
    } else if (f->shape == Shape::kMap && !IsAtomic(*f)) {
      for (size_t k = 0; k < member.keys.size(); ++k) there->Set(member.keys[k], member.items[k]);
    } else if (f->shape == Shape::kOne && !IsAtomic(*f)) {
      Merge(member, *f->type, f->type->name == "ObjectMeta", there);
    } else {
      *there = member;
    }
  }
}

using Sets = std::vector<const Value*>;

// Returns what the sets have within a member.
Sets Within(const Sets& sets, std::string_view key) {
  Sets out;
  for (const Value* s : sets) {
    if (const Value* inner = s->Find(key)) out.push_back(inner);
  }
  return out;
}

// Removes from an object what is in the set `old` and in none of `kept`.
void Remove(const Value& old, const Sets& kept, const TypeDef& type, Value* live) {
  for (size_t i = 0; i < old.keys.size(); ++i) {
    if (!old.keys[i].starts_with("f:")) continue;
    const std::string name = old.keys[i].substr(2);
    const FieldDef* f = type.Find(name);
    Value* there = live->Find(name);
    if (f == nullptr || there == nullptr) continue;
    const Value& fields = old.items[i];
    const Sets inner = Within(kept, old.keys[i]);
    if (IsKeyed(*f) || IsSet(*f)) {
      const Elements known(there, *f);
      std::set<size_t> gone;
      for (size_t k = 0; k < fields.keys.size(); ++k) {
        const auto place = known.Find(fields.keys[k]);
        if (!place) continue;
        const Sets of_element = Within(inner, fields.keys[k]);
        if (of_element.empty()) {
          gone.insert(*place);
        } else if (IsKeyed(*f)) {
          Remove(fields.items[k], of_element, *f->type, &there->items[*place]);
        }
      }
      size_t place = 0;
      there->items.EraseIf([&](const Value&) { return gone.contains(place++); });
    } else if (f->shape == Shape::kMap && !IsAtomic(*f)) {
      for (const std::string& key : fields.keys) {
        if (Within(inner, key).empty()) there->Erase(std::string_view(key).substr(2));
      }
    } else if (f->shape == Shape::kOne && !IsAtomic(*f) && !fields.keys.empty()) {
      Remove(fields, inner, *f->type, there);
    } else if (inner.empty()) {
      live->Erase(name);
      continue;
    }
    if ((there->IsObject() || there->IsArray()) && there->empty() && inner.empty()) live->Erase(name);
  }
}

const Value* MemberOf(const Value* v, const std::string& name) {
  return v == nullptr ? nullptr : v->Find(name);
}

// Returns a key as errors show it: `containerPort=80,protocol="TCP"`.
std::string KeyText(std::string_view key) {
  std::string out;
  const auto members = ParseJson(key.substr(2));
  for (size_t i = 0; members.ok() && i < members->keys.size(); ++i) {
    absl::StrAppend(&out, out.empty() ? "" : ",", members->keys[i], "=", ToJson(members->items[i]));
  }
  return out;
}

// Appends the paths of fields that both sets have and whose values differ.
void Differences(const Value& now, const Value& theirs, const Value* live, const Value* applied, const TypeDef& type,
                 const std::string& at, std::vector<std::string>* out) {
  const auto text = [](const Value* v) { return v == nullptr ? std::string() : ToSortedJson(*v); };
  for (size_t i = 0; i < now.keys.size(); ++i) {
    const Value* other = theirs.Find(now.keys[i]);
    if (other == nullptr || !now.keys[i].starts_with("f:")) continue;
    const std::string name = now.keys[i].substr(2), path = absl::StrCat(at, ".", name);
    const FieldDef* f = type.Find(name);
    if (f == nullptr) continue;
    const Value *before = MemberOf(live, name), *wanted = MemberOf(applied, name);
    if (IsKeyed(*f)) {
      const Elements there(before, *f), here(wanted, *f);
      for (size_t k = 0; k < now.items[i].keys.size(); ++k) {
        const std::string& key = now.items[i].keys[k];
        const Value* of_element = other->Find(key);
        const auto was = there.Find(key), is = here.Find(key);
        if (of_element == nullptr || !was || !is) continue;
        Differences(now.items[i].items[k], *of_element, &before->items[*was], &wanted->items[*is], *f->type,
                    absl::StrCat(path, "[", KeyText(key), "]"), out);
      }
    } else if (f->shape == Shape::kMap && !IsAtomic(*f)) {
      for (const std::string& key : now.items[i].keys) {
        const std::string member = key.substr(2);
        if (other->Find(key) == nullptr || text(MemberOf(before, member)) == text(MemberOf(wanted, member))) continue;
        out->push_back(absl::StrCat(path, ".", member));
      }
    } else if (f->shape == Shape::kOne && !IsAtomic(*f)) {
      Differences(now.items[i], *other, before, wanted, *f->type, path, out);
    } else if (!IsSet(*f) && text(before) != text(wanted)) {
      out->push_back(path);
    }
  }
}

bool IsApplyOf(const Value& entry, const ApplyRequest& how) {
  return entry.Str("operation") == "Apply" && entry.Str("manager") == how.manager &&
         entry.Str("subresource") == how.subresource;
}

Value EntryOf(const ApplyRequest& how, Value fields) {
  Value entry = Value::Object({{"manager", how.manager},
                               {"operation", "Apply"},
                               {"apiVersion", how.api_version},
                               {"time", how.time},
                               {"fieldsType", "FieldsV1"}});
  entry.Set("fieldsV1", std::move(fields));
  if (!how.subresource.empty()) entry.Set("subresource", Value::String(how.subresource));
  return entry;
}

// Takes fields with other values from the sets of other managers.
void TakeOver(const Value& mine, Value* theirs) {
  for (size_t i = 0; i < mine.keys.size(); ++i) {
    Value* inner = theirs->Find(mine.keys[i]);
    if (inner == nullptr) continue;
    if (!mine.items[i].keys.empty() && !inner->keys.empty()) TakeOver(mine.items[i], inner);
    if (inner->keys.empty() || (inner->keys.size() == 1 && inner->keys[0] == ".")) theirs->Erase(mine.keys[i]);
  }
}

}  // namespace

Value FieldsOf(const Value& applied, const TypeDef& type) {
  return Fields(applied, type, false);
}

std::variant<Value, std::vector<ApplyConflict>> Apply(const Value* live, const Value& applied, const TypeDef& type,
                                                      const ApplyRequest& how) {
  const Value mine = FieldsOf(applied, type);
  Value object = live == nullptr ? applied : *live;
  Value entries = Value::Array();
  std::vector<ApplyConflict> conflicts;
  Value before = Value::Object();
  std::string time = how.time;
  const Value* managed = live == nullptr ? nullptr : live->At({"metadata", "managedFields"});
  for (const Value& e : validation::OrEmpty(managed).items) {
    const Value* theirs = e.Find("fieldsV1");
    if (IsApplyOf(e, how)) {
      if (theirs != nullptr) before = *theirs;
      time = e.Str("time");
      continue;
    }
    Value entry = e;
    std::vector<std::string> paths;
    if (e.Str("operation") == "Apply" && theirs != nullptr) {
      Differences(mine, *theirs, live, &applied, type, "", &paths);
      if (how.force && !paths.empty()) TakeOver(mine, entry.Find("fieldsV1"));
    }
    for (std::string& p : paths) {
      conflicts.push_back({std::string(e.Str("manager")), std::move(p)});
    }
    entries.Append(std::move(entry));
  }
  if (!conflicts.empty() && !how.force) return conflicts;
  if (live != nullptr) {
    Sets kept = {&mine};
    for (const Value& e : entries.items) {
      if (const Value* theirs = e.Find("fieldsV1")) kept.push_back(theirs);
    }
    Remove(before, kept, type, &object);
    Merge(applied, type, false, &object);
  }
  // What changes nothing is no event, so it must not change the time either.
  ApplyRequest now = how;
  if (live != nullptr && object == *live && before == mine) now.time = time;
  entries.Append(EntryOf(now, mine));
  object.Child("metadata").Set("managedFields", std::move(entries));
  return object;
}

std::string ConflictText(const std::vector<ApplyConflict>& conflicts) {
  std::string out =
      absl::StrCat("Apply failed with ", conflicts.size(), conflicts.size() == 1 ? " conflict: " : " conflicts: ");
  std::string_view manager;
  for (size_t i = 0; i < conflicts.size(); ++i) {
    const ApplyConflict& c = conflicts[i];
    if (conflicts.size() == 1) {
      return absl::StrCat(out, "conflict with ", util::GoQuoted(c.manager), ": ", c.path);
    }
    if (i == 0 || c.manager != manager) {
      absl::StrAppend(&out, i == 0 ? "" : "\n", "conflicts with ", util::GoQuoted(c.manager), ":");
    }
    absl::StrAppend(&out, "\n- ", c.path);
    manager = c.manager;
  }
  return out;
}

}  // namespace berth::apiserver
