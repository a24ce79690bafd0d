// The resources of a release's API: names, API versions and types, and how a server treats them.
//
// A resource is stored once and served in each of its versions. The first one is the version in which a server prepares
// watch events. Thread-safety: immutable and thread-safe.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/validation/behaviour.h"
#include "pkg/api/validation/schema.h"

namespace berth::validation {

template <typename T>
class PerRelease;

// The resource that an error is about: "pods" of group "", "replicasets" of group "apps".
struct GroupResource {
  std::string_view group, resource;
  std::string Text() const {
    std::string s(resource);
    if (!group.empty()) s.append(".").append(group);
    return s;
  }
};

struct GroupVersion {
  std::string group, version;
  std::string Text() const { return group.empty() ? version : group + "/" + version; }  // "v1", "apps/v1"
  std::string Path() const { return (group.empty() ? "/api/" : "/apis/") + Text(); }    // "/api/v1", "/apis/apps/v1"
  friend bool operator==(const GroupVersion&, const GroupVersion&) = default;
};

struct ResourceInfo {
  Version release;
  std::string resource;  // "pods"
  std::string kind;      // "Pod"
  std::vector<GroupVersion> versions;
  bool namespaced = true;
  std::vector<std::string> subresources;  // "status", "scale", "binding", "finalize"
  std::vector<std::string> short_names;
  bool in_all = false;  // part of kubectl's category "all"

  const TypeDef* type = nullptr;
  // The type of all versions but the first, if it differs (events.k8s.io, autoscaling/v1).
  const TypeDef* other_type = nullptr;
  std::string storage_key;  // its name in 1.10's etcd: "minions", "services/specs"
  // Members for field selectors that are kept beside the object ("spec.nodeName"); others are looked up in its text.
  std::vector<std::string> indexed_fields;
  // All selectable fields other than metadata.name and metadata.namespace.
  std::vector<std::string> selectable_fields;
  size_t window = 100;                 // events kept for watches that start in the past
  bool answers_object = false;         // whether a DELETE returns the object, not Status Success
  bool has_generation = false;         // metadata.generation counts changes of spec
  bool create_on_update = false;       // PUT of a missing object creates it
  bool unconditional_update = true;    // PUT without resourceVersion is accepted
  std::vector<std::string> orphaning;  // versions whose plain DELETE only adds the finalizer "orphan"

  bool Has(std::string_view subresource) const;
  const TypeDef& TypeIn(size_t version_index) const {
    return version_index > 0 && other_type != nullptr ? *other_type : *type;
  }
  // Returns the index of the version in `versions`; -1 if the resource does not have it.
  int VersionIndex(std::string_view group, std::string_view version) const;
  GroupResource In(size_t version_index) const { return {versions[version_index].group, resource}; }
};

// An API group other than the core group, with its versions, the preferred one first.
struct Group {
  std::string name;
  std::vector<std::string> versions;
};

// The contents of a release's API.
class Catalog {
 public:
  static const Catalog& Of(Version release);

  Version release() const { return release_; }
  // Returns all resources, in the order of discovery.
  const std::vector<ResourceInfo>& resources() const { return resources_; }
  const std::vector<Group>& groups() const { return groups_; }
  // Return nullptr if there is none.
  const ResourceInfo* Find(std::string_view group, std::string_view version, std::string_view resource) const;
  const ResourceInfo* FindKind(std::string_view api_version, std::string_view kind) const;
  // Returns a resource of the core group. REQUIRES: it exists.
  const ResourceInfo& Core(std::string_view resource) const;
  // Returns a type of the release ("DeleteOptions"). REQUIRES: it exists.
  const TypeDef& Type(std::string_view name) const { return TypeOf(name, release_); }

 private:
  friend class PerRelease<Catalog>;
  explicit Catalog(Version release);
  Version release_;
  std::vector<ResourceInfo> resources_;
  std::vector<Group> groups_;
};

}  // namespace berth::validation
