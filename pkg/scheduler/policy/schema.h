// A JSON Schema (draft 7) of a Policy, with which editors complete and check a Policy.
#pragma once
#include <string>
#include <vector>

#include "pkg/release/release.h"

namespace berth::scheduler {

// Returns the schema of a Policy that may name the given predicates and priorities, and new ones with an argument that
// the release knows.
// Members have the spellings that all releases accept; unknown members are refused, except in arguments.
std::string PolicySchema(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities,
                         release::Version release);

}  // namespace berth::scheduler
