// The lists of monitors of RBD volumes.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "pkg/api/types.h"

namespace berth::scheduler::volumes {

// Returns whether both volumes name a monitor. Lists are short, but a pod can have them as long as it likes.
inline bool ShareMonitor(const api::Volume& a, const api::Volume& b) {
  if (a.monitors.empty() || b.monitors.empty()) return false;
  constexpr size_t kFew = 16;
  if (a.monitors.size() <= kFew) {
    return std::any_of(a.monitors.begin(), a.monitors.end(), [&](const std::string& m) {
      return std::find(b.monitors.begin(), b.monitors.end(), m) != b.monitors.end();
    });
  }
  const absl::flat_hash_set<std::string_view> ours(a.monitors.begin(), a.monitors.end());
  return std::any_of(b.monitors.begin(), b.monitors.end(), [&](const std::string& m) { return ours.contains(m); });
}

}  // namespace berth::scheduler::volumes
