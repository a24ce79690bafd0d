// Builds schedulers from the profiles of a KubeSchedulerConfiguration .
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// A mistake in the arguments of a plugin, which it found itself: "maxSkew: 0: must be a whole number from 1 to 1000".
struct ArgumentProblem {
  std::string plugin, text;
};
// Returns what the rules of plugin/ find wrong with the arguments that a profile gives them.
std::vector<ArgumentProblem> ArgumentProblemsOf(const Release& release, const configuration::ResolvedProfile& profile);

// Returns a scheduler with the plugins, weights and arguments of a resolved profile. The members of `args`
// that only a Policy uses are ignored. Returns an error that names the profile if one of its plugins is not registered,
// or if the arguments of one are wrong, or an error with one message for each extender that cannot be created. The
// resources that extenders want to be ignored replace the ignoredResources of NodeResourcesFit, as in 1.29. REQUIRES:
// args.cache describes templates as args.release does, and that release is configured by profiles.
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProfile(const configuration::ResolvedProfile& profile,
                                                                    const std::vector<ExtenderConfig>& extenders,
                                                                    FactoryArgs args,
                                                                    EffectiveAlgorithm* effective = nullptr);

}  // namespace berth::scheduler
