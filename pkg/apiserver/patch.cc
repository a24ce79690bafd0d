#include "pkg/apiserver/patch.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>

#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

// ---- JSON Patch ---------------------------------------------------------------------------------

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

// The container of the last part, nullptr when the way to it does not exist.
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

absl::Status PatchAdd(Value* root, const std::string& pointer, Value v) {
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
  c->items.insert(c->items.begin() + static_cast<ptrdiff_t>(k), std::move(v));
  return absl::OkStatus();
}

absl::Status PatchRemove(Value* root, const std::string& pointer) {
  auto parts = PointerParts(pointer);
  Value* c = parts.empty() ? nullptr : Container(root, parts);
  if (c == nullptr)
    return util::InvalidArgument(
        absl::StrCat("jsonpatch remove operation does not apply: doc is missing path: ", pointer));
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

// ---- strategic merge ----------------------------------------------------------------------------

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

// An object of a patch as it is stored: directives removed, nulls dropped.
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

bool SameKey(const Value& a, const Value& b, std::string_view key) {
  const Value* x = a.Find(key);
  const Value* y = b.Find(key);
  return x != nullptr && y != nullptr && x->text() == y->text();
}

absl::Status MergeList(Value* list, const Value& patch, const FieldDef& f, const Value* order) {
  bool replace = std::any_of(patch.items.begin(), patch.items.end(), [](const Value& e) {
    return e.IsObject() && e.Str(kDirective) == "replace" && e.keys.size() == 1;
  });
  if (replace || !list->IsArray()) {
    *list = Cleaned(patch);
    return absl::OkStatus();
  }
  for (const Value& e : patch.items) {
    if (!e.IsObject() || e.Find(f.merge_key) == nullptr) {
      return util::InvalidArgument(
          absl::StrCat("map: ", ToSortedJson(e), " does not contain declared merge key: ", f.merge_key));
    }
    auto same = std::find_if(list->items.begin(), list->items.end(),
                             [&](const Value& old) { return SameKey(old, e, f.merge_key); });
    if (e.Str(kDirective) == "delete") {
      if (same != list->items.end()) list->items.erase(same);
    } else if (same == list->items.end()) {
      list->Append(Cleaned(e));
    } else {
      BERTH_RETURN_IF_ERROR(StrategicMerge(&*same, e, f.type));
    }
  }
  if (order != nullptr && order->IsArray()) {
    // Elements that the order names come in that order; the others keep their places behind those they followed.
    auto rank = [&](const Value& v) {
      for (size_t i = 0; i < order->items.size(); ++i) {
        if (SameKey(order->items[i], v, f.merge_key)) return i;
      }
      return order->items.size();
    };
    std::stable_sort(list->items.begin(), list->items.end(),
                     [&](const Value& a, const Value& b) { return rank(a) < rank(b); });
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyJsonPatch(Value* object, const Value& operations) {
  if (!operations.IsArray()) {
    return util::InvalidArgument("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  }
  for (const Value& op : operations.items) {
    std::string kind(op.Str("op")), path(op.Str("path")), from(op.Str("from"));
    const Value* value = op.Find("value");
    absl::Status done;
    if (kind == "add") {
      done = PatchAdd(object, path, value == nullptr ? Value() : *value);
    } else if (kind == "remove") {
      done = PatchRemove(object, path);
    } else if (kind == "replace") {
      if (Lookup(object, path) == nullptr) {
        done = util::InvalidArgument(
            absl::StrCat("jsonpatch replace operation does not apply: doc is missing key: ", path));
      } else {
        done = PatchRemove(object, path);
        if (done.ok()) done = PatchAdd(object, path, value == nullptr ? Value() : *value);
      }
    } else if (kind == "move" || kind == "copy") {
      const Value* source = Lookup(object, from);
      if (source == nullptr) {
        done = util::InvalidArgument(
            absl::StrCat("jsonpatch ", kind, " operation does not apply: doc is missing from path: ", from));
      } else {
        Value copy = *source;
        if (kind == "move") done = PatchRemove(object, from);
        if (done.ok()) done = PatchAdd(object, path, std::move(copy));
      }
    } else if (kind == "test") {
      const Value* found = Lookup(object, path);
      bool same = found == nullptr ? value == nullptr || value->IsNull() : value != nullptr && *found == *value;
      if (!same) done = util::InvalidArgument(absl::StrCat("Testing value ", path, " failed"));
    } else {
      done = util::InvalidArgument(absl::StrCat("Unexpected kind: ", kind));
    }
    if (!done.ok()) return done;
  }
  return absl::OkStatus();
}

void MergePatch(Value* object, const Value& patch) {
  if (!patch.IsObject()) {
    *object = patch;
    return;
  }
  if (!object->IsObject()) *object = Value::Object();
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    const Value& p = patch.items[i];
    if (p.IsNull()) {
      object->Erase(patch.keys[i]);
    } else if (p.IsObject()) {
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
    std::vector<std::string> gone;
    for (const std::string& key : object->keys) {
      if (std::none_of(retain->items.begin(), retain->items.end(), [&](const Value& k) { return k.text() == key; }))
        gone.push_back(key);
    }
    for (const std::string& key : gone) object->Erase(key);
  }
  for (size_t i = 0; i < patch.keys.size(); ++i) {
    const std::string& key = patch.keys[i];
    const Value& p = patch.items[i];
    if (key.starts_with(kDeleteFromList)) {
      Value* list = object->Find(key.substr(kDeleteFromList.size()));
      if (list == nullptr) continue;
      for (const Value& gone : p.items) std::erase(list->items, gone);
      continue;
    }
    if (key.starts_with('$')) continue;
    if (p.IsNull()) {
      object->Erase(key);
      continue;
    }
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
      for (const Value& e : p.items) {
        if (std::find(list->items.begin(), list->items.end(), e) == list->items.end()) list->Append(e);
      }
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
