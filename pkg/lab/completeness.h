// Is everything in the input that decisions about its pods read?
#pragma once
#include <string>
#include <vector>

#include "pkg/lab/scenario.h"

namespace berth::lab {

// One sentence for each kind of object that pending pods refer to and that is not there, with how many pods refer to
// such an object, the first of them, and what cannot be decided as in the cluster. Kubernetes 1.10: the kinds that its
// predicates and priorities look up.
std::vector<std::string> WhatIsMissing(const Scenario& scenario);

}  // namespace berth::lab
