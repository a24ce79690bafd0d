// A JSON Schema (draft 7) of a Policy, with which editors complete and check a Policy.
#pragma once
#include <string>
#include <vector>

namespace berth::scheduler {

// Returns the schema of a Policy that may name the given predicates and priorities, and new ones with an argument.
// Members have the spellings that all releases accept; unknown members are refused, except in arguments.
std::string PolicySchema(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities);

}  // namespace berth::scheduler
