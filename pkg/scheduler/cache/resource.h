// Amounts of resources as scheduling counts them (Kubernetes 1.10 schedulercache.Resource).
#pragma once
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "pkg/api/compact.h"
#include "pkg/api/types.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// Return a + b and a - b, cut to the range of int64_t. If the result was cut and `saturated` is not null, `*saturated`
// becomes true; it is never set to false.
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

// A list of scalar resources and their amounts, sorted by symbol. As few pods and nodes have any, an empty list takes
// the size of a pointer.
class ScalarAmounts {
 public:
  using Entry = std::pair<Symbol, int64_t>;

  const std::vector<Entry>& list() const {
    static const std::vector<Entry> kNone;
    return entries_ ? *entries_ : kNone;
  }
  // Returns the list to change it. It must stay sorted.
  std::vector<Entry>& Edit() { return entries_.Ensure(); }
  size_t size() const { return list().size(); }
  bool empty() const { return list().empty(); }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }
  friend bool operator==(const ScalarAmounts& a, const ScalarAmounts& b) { return a.list() == b.list(); }
  template <typename H>
  friend H AbslHashValue(H h, const ScalarAmounts& a) {
    return H::combine(std::move(h), a.list());
  }

 private:
  api::Rare<std::vector<Entry>> entries_;
};

// Amounts of scalar resources, which few pods and nodes have.
struct ScalarResources {
  // The scalar resources (IsScalarResourceName). An entry may be 0: whether a resource is named matters, too.
  ScalarAmounts scalars;

  // Returns the amount of a scalar resource, or 0 when it is absent.
  int64_t Scalar(Symbol name) const {
    for (const auto& [n, v] : scalars) {
      if (n == name) return v;
    }
    return 0;
  }
  bool HasScalar(Symbol name) const;
  // Returns the entry of a scalar resource, which is created as 0 when it is absent.
  int64_t* MutableScalar(Symbol name);
};

struct Resource : ScalarResources {
  int64_t milli_cpu = 0;
  int64_t memory = 0;  // bytes
  // alpha.kubernetes.io/nvidia-gpu. Where `is_scalar` says that it is a scalar resource, it is counted as both.
  int64_t nvidia_gpu = 0;
  int64_t ephemeral_storage = 0;  // bytes
  int64_t allowed_pods = 0;

  // Adds the amounts of the list. Resources that are neither members of this struct nor scalar by `is_scalar` are
  // ignored. Returns false when an amount was cut to the range of int64_t.
  bool Add(const api::ResourceList& list, bool (*is_scalar)(Symbol));
  bool Add(const api::ResourceList& list);  // with the scalar resources of 1.10
  // Raises each amount to that of the list where the latter is larger (init containers). `pods` is ignored.
  void RaiseTo(const api::ResourceList& list, bool (*is_scalar)(Symbol));
  void RaiseTo(const Resource& other);
};

// Returns whether 1.10 counts the resource as scalar: extended resources and names with the prefix "hugepages-".
bool IsScalarResourceName(Symbol name);
// The same for 1.29: in addition, names that contain "kubernetes.io/" or have the prefix "attachable-volumes-".
bool IsScalarOrPrefixedName(Symbol name);
// Returns the same by the rules of 1.9: every name with a "/" outside of the namespace kubernetes.io.
bool IsScalarNameOutsideKubernetes(Symbol name);
// The same in 1.8, which also has opaque integer resources.
bool IsScalarOrOpaqueName(Symbol name);

}  // namespace berth::scheduler
