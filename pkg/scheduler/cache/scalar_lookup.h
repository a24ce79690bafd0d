// Looks up scalar resources where a list may be long: a pod or a node may name some 50,000 of them in a megabyte.
#pragma once
#include <algorithm>

#include "pkg/scheduler/cache/resource.h"

namespace berth::scheduler {

// Returns the amount of a scalar resource, or 0 when it is absent, as ScalarResources::Scalar does, in a time that
// grows with the logarithm of their number.
inline int64_t ScalarOf(const ScalarResources& r, Symbol name) {
  constexpr size_t kFew = 16;  // up to here, comparing them one by one is as fast
  if (r.scalars.size() <= kFew) return r.Scalar(name);
  const auto it = std::lower_bound(r.scalars.begin(), r.scalars.end(), name,
                                   [](const auto& entry, Symbol n) { return entry.first < n; });
  return it == r.scalars.end() || it->first != name ? 0 : it->second;
}

}  // namespace berth::scheduler
