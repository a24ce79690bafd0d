// Patches are applied to plain values, without knowledge of the object's type except for strategic merges, where the
// type says by which key list elements are merged. Lists are indexed by their merge keys before they are merged, so
// that a large patch of a large list takes linear time.
#include "pkg/apiserver/patch.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

// ---- JSON Patch ---------------------------------------------------------------------------------

// Kubernetes' limits: a patch has at most this many operations, and its copies add at most this many bytes.
constexpr size_t kMostOperations = 10'000;
constexpr size_t kMostCopiedBytes = size_t{3} * 1024 * 1024;
// The most values that all operations of a patch together may examine or move; an insertion at the front of a list
// moves the whole list. Patches of real programs stay far below.
constexpr size_t kMostWork = 20'000'000;

// Returns how many values `v` consists of, including itself.
size_t Count(const Value& v) {
  size_t n = 1;
  for (const Value& e : v.items) n += Count(e);
  return n;
}

// The work that the operations of one patch have done so far.
class Budget {
 public:
  absl::Status Work(size_t values) {
    work_ += values;
    if (work_ <= kMostWork) return absl::OkStatus();
    return util::InvalidArgument(
        absl::StrCat("The JSON patch is too much work: its operations touch more than ", kMostWork, " values"));
  }
  absl::Status Copy(const Value& v) {
    copied_ += ToJson(v).size();
    if (copied_ > kMostCopiedBytes) {
      return util::InvalidArgument(
          absl::StrCat("Unable to complete the copy, the accumulated size increase of copy is ", copied_,
                       ", exceeding the limit ", kMostCopiedBytes));
    }
    return Work(Count(v));
  }

 private:
  size_t work_ = 0, copied_ = 0;
};

std::vector<std::string> PointerParts(std::string_view pointer) {
  std::vector<std::string> parts;
  if (!pointer.starts_with('/')) return parts;
  pointer.remove_prefix(1);
  for (;;) {
    size_t slash = pointer.find('/');
    std::string part;
    std::string_view raw = pointer.substr(0, slash);
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] == '~' && i + 1 < raw.size() && (raw[i + 1] == '0' || raw[i + 1] == '1')) {
        part.push_back(raw[++i] == '0' ? '~' : '/');
      } else {
        part.push_back(raw[i]);
      }
    }
    parts.push_back(std::move(part));
    if (slash == std::string_view::npos) return parts;
    pointer.remove_prefix(slash + 1);
  }
}

bool Index(std::string_view part, size_t size, size_t* index) {
  if (part == "-") {
    *index = size;
    return true;
  }
  auto r = std::from_chars(part.data(), part.data() + part.size(), *index);
  return r.ec == std::errc() && r.ptr == part.data() + part.size();
}

