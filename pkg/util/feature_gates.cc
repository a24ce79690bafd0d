#include "pkg/util/feature_gates.h"

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::util {

const FeatureGate* FindGate(std::span<const FeatureGate> gates, std::string_view name) {
  BERTH_REQUIRES(std::ranges::is_sorted(gates, {}, &FeatureGate::name));
  auto it = std::lower_bound(gates.begin(), gates.end(), name,
                             [](const FeatureGate& g, std::string_view n) { return g.name < n; });
  return it != gates.end() && it->name == name ? &*it : nullptr;
}

}  // namespace berth::util
