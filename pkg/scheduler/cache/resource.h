// Amounts of resources as scheduling counts them (Kubernetes 1.10 schedulercache.Resource).
#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// a + b and a - b, cut to what an int64 holds. `saturated` is set (never cleared) when a cut was made.
inline int64_t SaturatingAdd(int64_t a, int64_t b, bool* saturated = nullptr) {
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) [[likely]]
    return r;
  if (saturated != nullptr) *saturated = true;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}
inline int64_t SaturatingSub(int64_t a, int64_t b, bool* saturated = nullptr) {
  int64_t r;
  if (!__builtin_sub_overflow(a, b, &r)) [[likely]]
    return r;
  if (saturated != nullptr) *saturated = true;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

struct Resource {
  int64_t milli_cpu = 0;
  int64_t memory = 0;             // bytes
  int64_t nvidia_gpu = 0;         // alpha.kubernetes.io/nvidia-gpu
  int64_t ephemeral_storage = 0;  // bytes
  int64_t allowed_pods = 0;
  // Extended resources and hugepages-*, sorted by symbol. An entry may be 0: being named counts.
  std::vector<std::pair<Symbol, int64_t>> scalars;

  int64_t Scalar(Symbol name) const {  // 0 when absent
    for (const auto& [n, v] : scalars) {
      if (n == name) return v;
    }
    return 0;
  }
  bool HasScalar(Symbol name) const;
  int64_t* MutableScalar(Symbol name);  // created as 0 when absent

  // Adds a list; names that scheduling does not count are ignored. True unless something was cut to fit. `is_scalar`
  // says which names count beside the native ones.
  bool Add(const api::ResourceList& list, bool (*is_scalar)(Symbol));
  bool Add(const api::ResourceList& list);  // as 1.10 counts
  // Raises each amount to that of the list where it is larger (init containers); `pods` is ignored.
  void RaiseTo(const api::ResourceList& list);
  void RaiseTo(const Resource& other);
};

// Returns whether the name is an extended resource or has the prefix "hugepages-" (1.10). Answers are kept by symbol.
bool IsScalarResourceName(Symbol name);
// The same in 1.29: also names that contain "kubernetes.io/" and those with the prefix "attachable-volumes-".
bool IsScalarResourceNameV1_29(Symbol name);

}  // namespace berth::scheduler