// Returns the container of the path's last part, or nullptr if it does not exist.
Value* Container(Value* root, const std::vector<std::string>& parts) {
  Value* at = root;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (at->IsObject()) {
      at = at->Find(parts[i]);
    } else if (size_t k = 0; at->IsArray() && Index(parts[i], at->items.size(), &k) && k < at->items.size()) {
      at = &at->items[k];
    } else {
      at = nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at->IsObject() || at->IsArray() ? at : nullptr;
}

const Value* Lookup(Value* root, std::string_view pointer) {
  auto parts = PointerParts(pointer);
  if (parts.empty()) return root;
  Value* c = Container(root, parts);
  if (c == nullptr) return nullptr;
  if (c->IsObject()) return c->Find(parts.back());
  size_t k = 0;
  return Index(parts.back(), c->items.size(), &k) && k < c->items.size() ? &c->items[k] : nullptr;
}

absl::Status PatchAdd(Value* root, const std::string& pointer, Value v, Budget* budget) {
  auto parts = PointerParts(pointer);
  if (parts.empty()) {
    *root = std::move(v);
    return absl::OkStatus();
  }
  Value* c = Container(root, parts);
  if (c == nullptr)
    return util::InvalidArgument(
        absl::StrCat("jsonpatch add operation does not apply: doc is missing path: ", pointer));
  if (c->IsObject()) {
    c->Set(parts.back(), std::move(v));
    return absl::OkStatus();
  }
  size_t k = 0;
  if (!Index(parts.back(), c->items.size(), &k) || k > c->items.size())
    return util::InvalidArgument(absl::StrCat("Unable to access invalid index: ", parts.back()));
  BERTH_RETURN_IF_ERROR(budget->Work(c->items.size() - k));
  c->items.insert(c->items.begin() + static_cast<ptrdiff_t>(k), std::move(v));
  return absl::OkStatus();
}

absl::Status PatchRemove(Value* root, const std::string& pointer, Budget* budget) {
  auto parts = PointerParts(pointer);
  Value* c = parts.empty() ? nullptr : Container(root, parts);
  if (c == nullptr)
    return util::InvalidArgument(
        absl::StrCat("jsonpatch remove operation does not apply: doc is missing path: ", pointer));
  BERTH_RETURN_IF_ERROR(budget->Work(c->items.size()));
  if (c->IsObject()) {
    if (c->Find(parts.back()) == nullptr)
      return util::InvalidArgument(absl::StrCat("Unable to remove nonexistent key: ", parts.back()));
    c->Erase(parts.back());
    return absl::OkStatus();
  }
  size_t k = 0;
  if (!Index(parts.back(), c->items.size(), &k) || k >= c->items.size())
    return util::InvalidArgument(absl::StrCat("Unable to remove invalid index: ", parts.back()));
  c->items.erase(c->items.begin() + static_cast<ptrdiff_t>(k));
  return absl::OkStatus();
}

absl::Status PatchReplace(Value* root, const std::string& pointer, Value v) {
  if (PointerParts(pointer).empty()) {
    return util::InvalidArgument(
        absl::StrCat("jsonpatch replace operation does not apply: doc is missing path: ", pointer));
  }
  const Value* old = Lookup(root, pointer);
  if (old == nullptr) {
    return util::InvalidArgument(
        absl::StrCat("jsonpatch replace operation does not apply: doc is missing key: ", pointer));
  }
  *const_cast<Value*>(old) = std::move(v);  // `root` is not const itself
  return absl::OkStatus();
}

// Applies one operation of a JSON Patch.
absl::Status ApplyOperation(Value* object, const Value& op, Budget* budget) {
  std::string kind(op.Str("op")), path(op.Str("path")), from(op.Str("from"));
  const Value* value = op.Find("value");
  if (kind == "add") return PatchAdd(object, path, value == nullptr ? Value() : *value, budget);
  if (kind == "remove") return PatchRemove(object, path, budget);
  if (kind == "replace") return PatchReplace(object, path, value == nullptr ? Value() : *value);
  if (kind == "move" || kind == "copy") {
    const Value* source = Lookup(object, from);
    if (source == nullptr) {
      return util::InvalidArgument(
          absl::StrCat("jsonpatch ", kind, " operation does not apply: doc is missing from path: ", from));
    }
    BERTH_RETURN_IF_ERROR(kind == "copy" ? budget->Copy(*source) : budget->Work(Count(*source)));
    Value copy = *source;
    if (kind == "move") BERTH_RETURN_IF_ERROR(PatchRemove(object, from, budget));
    return PatchAdd(object, path, std::move(copy), budget);
  }
  if (kind == "test") {
    const Value* found = Lookup(object, path);
    if (value != nullptr) BERTH_RETURN_IF_ERROR(budget->Work(Count(*value)));
    bool same = found == nullptr ? value == nullptr || value->IsNull() : value != nullptr && *found == *value;
    return same ? absl::OkStatus() : util::InvalidArgument(absl::StrCat("Testing value ", path, " failed"));
  }
  return util::InvalidArgument(absl::StrCat("Unexpected kind: ", kind));
}

// ---- strategic merge ----------------------------------------------------------------------------

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

// Returns a value of a patch in the form in which it is stored: without directives and nulls.
Value Cleaned(const Value& v) {
  if (v.IsArray()) {
    Value out = Value::Array();
    for (const Value& e : v.items) {
      if (e.IsObject() && e.Str(kDirective) == "delete") continue;
      if (e.IsObject() && e.Str(kDirective) == "replace" && e.keys.size() == 1) continue;
      out.Append(Cleaned(e));
    }
    return out;
  }
  if (!v.IsObject()) return v;
  Value out = Value::Object();
  for (size_t i = 0; i < v.keys.size(); ++i) {
    if (v.keys[i].starts_with('$') || v.items[i].IsNull()) continue;
    out.Set(v.keys[i], Cleaned(v.items[i]));
  }
  return out;
}

// Returns the members that a patch removes. If a name occurs several times, the last one is used.
absl::flat_hash_set<std::string> NullKeys(const Value& patch) {
  absl::flat_hash_set<std::string> out;
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    if (patch.items[i].IsNull() && patch.Find(patch.keys[i]) == &patch.items[i]) out.insert(patch.keys[i]);
  }
  return out;
}

