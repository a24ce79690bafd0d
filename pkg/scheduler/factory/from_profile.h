// Schedulers built from a profile of a KubeSchedulerConfiguration (release 1.29).
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Returns a scheduler with the plugins, weights and arguments of a resolved profile. `args.release` and what only a
// Policy reads are not looked at. Returns an error that names the profile when one of its plugins is not registered,
// and one for each extender that cannot be made. REQUIRES: args.cache counts as release 1.29 does.
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProfile(const configuration::ResolvedProfile& profile,
                                                                    const std::vector<ExtenderConfig>& extenders,
                                                                    FactoryArgs args,
                                                                    EffectiveAlgorithm* effective = nullptr);

}  // namespace berth::scheduler
