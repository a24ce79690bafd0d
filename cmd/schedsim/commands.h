// The commands of schedsim. Each prints to `out` (messages about bad input go to standard error) and returns the exit
// status.
#pragma once
#include <memory>
#include <ostream>

#include "cmd/schedsim/options.h"

namespace berth::schedsim {

int Run(const Options& options, std::ostream& out);
int Explain(const Options& options, std::ostream& out);
int Capacity(const Options& options, std::ostream& out);
int CheckPolicy(const Options& options, std::ostream& out);

// Reads what the options name, says what was skipped, and prints what is wrong; null when it cannot be used.
std::unique_ptr<Input> ReadOrComplain(const Options& options, int* exit_status);

}  // namespace berth::schedsim
