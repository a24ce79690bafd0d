// Validates a Policy beyond its syntax (Kubernetes 1.10 api/validation).
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// Everything that is wrong, in 1.10's words: weights, extenders, managed resources. Empty when nothing is.
// Names of algorithms are checked by the factory.
std::vector<std::string> ValidatePolicy(const Policy& policy);

}  // namespace berth::scheduler
