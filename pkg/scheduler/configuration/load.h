// Takes a KubeSchedulerConfiguration from its document to the profiles that will run, and reports all of its errors.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/configuration/profile.h"

namespace berth::scheduler::configuration {

// The notice about a percentageOfNodesToScore that is less than all.
inline constexpr std::string_view kPercentageNotice =
    "percentageOfNodesToScore counts with --percentage-of-nodes-to-score=release; without it all nodes are looked at";

// The result of reading a document.
struct LoadedConfiguration {
  KubeSchedulerConfiguration configuration;
  std::vector<ResolvedProfile> profiles;  // at least one; meaningful only if there are no problems
  std::vector<Problem> problems;          // all errors: of decoding, of values and of profiles
  std::vector<std::string> notices;       // what is accepted without effect, one sentence each
};

// Decodes, validates and resolves a document. `text` is that of the document, as for Decode.
LoadedConfiguration Load(api::Json document, const PluginCatalogue& catalogue, const Gates& gates,
                         std::string_view text = {});

// The same for callers that need a valid document. The error contains the texts of all problems.
absl::StatusOr<LoadedConfiguration> LoadOrError(api::Json document, const PluginCatalogue& catalogue,
                                                const Gates& gates, std::string_view text = {});

}  // namespace berth::scheduler::configuration
