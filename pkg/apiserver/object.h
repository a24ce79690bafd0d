// A stored object: an immutable JSON text with what lists and watches need to know about it.
//
// Made once for each change and shared by everyone who reads it: lists, watch events, answers. Belongs to the thread
// of the store.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/apiserver/api_types.h"

namespace berth::apiserver {

struct Object {
  std::string ns, name, uid;
  uint64_t rv = 0;  // resourceVersion
  api::Labels labels;
  std::vector<util::Symbol> fields;  // values of the resource's indexed fields

  // The text from `"metadata":` to the closing brace; kind and apiVersion belong to the version that is asked for.
  std::string body;
  uint32_t self_begin = 0, self_end = 0;  // metadata.selfLink inside body, without quotes; equal when there is none
  uint32_t rv_begin = 0, rv_end = 0;      // metadata.resourceVersion inside body, without quotes

  // The watch event ADDED in each of the resource's versions, as long as a watcher still has to read it. Filled in by
  // watch.cc.
  mutable std::vector<std::weak_ptr<const std::string>> added_frames;

  // "namespace/name", or the name of cluster-wide ones: the order of lists.
  std::string Key() const { return ns.empty() ? name : ns + "/" + name; }
};
using ObjectPtr = std::shared_ptr<const Object>;

// Makes the object that `v` describes, with resource version `rv`, which it writes into `v` (0: none, of an object that
// is not stored). A release that has selfLinks gets one.
// Typed: the text has the form of the type's table. Verbatim: members are kept as they are, known to the table or not.
ObjectPtr MakeObject(const ResourceInfo& r, Value& v, uint64_t rv);
ObjectPtr MakeVerbatimObject(const ResourceInfo& r, Value& v, uint64_t rv);

// The same object with another resource version in its text.
ObjectPtr WithResourceVersion(const Object& o, uint64_t rv);

// "/api/v1/namespaces/ns/pods/name"
std::string SelfLink(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name);

// The whole object as the version shows it: with kind and apiVersion. `subresource` ("/status") ends the selfLink.
void AppendObject(const ResourceInfo& r, size_t version, const Object& o, std::string_view subresource,
                  std::string* out);
// The same as an item of a list: without kind and apiVersion.
void AppendItem(const ResourceInfo& r, size_t version, const Object& o, std::string* out);

// The object as a value again, with kind and apiVersion of the version.
Value ToValue(const ResourceInfo& r, size_t version, const Object& o);

}  // namespace berth::apiserver