// Returns the text of the member that identifies a list element; nullptr if the element has none.
const std::string* MergeKey(const Value& element, std::string_view key) {
  const Value* v = element.Find(key);
  return v == nullptr ? nullptr : &v->text();
}

using Places = absl::flat_hash_map<std::string, size_t>;

// Returns the positions of the elements of a list by merge key. If a key occurs several times, the first one is used.
Places PlacesOf(const Value& list, std::string_view key) {
  Places out;
  out.reserve(list.items.size());
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (const std::string* k = MergeKey(list.items[i], key)) out.emplace(*k, i);
  }
  return out;
}

// Sorts the elements that `order` names into its order. The others follow them in their old order.
void SortBy(const Value& order, std::string_view key, Value* list) {
  Places rank = PlacesOf(order, key);
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const std::string* k = MergeKey(list->items[i], key);
    auto it = k == nullptr ? rank.end() : rank.find(*k);
    places.emplace_back(it == rank.end() ? order.items.size() : it->second, i);
  }
  std::sort(places.begin(), places.end());
  std::vector<Value> sorted;
  sorted.reserve(places.size());
  for (auto [_, i] : places) sorted.push_back(std::move(list->items[i]));
  list->items = std::move(sorted);
}

absl::Status MergeList(Value* list, const Value& patch, const FieldDef& f, const Value* order) {
  bool replace = std::any_of(patch.items.begin(), patch.items.end(), [](const Value& e) {
    return e.IsObject() && e.Str(kDirective) == "replace" && e.keys.size() == 1;
  });
  if (replace || !list->IsArray()) {
    *list = Cleaned(patch);
    return absl::OkStatus();
  }
  Places places = PlacesOf(*list, f.merge_key);
  std::vector<bool> gone(list->items.size());
  for (const Value& e : patch.items) {
    if (!e.IsObject() || e.Find(f.merge_key) == nullptr) {
      return util::InvalidArgument(
          absl::StrCat("map: ", ToSortedJson(e), " does not contain declared merge key: ", f.merge_key));
    }
    const std::string& key = *MergeKey(e, f.merge_key);
    auto same = places.find(key);
    if (e.Str(kDirective) == "delete") {
      if (same == places.end()) continue;
      gone[same->second] = true;
      places.erase(same);
    } else if (same == places.end()) {
      places.emplace(key, list->items.size());
      list->Append(Cleaned(e));
      gone.push_back(false);
    } else {
      BERTH_RETURN_IF_ERROR(StrategicMerge(&list->items[same->second], e, f.type));
    }
  }
  size_t at = 0;
  list->items.EraseIf([&](const Value&) { return gone[at++]; });
  if (order != nullptr && order->IsArray()) SortBy(*order, f.merge_key, list);
  return absl::OkStatus();
}

// Returns the members of a set of plain values as JSON texts, which distinguish strings from numbers.
absl::flat_hash_set<std::string> TextsOf(const Value& list) {
  absl::flat_hash_set<std::string> out;
  for (const Value& e : list.items) out.insert(ToJson(e));
  return out;
}

// Appends those values of the patch that the list does not contain.
void MergeSet(const Value& patch, Value* list) {
  absl::flat_hash_set<std::string> have = TextsOf(*list);
  for (const Value& e : patch.items) {
    if (have.insert(ToJson(e)).second) list->Append(e);
  }
}

}  // namespace

