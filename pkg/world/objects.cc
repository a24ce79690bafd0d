#include "pkg/world/objects.h"

#include <utility>

namespace berth::world {
namespace {

std::string_view MetaText(const Value& object, std::string_view member) {
  const Value* meta = object.Find("metadata");
  return meta == nullptr ? std::string_view() : meta->Str(member);
}

}  // namespace

std::string_view NameOf(const Value& object) {
  return MetaText(object, "name");
}

std::string_view NamespaceOf(const Value& object) {
  return MetaText(object, "namespace");
}

std::string_view AnnotationOf(const Value& object, std::string_view key) {
  const Value* annotations = object.At({"metadata", "annotations"});
  return annotations == nullptr ? std::string_view() : annotations->Str(key);
}

bool WasStored(const Value& object) {
  return !MetaText(object, "uid").empty() || !MetaText(object, "resourceVersion").empty();
}

void ObjectTable::Put(std::string_view kind, Value object) {
  Named& named = kinds_[std::string(kind)][std::string(NamespaceOf(object))];
  std::string name(NameOf(object));
  named[std::move(name)] = std::make_shared<const Value>(std::move(object));
}

void ObjectTable::Remove(std::string_view kind, std::string_view ns, std::string_view name) {
  auto of_kind = kinds_.find(kind);
  if (of_kind == kinds_.end()) return;
  auto in = of_kind->second.find(ns);
  if (in == of_kind->second.end()) return;
  if (auto it = in->second.find(name); it != in->second.end()) in->second.erase(it);
}

ValuePtr ObjectTable::Get(std::string_view kind, std::string_view ns, std::string_view name) const {
  auto of_kind = kinds_.find(kind);
  if (of_kind == kinds_.end()) return nullptr;
  auto in = of_kind->second.find(ns);
  if (in == of_kind->second.end()) return nullptr;
  auto it = in->second.find(name);
  return it == in->second.end() ? nullptr : it->second;
}

void ObjectTable::Each(std::string_view kind, std::string_view ns, const std::function<void(const Value&)>& f) const {
  auto of_kind = kinds_.find(kind);
  if (of_kind == kinds_.end()) return;
  auto in = of_kind->second.find(ns);
  if (in == of_kind->second.end()) return;
  for (const auto& [name, object] : in->second) f(*object);
}

void ObjectTable::EachOf(std::string_view kind, const std::function<void(const Value&)>& f) const {
  auto of_kind = kinds_.find(kind);
  if (of_kind == kinds_.end()) return;
  for (const auto& [ns, named] : of_kind->second) {
    for (const auto& [name, object] : named) f(*object);
  }
}

}  // namespace berth::world
