#include "pkg/scheduler/registry/algorithm_config.h"

namespace berth::scheduler {
namespace {

// Appends the names of the predicate's parts, or its own when it has none, that are not incremental.
void Collect(const ConfiguredPredicate& p, std::vector<std::string>* names) {
  for (const ConfiguredPredicate& part : p.parts) Collect(part, names);
  if (p.parts.empty() && !p.traits.incremental()) names->push_back(p.name);
}

}  // namespace

std::vector<std::string> AlgorithmConfig::NotIncremental() const {
  std::vector<std::string> names;
  for (const ConfiguredPredicate& p : predicates) Collect(p, &names);
  for (const ConfiguredPriority& p : priorities) {
    if (!p.traits.incremental()) names.push_back(p.name);
  }
  return names;
}

}  // namespace berth::scheduler
