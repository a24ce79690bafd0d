// An object's text is made once and sent many times. selfLink and resourceVersion are the only parts that differ
// between versions or change without the rest of the object, so their positions are remembered and they are replaced in
// place.
#include "pkg/store/object.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include "pkg/api/json.h"
#include "pkg/store/other_version.h"

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

void Locate(Object* o, std::string_view member, uint32_t* begin, uint32_t* end) {
  std::string open = absl::StrCat("\"", std::string(member), "\":\"");
  size_t at = o->body.find(open);
  if (at == std::string::npos) return;
  *begin = static_cast<uint32_t>(at + open.size());
  *end = static_cast<uint32_t>(o->body.find('"', *begin));
}

// Of who wrote which field, only what was applied is kept (apply.h).
void KeepApplied(Value* meta) {
  Value* managed = meta->Find("managedFields");
  if (managed == nullptr) return;
  std::erase_if(managed->items, [](const Value& e) { return e.Str("operation") != "Apply"; });
  if (managed->items.empty()) meta->Erase("managedFields");
}

std::shared_ptr<Object> Begin(const ResourceInfo& r, Value& v, uint64_t rv) {
  auto o = std::make_shared<Object>();
  Value& meta = v.Child("metadata");
  o->name = meta.Str("name");
  o->ns = r.namespaced ? std::string(meta.Str("namespace")) : std::string();
  o->uid = meta.Str("uid");
  o->rv = rv;
  if (validation::kSelfLinks.Has(r.release)) {
    meta.Set("selfLink", Value::String(SelfLink(r, 0, o->ns, o->name)));
  } else {
    meta.Erase("selfLink");
  }
  KeepApplied(&meta);
  if (rv > 0) {
    meta.Set("resourceVersion", Value::String(std::to_string(rv)));
  } else {
    meta.Erase("resourceVersion");
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
    std::string text = FieldText(v, path);
    if (text.empty() && path == "spec.unschedulable") text = "false";
    o->fields.push_back(keeper.Intern(text));
  }
  o->texts = keeper.Take();
  return o;
}

void Finish(Object* o) {
  Locate(o, "selfLink", &o->self_begin, &o->self_end);
  Locate(o, "resourceVersion", &o->rv_begin, &o->rv_end);
}

// StatefulSets of apps/v1beta1 have status.observedGeneration even when it is zero.
std::string_view kStatusWithoutGeneration = ",\"status\":{\"replicas\":";

void AppendBody(const ResourceInfo& r, size_t version, const Object& o, std::string_view subresource,
                std::string* out) {
  if (version > 0 && r.other_type != nullptr) {
    auto stored = ParseJson("{" + o.body);
    CHECK(stored.ok()) << "stored object " << o.Key() << " is no JSON: " << stored.status();
    std::string text;
    Encode(ToOtherVersion(r, *stored), *r.other_type, &text);
    out->append(text, 1);
    return;
  }
  std::string_view body = o.body;
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
  o->body = text.substr(1);
  Finish(o.get());
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
  o->body = "\"metadata\":";
  AppendJson(ordered, &o->body);
  for (size_t i = 0; i < v.keys.size(); ++i) {
    const std::string& key = v.keys[i];
    if (key == "metadata" || key == "kind" || key == "apiVersion") continue;
    o->body.push_back(',');
    api::AppendJsonString(key, &o->body);
    o->body.push_back(':');
    AppendJson(v.items[i], &o->body);
  }
  o->body.push_back('}');
  o->body.shrink_to_fit();
  Finish(o.get());
  return o;
}

// The new version may have more digits than the old one, so positions after it move.
ObjectPtr WithResourceVersion(const Object& o, uint64_t rv) {
  auto copy = std::make_shared<Object>(o);
  copy->added_frames.clear();
  copy->value.reset();
  copy->rv = rv;
  std::string text = std::to_string(rv);
  copy->body.replace(o.rv_begin, o.rv_end - o.rv_begin, text);
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

Value ToValue(const ResourceInfo& r, size_t version, const Object& o) {
  std::string text;
  AppendObject(r, version, o, "", &text);
  auto v = ParseJson(text);
  CHECK(v.ok()) << "stored object " << o.Key() << " is no JSON: " << v.status();
  return *std::move(v);
}

}  // namespace berth::apiserver
