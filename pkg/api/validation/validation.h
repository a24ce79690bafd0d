// Checks objects as an API server does, as far as scheduling needs it: names, labels, pods, nodes, services, events,
// budgets and classes. Everything else is accepted. Errors have the server's order and words (1.10's where the releases
// differ only in wording).
#pragma once
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/validation/field_error.h"
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

FieldErrors ValidateCreate(const ResourceInfo& r, const Value& object);
// `object` is what would be stored; its metadata has been completed from `old`.
FieldErrors ValidateUpdate(const ResourceInfo& r, const Value& object, const Value& old);

// ---- pieces ----

// Calls f(element, its path) for each element of a member that is a list.
template <typename F>
void EachOf(const Value& v, std::string_view member, const Path& at, const F& f) {
  const Path list = at / member;
  const Value& elements = OrEmpty(v.Find(member));
  for (size_t i = 0; i < elements.items.size(); ++i) f(elements.items[i], list[i]);
}
// Calls f(key, value, its path) for each entry of a member that is a map.
template <typename F>
void EachEntry(const Value& v, std::string_view member, const Path& at, const F& f) {
  const Path map = at / member;
  const Value& entries = OrEmpty(v.Find(member));
  for (size_t i = 0; i < entries.keys.size(); ++i) f(entries.keys[i], entries.items[i], map.Key(entries.keys[i]));
}
// Returns a member that is a number, or 0.
int64_t IntOf(const Value& v, std::string_view member);
// Returns whether two members, each null if it is absent, are written alike.
bool AreAlike(const Value* a, const Value* b);
// Sets or removes a member of `to`, so that it is that of `from`.
void SetAsIn(const Value& from, std::string_view member, Value* to);
// Adds an error for each of the problems of a value.
void AddProblems(const std::vector<std::string>& problems, const Path& at, std::string_view value, FieldErrors* errors);
// Checks that a member's text is empty or among `known`, which are in the order of messages.
void ValidateWord(const Value& v, std::string_view member, const Path& at, const Words& known, FieldErrors* errors);
// The same for a text that must not be empty, which is an error of its own.
void ValidateNeededWord(const Value& v, std::string_view member, const Path& at, const Words& known,
                        FieldErrors* errors);
// Checks that those of the members that are numbers are not negative.
void ValidateNotNegative(const Value& v, std::initializer_list<std::string_view> members, const Path& at,
                         FieldErrors* errors);
void ValidateObjectMeta(const ResourceInfo& r, const Value& object, FieldErrors* errors);
void ValidateLabels(const Value* labels, const Path& at, FieldErrors* errors);
void ValidateLabelName(std::string_view name, const Path& at, FieldErrors* errors);
void ValidateLabelSelector(const Value* selector, const Path& at, FieldErrors* errors);
void ValidateNodeSelectorTerm(const Value& term, const Path& at, Version release, FieldErrors* errors);
void ValidateNodeSelector(const Value& selector, const Path& at, Version release, FieldErrors* errors);
// Checks that a quantity is not negative, and whole for resources that are counted in pieces.
void ValidateQuantity(std::string_view resource, std::string_view quantity, const Path& at, FieldErrors* errors);
// Returns the protocols of ports of containers and services, in the order of messages.
std::vector<std::string_view> ProtocolsOf(Version release);
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
// Checks a port's number.
void ValidatePort(int64_t port, const Path& at, FieldErrors* errors);
// Checks a port of a container or service that is given by number or name.
void ValidatePortOrName(const Value* port, const Path& at, FieldErrors* errors);
// Returns what is wrong with a name as one of IANA's service names. REQUIRES: `name` is not empty.
std::vector<std::string> PortNameProblems(std::string_view name);
// Returns what is wrong with a name as a DNS label.
std::vector<std::string> DnsLabelProblems(std::string_view name);
// Checks a name in a list whose names are DNS labels, and differ.
void ValidateNameInList(std::string_view name, const Path& at, std::set<std::string>* taken, FieldErrors* errors);
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
void ValidateTolerations(const Value& spec, const Path& at, FieldErrors* errors);

// Returns whether this is an extended resource in 1.10: "example.com/gpu", not of kubernetes.io.
bool IsExtendedResource(std::string_view name);

}  // namespace berth::validation
