#include "pkg/releases/gates.h"

#include <vector>

#include "pkg/releases/releases.h"
#include "pkg/util/suggest.h"

namespace berth::releases {

std::span<const util::FeatureGate> DefaultGates() {
  return Of(release::Default()).decides.gates;
}

bool IsDefaultGate(std::string_view name) {
  return util::FindGate(DefaultGates(), name) != nullptr;
}

std::string GateSuggestion(std::string_view name) {
  std::vector<std::string_view> names;
  for (const util::FeatureGate& g : DefaultGates()) names.push_back(g.name);
  for (const release::Id& id : release::All()) {
    for (const util::FeatureGate& g : Of(id).decides.gates) names.push_back(g.name);
  }
  return util::SuggestionFor(name, names);
}

}  // namespace berth::releases
