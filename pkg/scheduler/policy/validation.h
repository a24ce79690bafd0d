// Validates a Policy beyond its syntax. Source: pkg/scheduler/api/validation/validation.go (1.10).
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Returns all errors in the weights, extenders and managed resources, worded as in 1.10. The factory checks the names
// of predicates and priorities.
std::vector<std::string> ValidatePolicy(const Policy& policy);

}  // namespace berth::scheduler
