// Exact amounts of resources by name, and host ports, for the files that compute what a pod of a release counts for.
#pragma once
#include <map>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/resource.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler::amounts {

using Amounts = std::map<Symbol, api::Quantity>;

// Adds each amount to the one of the same name.
void Add(const Amounts& more, Amounts* sum);
// Raises each amount to the one of the same name where that is larger.
void Raise(const Amounts& to, Amounts* sum);
// Returns what a container requests, with 100 milliCPU and 200 MiB for `default_cpu` and `default_memory` where the
// container does not name the resource.
Amounts RequestsOf(const api::Container& c, bool default_cpu, bool default_memory);
// Returns what an init container needs of the resources that it names: its own request, and those of the sidecars that
// were started before it, to which it is added if it is one.
Amounts Running(const Amounts& own, bool sidecar, Amounts* sidecars);
// Returns the sum over containers and sidecars, raised to what any init container needs while it runs. The pod-level
// requests and the overhead are not part of it.
Amounts OfContainers(const api::PodTemplate& t, bool default_cpu, bool default_memory);
// Rounds each amount up to milliCPU, bytes or units. Negative amounts become 0.
Resource Rounded(const Amounts& amounts, bool* saturated);

// Returns whether an init container of the pod is a sidecar.
bool HasSidecars(const api::PodTemplate& t);
// Appends the ports that the containers, or only those that are sidecars, want from the node.
void AppendHostPorts(const std::vector<api::Container>& containers, bool sidecars_only, std::vector<HostPort>* out);

}  // namespace berth::scheduler::amounts
