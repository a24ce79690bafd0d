// Amounts of resources of pods and claims, by name.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "pkg/api/quantity.h"
#include "pkg/world/objects.h"

namespace berth::world {

// Ascending by name, as messages list them.
using Amounts = std::map<std::string, api::Quantity, std::less<>>;

// Returns a resource list ("requests": {"cpu": "1"}); what is not a quantity is left out.
Amounts AmountsOf(const Value* list);
// Returns container.resources.requests or .limits.
Amounts AmountsOf(const Value& container, std::string_view which);
// Writes amounts as a resource list.
Value ToValue(const Amounts& amounts);
void AddAmounts(const Amounts& more, Amounts* to);
// Raises each amount to at least that of `other`.
void RaiseAmounts(const Amounts& other, Amounts* to);

// Returns what a pod's containers request, or how they are limited ("requests" or "limits"): the sum over containers
// and sidecars, or what an init container needs beside the sidecars before it, if that is more. Without overhead and
// without the pod's own resources (Kubernetes 1.29 and later).
Amounts OfContainers(const Value& pod_spec, std::string_view which);
// The same, but resources of the pod itself (spec.resources, Kubernetes 1.34) replace those of its containers.
Amounts OfPod(const Value& pod_spec, std::string_view which);

// Calls f(container, is_init) for each container and then each init container.
template <typename F>
void EachContainer(const Value& pod_spec, F&& f) {
  for (std::string_view list : {"containers", "initContainers"}) {
    if (const Value* containers = pod_spec.Find(list)) {
      for (const Value& c : containers->items) f(c, list != "containers");
    }
  }
}

}  // namespace berth::world
