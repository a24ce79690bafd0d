// Checks whether the input contains everything that decisions about its pods read.
#pragma once
#include <string>
#include <vector>

#include "pkg/lab/scenario.h"

namespace berth::lab {

// Returns one sentence for each kind of object that pending pods refer to and that is missing: how many pods refer to
// such an object, the first of them, and what cannot be decided as in the cluster. The kinds are those that the
// predicates and priorities of 1.10 look up.
std::vector<std::string> WhatIsMissing(const Scenario& scenario);

}  // namespace berth::lab
