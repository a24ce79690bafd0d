// Checks objects as an API server does, as far as scheduling needs it: names, labels, pods, nodes, services, events,
// budgets and classes. Everything else is accepted. Errors have the server's order and words (1.10's where the releases
// differ only in wording).
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/validation/field_error.h"
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

// A path in an object, written as in errors: "spec.containers[0].resources.limits[cpu]". Cheap until it is printed.
class Path {
 public:
  explicit Path(std::string_view name) : name_(name) {}
  Path operator/(std::string_view child) const { return Path(this, child, -1, false); }
  Path operator[](size_t index) const { return Path(this, "", static_cast<int64_t>(index), false); }
  Path Key(std::string_view key) const { return Path(this, key, -1, true); }
  std::string str() const;

 private:
  Path(const Path* parent, std::string_view name, int64_t index, bool key)
      : parent_(parent), name_(name), index_(index), key_(key) {}
  const Path* parent_ = nullptr;  // must outlive this one: paths are built down the call stack
  std::string_view name_;
  int64_t index_ = -1;
  bool key_ = false;
};

FieldErrors ValidateCreate(const ResourceInfo& r, const Value& object);
// `object` is what would be stored; its metadata has been completed from `old`.
FieldErrors ValidateUpdate(const ResourceInfo& r, const Value& object, const Value& old);

// ---- pieces ----
void ValidateObjectMeta(const ResourceInfo& r, const Value& object, FieldErrors* errors);
void ValidateLabels(const Value* labels, const Path& at, FieldErrors* errors);
void ValidateLabelName(std::string_view name, const Path& at, FieldErrors* errors);
void ValidateLabelSelector(const Value* selector, const Path& at, FieldErrors* errors);
void ValidateNodeSelector(const Value& selector, const Path& at, Version release, FieldErrors* errors);
// Checks that a quantity is not negative, and whole for resources that are counted in pieces.
void ValidateQuantity(std::string_view resource, std::string_view quantity, const std::string& field,
                      FieldErrors* errors);
// Returns the protocols of ports of containers and services, in the order of messages.
std::vector<std::string> ProtocolsOf(Version release);
// Checks what has a pod template: replicas, selector, strategy and the template itself. `old` is null for a new object.
void ValidateWorkload(const Value& object, const ResourceInfo& r, const Value* old, FieldErrors* errors);
// Checks all but the schedule and the time zone.
void ValidateCronJob(const Value& object, Version release, FieldErrors* errors);
// Checks the requests and limits of all containers alone.
void ValidateContainerResources(const Value& spec, const Path& at, Version release, FieldErrors* errors);
// Checks the environment, mounts and pull policy of a container. `volumes` are the names of the pod's volumes.
void ValidateInsideOfContainer(const Value& container, const Path& at, const std::set<std::string_view>& volumes,
                               Version release, FieldErrors* errors);
// Checks the hooks and probes of a container, or of an init container.
void ValidateHooks(const Value& container, bool init, const Path& at, Version release, FieldErrors* errors);
// Checks a port of a container or service that is given by number or name.
void ValidatePortOrName(const Value* port, const Path& at, FieldErrors* errors);
// Returns what is wrong with a name as one of IANA's service names. REQUIRES: `name` is not empty.
std::vector<std::string> PortNameProblems(std::string_view name);
// Returns what is wrong with a name as a DNS label.
std::vector<std::string> DnsLabelProblems(std::string_view name);
// Checks the volumes of a pod and adds the names of those that are right to `names`.
void ValidateVolumes(const Value& spec, const Path& at, Version release, std::set<std::string_view>* names,
                     FieldErrors* errors);
void ValidateClaimSpec(const Value& spec, const Path& at, Version release, FieldErrors* errors);
void ValidateVolume(const Value& volume, const Value* old, Version release, FieldErrors* errors);
void ValidateClaim(const Value& claim, const Value* old, Version release, FieldErrors* errors);
void ValidateStorageClass(const Value& storage_class, const Value* old, FieldErrors* errors);
void ValidateService(const Value& service, const Value* old, Version release, FieldErrors* errors);
// Checks a ConfigMap or Secret: its keys, and what may not change.
void ValidateConfiguration(const Value& object, const Value* old, FieldErrors* errors);
void ValidateBudget(const Value& budget, FieldErrors* errors);
// Checks a pod's specification. `claims` are the names of further volumes that may be mounted.
void ValidatePodSpec(const Value& spec, const Path& at, Version release, FieldErrors* errors,
                     std::set<std::string_view> claims = {});
// Checks what came after 1.10: topology spread constraints, scheduling gates, overhead, preemption policy, sidecars.
void ValidateAddedPodFields(const Value& spec, const Path& at, Version release, FieldErrors* errors);
// Checks the changes from `old` to `now` that depend on scheduling gates: gates may be removed, and if there were any,
// the set of nodes that the pod may use may be narrowed. Members that may change are set in `munged` as in `old`.
void AllowGatedChanges(const Value& now, const Value& old, Value* munged, FieldErrors* errors);
void ValidatePodUpdate(const Value& pod, const Value& old, Version release, FieldErrors* errors);
void ValidateTolerations(const Value* tolerations, const Path& at, FieldErrors* errors);

// Returns whether this is an extended resource in 1.10: "example.com/gpu", not of kubernetes.io.
bool IsExtendedResource(std::string_view name);

}  // namespace berth::validation
