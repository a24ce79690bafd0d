// Formats the errors of a pod as release 1.29 does.
#pragma once
#include <string>
#include <vector>

namespace berth::scheduler {

// Returns the distinct messages in their order: a single one as it is, several as "[a, b]".
std::string ProblemList(const std::vector<std::string>& messages);

}  // namespace berth::scheduler