absl::Status ApplyJsonPatch(Value* object, const Value& operations) {
  if (!operations.IsArray()) {
    return util::InvalidArgument("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  }
  if (operations.items.size() > kMostOperations) {
    return util::InvalidArgument(absl::StrCat("The allowed maximum operations in a JSON patch is ", kMostOperations,
                                              ", got ", operations.items.size()));
  }
  Budget budget;
  for (const Value& op : operations.items) BERTH_RETURN_IF_ERROR(ApplyOperation(object, op, &budget));
  return absl::OkStatus();
}

void MergePatch(Value* object, const Value& patch) {
  if (!patch.IsObject()) {
    *object = patch;
    return;
  }
  if (!object->IsObject()) *object = Value::Object();
  object->EraseAll(NullKeys(patch));
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    const Value& p = patch.items[i];
    if (p.IsNull() || patch.Find(patch.keys[i]) != &p) continue;
    if (p.IsObject()) {
      MergePatch(&object->Child(patch.keys[i]), p);
    } else {
      object->Set(patch.keys[i], p);
    }
  }
}

absl::Status StrategicMerge(Value* object, const Value& patch, const TypeDef* type) {
  std::string_view directive = patch.Str(kDirective);
  if (directive == "replace") {
    *object = Cleaned(patch);
    return absl::OkStatus();
  }
  if (directive == "delete") {
    *object = Value::Object();
    return absl::OkStatus();
  }
  if (!directive.empty() && directive != "merge") {
    return util::InvalidArgument(absl::StrCat("Unknown patch type: ", std::string(directive)));
  }
  if (!object->IsObject()) *object = Value::Object();
  if (const Value* retain = patch.Find(kRetainKeys); retain != nullptr && retain->IsArray()) {
    absl::flat_hash_set<std::string> kept, gone;
    for (const Value& k : retain->items) kept.insert(k.text());
    for (const std::string& key : object->keys) {
      if (!kept.contains(key)) gone.insert(key);
    }
    object->EraseAll(gone);
  }
  object->EraseAll(NullKeys(patch));
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    const std::string& key = patch.keys[i];
    const Value& p = patch.items[i];
    if (key.starts_with(kDeleteFromList)) {
      Value* list = object->Find(key.substr(kDeleteFromList.size()));
      if (list == nullptr) continue;
      absl::flat_hash_set<std::string> gone = TextsOf(p);
      list->items.EraseIf([&](const Value& e) { return gone.contains(ToJson(e)); });
      continue;
    }
    if (key.starts_with('$') || p.IsNull() || patch.Find(key) != &p) continue;
    const FieldDef* f = type == nullptr ? nullptr : type->Find(key);
    if (p.IsObject()) {
      bool typed = f != nullptr && f->kind == FieldDef::Kind::kStruct && f->shape == FieldDef::Shape::kOne;
      BERTH_RETURN_IF_ERROR(StrategicMerge(&object->Child(key), p, typed ? f->type : nullptr));
    } else if (p.IsArray() && f != nullptr && f->shape == FieldDef::Shape::kList && !f->merge_key.empty()) {
      Value* list = object->Find(key);
      if (list == nullptr) list = &object->Set(key, Value::Array());
      BERTH_RETURN_IF_ERROR(MergeList(list, p, *f, patch.Find(absl::StrCat(std::string(kOrder), key))));
    } else if (p.IsArray() && f != nullptr && f->merge_primitives) {
      Value* list = object->Find(key);
      if (list == nullptr) list = &object->Set(key, Value::Array());
      MergeSet(p, list);
    } else {
      object->Set(key, Cleaned(p));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> ApplyPatch(PatchKind kind, const Value& object, std::string_view patch, const TypeDef& type) {
  auto parsed = ParseJson(patch);
  if (!parsed.ok()) {
    if (kind == PatchKind::kMerge) return util::InvalidArgument("Invalid JSON Patch");
    return parsed.status();
  }
  Value out = object;
  switch (kind) {
    case PatchKind::kJson:
      BERTH_RETURN_IF_ERROR(ApplyJsonPatch(&out, *parsed));
      break;
    case PatchKind::kMerge:
      MergePatch(&out, *parsed);
      break;
    case PatchKind::kStrategic:
      if (!parsed->IsObject()) {
        return util::InvalidArgument(absl::StrCat("json: cannot unmarshal ", parsed->IsArray() ? "array" : "value",
                                                  " into Go value of type map[string]interface {}"));
      }
      BERTH_RETURN_IF_ERROR(StrategicMerge(&out, *parsed, &type));
      break;
  }
  return out;
}

}  // namespace berth::apiserver
