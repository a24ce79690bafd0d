// What pods ask of a node, counted as Kubernetes 1.29 counts it: init containers, sidecars and overhead included, sums
// exact and rounded once.
#pragma once
#include <cstdint>
#include <map>
#include <string_view>

#include "pkg/api/types.h"

namespace berth::scheduler::reference::v1_29 {

using util::Symbol;

// Amounts of resources: cpu in thousandths, memory and ephemeral storage in bytes.
struct Resource {
  int64_t cpu = 0, memory = 0, ephemeral_storage = 0, pods = 0;
  // Extended resources, hugepages and the like. A resource that is asked for with 0 has an entry.
  std::map<Symbol, int64_t> scalars;

  void Add(const Resource& o, int sign);
  // Returns the amount of a scalar resource, 0 without an entry.
  int64_t Scalar(Symbol name) const {
    auto it = scalars.find(name);
    return it == scalars.end() ? 0 : it->second;
  }
};

// Returns true for names with a domain of their own, such as "example.com/gpu".
bool IsExtendedName(std::string_view name);
// Returns true for the names that are counted besides cpu, memory, ephemeral storage and pods.
bool IsScalarName(std::string_view name);

// Returns a list of quantities, such as a node's allocatable.
Resource ResourceOf(const api::ResourceList& list);

enum class Missing { kIsZero, kIsDefault };
// Returns what a pod asks for: the larger of its containers (with its sidecars) and of its init containers, plus
// overhead. With kIsDefault every container without a cpu or memory request counts as 100m or 200 MiB.
Resource RequestOf(const api::PodTemplate& pod, Missing missing = Missing::kIsZero);

// What a pod on a node adds to the sums that scoring reads. Sidecars are not part of the running sum here (upstream
// bug M-01, kept).
struct NonZero {
  int64_t cpu = 0, memory = 0;
};
NonZero NonZeroOf(const api::PodTemplate& pod);

}  // namespace berth::scheduler::reference::v1_29
