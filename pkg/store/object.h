// A stored object: an immutable JSON text with the information that lists and watches need.
//
// It is made once for each change and shared by everyone who reads it: lists, watch events, responses. Thread-safety:
// used on the store's thread only.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/store/api_types.h"
#include "pkg/util/symbol.h"

namespace berth::apiserver {

struct Object {
  std::string ns, name, uid;
  uint64_t rv = 0;  // resourceVersion
  api::Labels labels;
  std::vector<util::Symbol> fields;  // the values of the resource's indexed fields
  util::KeptTexts texts;             // keeps the texts of labels and fields

  // Returns the text from `"metadata":` to the closing brace. kind and apiVersion are added for the version that is
  // requested.
  const std::string& body() const;
  // The text, and the ranges in it of metadata.selfLink (empty if there is none) and metadata.resourceVersion, without
  // quotes. All are empty as long as nobody has asked for the text of an object that was made of a value.
  mutable std::string text;
  mutable uint32_t self_begin = 0, self_end = 0, rv_begin = 0, rv_end = 0;

  // The watch event ADDED in each version of the resource, as long as some watcher has not read it yet. Filled in by
  // watch.cc.
  mutable std::vector<std::weak_ptr<const std::string>> added_frames;
  // The object as a value, in which version, as long as somebody holds it. Filled in by the store.
  mutable std::weak_ptr<const Value> value;
  // Where the store keeps all values, the value itself. With `of_value`, the resource, it is what ToValue returns, so
  // equal objects have equal values.
  mutable std::shared_ptr<const Value> kept_value;
  mutable const ResourceInfo* of_value = nullptr;
  mutable size_t value_version = 0;

  // Returns "namespace/name", or the name of a cluster-wide object. Lists are sorted by it.
  std::string Key() const { return ns.empty() ? name : ns + "/" + name; }
};
using ObjectPtr = std::shared_ptr<const Object>;

// Makes an object of `v` and writes the resource version `rv` into `v` (0: none, for an object that is not stored). In
// a release with selfLinks the object gets one. MakeObject writes the text in the form of the type's table.
// MakeVerbatimObject keeps all members, known or not.
ObjectPtr MakeObject(const ResourceInfo& r, Value& v, uint64_t rv);
ObjectPtr MakeVerbatimObject(const ResourceInfo& r, Value& v, uint64_t rv);

// Returns `v` in the form that ToValue gives it in that version of an object that MakeObject makes of it. REQUIRES:
// HasStoredText(r, version).
Value NormalValue(const ResourceInfo& r, size_t version, Value v, uint64_t rv);
// Makes an object of a normal value, which it keeps, and with another resource version than the value has. Its text is
// made when it is first asked for. `like`: an earlier version of it, if there is one, whose symbols it takes where they
// are the same.
ObjectPtr MakeObjectOf(const ResourceInfo& r, size_t version, Value normal, uint64_t rv, const Object* like = nullptr);
// Returns whether all objects have the stored text in a version, but for kind and apiVersion.
bool HasStoredText(const ResourceInfo& r, size_t version);

// Returns the object with another resource version in its text.
ObjectPtr WithResourceVersion(const Object& o, uint64_t rv);

// Returns the version in which everybody reads objects who need not ask for one: the stable one.
size_t StableVersionOf(const ResourceInfo& r);

// Returns "/api/v1/namespaces/ns/pods/name".
std::string SelfLink(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name);

// Appends the whole object in the given version, with kind and apiVersion. `subresource` ("/status") ends the selfLink.
void AppendObject(const ResourceInfo& r, size_t version, const Object& o, std::string_view subresource,
                  std::string* out);
// Appends the object as an item of a list, without kind and apiVersion.
void AppendItem(const ResourceInfo& r, size_t version, const Object& o, std::string* out);

// Returns the JSON of a value of a type, with kind and apiVersion.
std::string EncodeTyped(std::string_view kind, std::string_view api_version, const Value& v, const TypeDef& type);

// Parses the object, and returns it with kind and apiVersion of the version.
Value ToValue(const ResourceInfo& r, size_t version, const Object& o);

}  // namespace berth::apiserver
