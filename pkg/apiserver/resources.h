// The resources the server has: their names, API versions, types and habits.
//
// A resource is stored once and served through each of its versions; the first one is the version in which watch events
// are kept ready. Immutable, thread-safe.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/apiserver/schema.h"
#include "pkg/apiserver/status.h"

namespace berth::apiserver {

struct GroupVersion {
  std::string group, version;
  std::string Text() const { return group.empty() ? version : group + "/" + version; }  // "v1", "apps/v1"
  std::string Path() const { return (group.empty() ? "/api/" : "/apis/") + Text(); }    // "/api/v1", "/apis/apps/v1"
  friend bool operator==(const GroupVersion&, const GroupVersion&) = default;
};

struct ResourceInfo {
  std::string resource;  // "pods"
  std::string kind;      // "Pod"
  std::vector<GroupVersion> versions;
  bool namespaced = true;
  std::vector<std::string> subresources;  // "status", "scale", "binding", "finalize"
  std::vector<std::string> short_names;
  bool in_all = false;  // part of kubectl's category "all"

  const TypeDef* type = nullptr;
  std::string storage_key;  // what 1.10 calls it in etcd: "minions", "services/specs"
  // Members that field selectors ask for, kept beside the object ("spec.nodeName"); others are looked up in its text.
  std::vector<std::string> indexed_fields;
  // Every selectable field beyond metadata.name and metadata.namespace.
  std::vector<std::string> selectable_fields;
  size_t window = 100;                 // events kept for watches that start in the past
  bool answers_object = false;         // what a DELETE answers: the object, or Status Success
  bool has_generation = false;         // metadata.generation counts changes of spec
  bool create_on_update = false;       // PUT of a missing object creates it
  bool unconditional_update = true;    // PUT without resourceVersion is accepted
  std::vector<std::string> orphaning;  // versions whose plain DELETE only adds the finalizer "orphan"

  bool Has(std::string_view subresource) const;
  // The place of the version in `versions`, -1 when the resource is not in it.
  int VersionIndex(std::string_view group, std::string_view version) const;
  GroupResource In(size_t version_index) const { return {versions[version_index].group, resource}; }
};

// All resources, in the order of discovery.
const std::vector<ResourceInfo>& Resources();
// nullptr when unknown.
const ResourceInfo* FindResource(std::string_view group, std::string_view version, std::string_view resource);
const ResourceInfo* FindKind(std::string_view api_version, std::string_view kind);

// The API groups but the core one, each with its versions, the preferred one first.
struct Group {
  std::string name;
  std::vector<std::string> versions;
};
const std::vector<Group>& Groups();

}  // namespace berth::apiserver
