// How release 1.29 prints the mistakes of a pod.
#pragma once
#include <string>
#include <vector>

namespace berth::scheduler {

// Returns messages as 1.29 prints several errors, each once: one bare, more as "[a, b]".
std::string ProblemList(const std::vector<std::string>& messages);

}  // namespace berth::scheduler
