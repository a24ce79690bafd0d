// A KubeSchedulerConfiguration from its text to the profiles to run, with everything that is wrong with it.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/configuration/profile.h"

namespace berth::scheduler::configuration {

struct LoadedConfiguration {
  KubeSchedulerConfiguration configuration;
  std::vector<ResolvedProfile> profiles;  // at least one; of use only without problems
  std::vector<Problem> problems;          // all mistakes: of decoding, of values, of profiles
  std::vector<std::string> notices;       // what is accepted and has no effect, one sentence each
};

// Reads, checks and resolves a document.
LoadedConfiguration Load(api::Json document, const PluginCatalogue& catalogue, const Gates& gates);

// The same for whoever needs it to be right: an error holds the texts of all problems.
absl::StatusOr<LoadedConfiguration> LoadOrError(api::Json document, const PluginCatalogue& catalogue,
                                                const Gates& gates);

}  // namespace berth::scheduler::configuration
