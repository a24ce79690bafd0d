// An object's text is made once and sent many times. selfLink and resourceVersion are the only parts that differ
// between versions or change without the rest of the object, so their positions are remembered and they are replaced in
// place.
#include "pkg/store/object.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/store/other_version.h"
#include "pkg/util/contract.h"

namespace berth::apiserver {
namespace {

// Returns the field at a path like "spec.nodeName" in the form in which field selectors compare it.
std::string FieldText(const Value& v, std::string_view path) {
  const Value* at = &v;
  while (at != nullptr && !path.empty()) {
    size_t dot = path.find('.');
    at = at->Find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  if (at == nullptr || at->IsNull()) return {};
  if (at->IsBool()) return at->AsBool() ? "true" : "false";
  return at->text();
}

void Locate(const Object& o, std::string_view member, uint32_t* begin, uint32_t* end) {
  std::string open = absl::StrCat("\"", std::string(member), "\":\"");
  size_t at = o.text.find(open);
  if (at == std::string::npos) return;
  *begin = static_cast<uint32_t>(at + open.size());
  *end = static_cast<uint32_t>(o.text.find('"', *begin));
}

// Of who wrote which field, only what was applied is kept (apply.h).
void KeepApplied(Value* meta) {
  Value* managed = meta->Find("managedFields");
  if (managed == nullptr) return;
  managed->items.EraseIf([](const Value& e) { return e.Str("operation") != "Apply"; });
  if (managed->items.empty()) meta->Erase("managedFields");
}

// Writes what only the server says of an object.
void CompleteMeta(const ResourceInfo& r, uint64_t rv, Value* meta) {
  if (validation::kSelfLinks.Has(r.release)) {
    const std::string ns(r.namespaced ? meta->Str("namespace") : std::string_view());
    meta->Set("selfLink", Value::String(SelfLink(r, 0, ns, meta->Str("name"))));
  } else {
    meta->Erase("selfLink");
  }
  KeepApplied(meta);
  if (rv > 0) {
    meta->Set("resourceVersion", Value::String(std::to_string(rv)));
  } else {
    meta->Erase("resourceVersion");
  }
}

// Returns the text of an indexed field.
std::string IndexedText(const Value& v, const std::string& path) {
  std::string text = FieldText(v, path);
  return text.empty() && path == "spec.unschedulable" ? "false" : text;
}

// Returns whether two versions of an object have the same labels and indexed fields.
bool HasSymbolsOf(const Object& like, const ResourceInfo& r, const Value& v) {
  if (like.of_value != &r) return false;
  const Value* const labels = v.At({"metadata", "labels"});
  const Value* const had = like.kept_value->At({"metadata", "labels"});
  if (labels != had && (labels == nullptr || had == nullptr || !(*labels == *had))) return false;
  for (size_t i = 0; i < like.fields.size(); ++i) {
    if (IndexedText(v, r.indexed_fields[i]) != like.fields[i].str()) return false;
  }
  return true;
}

// Returns an object with what the store knows of it without its text. `like`: an earlier version of it, or null.
std::shared_ptr<Object> Describe(const ResourceInfo& r, const Value& v, uint64_t rv, const Object* like = nullptr) {
  auto o = std::make_shared<Object>();
  const Value& meta = *v.Find("metadata");
  o->name = meta.Str("name");
  o->ns = r.namespaced ? std::string(meta.Str("namespace")) : std::string();
  o->uid = meta.Str("uid");
  o->rv = rv;
  if (like != nullptr && HasSymbolsOf(*like, r, v)) {
    o->labels = like->labels;
    o->fields = like->fields;
    o->texts = like->texts;
    return o;
  }
  util::SymbolKeeper keeper;
  if (const Value* labels = meta.Find("labels")) {
    std::vector<std::pair<util::Symbol, util::Symbol>> pairs;
    for (size_t i = 0; i < labels->keys.size(); ++i) {
      pairs.emplace_back(keeper.Intern(labels->keys[i]), keeper.Intern(labels->items[i].text()));
    }
    o->labels = api::Labels(std::move(pairs));
  }
  o->fields.reserve(r.indexed_fields.size());
  for (const std::string& path : r.indexed_fields) {
    o->fields.push_back(keeper.Intern(IndexedText(v, path)));
  }
  o->texts = keeper.Take();
  return o;
}

std::shared_ptr<Object> Begin(const ResourceInfo& r, Value& v, uint64_t rv) {
  CompleteMeta(r, rv, &v.Child("metadata"));
  return Describe(r, v, rv);
}

void Finish(const Object& o) {
  Locate(o, "selfLink", &o.self_begin, &o.self_end);
  Locate(o, "resourceVersion", &o.rv_begin, &o.rv_end);
}

// StatefulSets of apps/v1beta1 have status.observedGeneration even when it is zero.
std::string_view kStatusWithoutGeneration = ",\"status\":{\"replicas\":";

void AppendBody(const ResourceInfo& r, size_t version, const Object& o, std::string_view subresource,
                std::string* out) {
  if (version > 0 && r.other_type != nullptr) {
    auto stored = ParseJson("{" + o.body());
    CHECK(stored.ok()) << "stored object " << o.Key() << " is not JSON: " << stored.status();
    std::string text;
    Encode(ToOtherVersion(r, *stored), *r.other_type, &text);
    out->append(text, 1);
    return;
  }
  if (o.text.empty() && o.of_value == &r && version == o.value_version && subresource.empty()) {
    std::string text;
    Encode(*o.kept_value, *r.type, &text);
    out->append(text, 1);
    return;
  }
  std::string_view body = o.body();
  size_t from = 0;
  if ((version != 0 || !subresource.empty()) && o.self_end > o.self_begin) {
    out->append(body.substr(0, o.self_begin));
    out->append(SelfLink(r, version, o.ns, o.name)).append(subresource);
    from = o.self_end;
  }
  if (r.kind == "StatefulSet" && r.versions[version].version == "v1beta1") {
    size_t at = body.rfind(kStatusWithoutGeneration);
    if (at != std::string_view::npos) {
      out->append(body.substr(from, at - from)).append(",\"status\":{\"observedGeneration\":0,\"replicas\":");
      from = at + kStatusWithoutGeneration.size();
    }
  }
  out->append(body.substr(from));
}

}  // namespace

std::string SelfLink(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name) {
  std::string link = r.versions[version].Path();
  if (r.namespaced && !ns.empty()) link.append("/namespaces/").append(ns);
  link.append("/").append(r.resource);
  if (!name.empty()) link.append("/").append(name);
  return link;
}

size_t StableVersionOf(const ResourceInfo& r) {
  for (size_t i = 0; i < r.versions.size(); ++i) {
    if (r.versions[i].version == "v1" && r.versions[i].group != "extensions") return i;
  }
  return 0;
}

ObjectPtr MakeObject(const ResourceInfo& r, Value& v, uint64_t rv) {
  auto o = Begin(r, v, rv);
  std::string text;
  text.reserve(1024);
  Encode(v, *r.type, &text);
  o->text = text.substr(1);
  Finish(*o);
  return o;
}

ObjectPtr MakeVerbatimObject(const ResourceInfo& r, Value& v, uint64_t rv) {
  auto o = Begin(r, v, rv);
  Value* meta = v.Find("metadata");
  // The identity comes first, so that it is found near the beginning of the text.
  Value ordered = Value::Object();
  for (std::string_view key : {"name", "namespace", "selfLink", "uid", "resourceVersion"}) {
    if (Value* m = meta->Find(key)) ordered.Set(key, std::move(*m));
  }
  for (size_t i = 0; i < meta->keys.size(); ++i) {
    if (ordered.Find(meta->keys[i]) == nullptr) ordered.Set(meta->keys[i], std::move(meta->items[i]));
  }
  o->text = "\"metadata\":";
  AppendJson(ordered, &o->text);
  api::JsonWriter j(&o->text);
  for (size_t i = 0; i < v.keys.size(); ++i) {
    const std::string& key = v.keys[i];
    if (key != "metadata" && key != "kind" && key != "apiVersion") AppendJson(v.items[i], j.Key(key).Place());
  }
  o->text.push_back('}');
  o->text.shrink_to_fit();
  Finish(*o);
  return o;
}

bool HasStoredText(const ResourceInfo& r, size_t version) {
  if (r.kind == "StatefulSet" && r.versions[version].version == "v1beta1") return false;
  return version == 0 || (r.other_type == nullptr && !validation::kSelfLinks.Has(r.release));
}

Value NormalValue(const ResourceInfo& r, size_t version, Value v, uint64_t rv) {
  BERTH_REQUIRES(HasStoredText(r, version));
  CompleteMeta(r, rv, &v.Child("metadata"));
  validation::Normalize(*r.type, &v);
  v.keys.insert(std::as_const(v.keys).begin(), {"kind", "apiVersion"});
  v.items.insert(std::as_const(v.items).begin(), {Value::String(r.kind), Value::String(r.versions[version].Text())});
  return v;
}

ObjectPtr MakeObjectOf(const ResourceInfo& r, size_t version, Value normal, uint64_t rv, const Object* like) {
  const std::string text = std::to_string(rv);
  if (const Value& meta = *std::as_const(normal).Find("metadata"); meta.Str("resourceVersion") != text) {
    normal.Find("metadata")->Set("resourceVersion", Value::String(text));
  }
  normal.Freeze();
  auto o = Describe(r, normal, rv, like);
  o->kept_value = std::make_shared<const Value>(std::move(normal));
  o->value = o->kept_value;
  o->value_version = version;
  o->of_value = &r;
  BERTH_REQUIRES(validation::ToJson(*o->kept_value) == validation::ToJson(ToValue(r, version, *o)));
  return o;
}

const std::string& Object::body() const {
  if (!text.empty() || of_value == nullptr) return text;
  std::string whole;
  whole.reserve(1024);
  Encode(*kept_value, *of_value->type, &whole);
  text = whole.substr(1);
  Finish(*this);
  return text;
}

// The new version may have more digits than the old one, so positions after it move.
ObjectPtr WithResourceVersion(const Object& o, uint64_t rv) {
  if (o.of_value != nullptr) return MakeObjectOf(*o.of_value, o.value_version, *o.kept_value, rv, &o);
  auto copy = std::make_shared<Object>(o);
  copy->added_frames.clear();
  copy->value.reset();
  copy->kept_value.reset();
  copy->rv = rv;
  std::string text = std::to_string(rv);
  copy->text.replace(o.rv_begin, o.rv_end - o.rv_begin, text);
  auto shift = static_cast<uint32_t>(text.size()) - (o.rv_end - o.rv_begin);
  copy->rv_end = o.rv_begin + static_cast<uint32_t>(text.size());
  if (o.self_begin > o.rv_begin) {
    copy->self_begin += shift;
    copy->self_end += shift;
  }
  return copy;
}

void AppendObject(const ResourceInfo& r, size_t version, const Object& o, std::string_view subresource,
                  std::string* out) {
  out->append("{\"kind\":\"").append(r.kind).append("\",\"apiVersion\":\"");
  out->append(r.versions[version].Text()).append("\",");
  AppendBody(r, version, o, subresource, out);
}

void AppendItem(const ResourceInfo& r, size_t version, const Object& o, std::string* out) {
  out->push_back('{');
  AppendBody(r, version, o, "", out);
}

std::string EncodeTyped(std::string_view kind, std::string_view api_version, const Value& v, const TypeDef& type) {
  std::string body;
  Encode(v, type, &body);
  return api::JsonWriter().Object().Member("kind", kind).Member("apiVersion", api_version).MembersOf(body).End().Take();
}

Value ToValue(const ResourceInfo& r, size_t version, const Object& o) {
  std::string text;
  AppendObject(r, version, o, "", &text);
  auto v = ParseJson(text);
  CHECK(v.ok()) << "stored object " << o.Key() << " is not JSON: " << v.status();
  return *std::move(v);
}

}  // namespace berth::apiserver
