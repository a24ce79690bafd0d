// Validates a Policy beyond its syntax. Source: pkg/scheduler/api/validation/validation.go (1.10).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Returns all errors in the weights, extenders and managed resources, worded as in 1.10. The factory checks the names
// of predicates and priorities. `most_resource_weight` is the largest weight of a resource in the arguments of a score
// by requested to capacity ratio, which has no limit where such a score is a plugin.
std::vector<std::string> ValidatePolicy(const Policy& policy, int64_t most_resource_weight = 100);

}  // namespace berth::scheduler
