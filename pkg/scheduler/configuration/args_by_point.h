// Validates the arguments of a profile of v1beta1. Release 1.19 checks them when it creates the plugins, and stops at
// the first mistake of each. Source: the New functions in pkg/scheduler/framework/plugins (1.19).
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"

namespace berth::scheduler::configuration {

// Appends the errors in the arguments of enabled plugins, those given and the defaults. `path` is the path of the
// profile. Texts begin with `creating`, which names the profile.
void CheckArgsByPoint(const ResolvedProfile& profile, const std::string& path, const std::string& creating,
                      std::vector<Problem>* problems);

}  // namespace berth::scheduler::configuration
