// What pods request, counted as in Kubernetes 1.29: init containers, sidecars and overhead count, and sums are exact
// and rounded once.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>

#include "pkg/api/types.h"

namespace berth::scheduler::reference::plugins {

using util::Symbol;

// Amounts of resources: cpu in milliCPU, memory and ephemeral storage in bytes.
struct Resource {
  int64_t cpu = 0, memory = 0, ephemeral_storage = 0, pods = 0;
  // The scalar resources (IsScalarName). A resource that is requested with 0 has an entry.
  std::map<Symbol, int64_t> scalars;

  void Add(const Resource& o, int sign);
  // Returns the amount of a scalar resource, or 0 when it has no entry.
  int64_t Scalar(Symbol name) const {
    auto it = scalars.find(name);
    return it == scalars.end() ? 0 : it->second;
  }
};

// Returns whether the name is that of an extended resource, such as "example.com/gpu".
bool IsExtendedName(std::string_view name);
// Returns whether the resource is counted beside cpu, memory, ephemeral storage and pods.
bool IsScalarName(std::string_view name);

// Returns the amounts of a list of quantities, such as a node's allocatable.
Resource ResourceOf(const api::ResourceList& list);

enum class Missing { kIsZero, kIsDefault };
// Returns what a pod requests: the sum over its containers and sidecars, or what an init container needs where that is
// larger, plus overhead. With kIsDefault, a container without a cpu or memory request counts as 100m or 200 MiB.
Resource RequestOf(const api::PodTemplate& pod, Missing missing = Missing::kIsZero);

// What a placed pod adds to the sums that scoring reads. Sidecars are not part of the sum over containers here
// (upstream bug M-01, kept).
struct NonZero {
  int64_t cpu = 0, memory = 0;
};
NonZero NonZeroOf(const api::PodTemplate& pod);

}  // namespace berth::scheduler::reference::plugins
