#pragma once
#include <cstdint>

namespace berth::util {

// Returns how many bytes of this process were in memory at most. Does not count what the process was before it ran this
// program: getrusage does, so a small program that is started by a large one seems to be as large.
int64_t PeakMemoryBytes();

}  // namespace berth::util
