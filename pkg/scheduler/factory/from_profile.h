// Builds schedulers from the profiles of a KubeSchedulerConfiguration .
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Returns a scheduler with the plugins, weights and arguments of a resolved profile. The members of `args`
// that only a Policy uses are ignored. Returns an error that names the profile if one of its plugins is not registered,
// or an error with one message for each extender that cannot be created. REQUIRES: args.cache describes templates as
// args.release does, and that release is configured by profiles.
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProfile(const configuration::ResolvedProfile& profile,
                                                                    const std::vector<ExtenderConfig>& extenders,
                                                                    FactoryArgs args,
                                                                    EffectiveAlgorithm* effective = nullptr);

}  // namespace berth::scheduler
