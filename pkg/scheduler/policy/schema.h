// A JSON Schema (draft 7) of a Policy: editors complete and check a Policy by it.
#pragma once
#include <string>
#include <vector>

namespace berth::scheduler {

// Returns the schema of a Policy that may name these predicates and priorities, and new ones with an argument. It knows
// the spellings of the members that all releases take, and no unknown members.
std::string PolicySchema(const std::vector<std::string>& predicates, const std::vector<std::string>& priorities);

}  // namespace berth::scheduler
