// The algorithms that compare and what-if accept on the command line.
#pragma once
#include <absl/status/statusor.h>

#include <vector>

#include "cmd/schedsim/command.h"
#include "pkg/lab/experiment.h"

namespace berth::schedsim {

// Declares --policy, --algorithm-provider, --emulated-version and --config, each of which may be repeated, and
// --percentage-of-nodes-to-score, which is for all of them.
void AddVariantFlags(flags::FlagSet& add);

// Returns the algorithms that the flags name, in the order of the command line. What a flag does not set is as in
// `base`. Algorithms with the same name get numbers. Errors name the file and the problem.
absl::StatusOr<std::vector<lab::Variant>> VariantsOf(const Invocation& invocation, const lab::Algorithm& base);

// Takes --percentage-of-nodes-to-score. Returns an error if it is wrong, or if the release always looks at all nodes.
// If the flag is for several releases, its value "release" is right for each of them.
absl::Status UsePercentage(const Invocation& invocation, bool several, lab::Algorithm* a);

// Reads input that must contain exactly one Scenario. On failure prints the error, sets *exit_status and returns null.
// Objects keep their JSON also if an algorithm has extenders.
std::unique_ptr<lab::Input> ReadOneCluster(const Invocation& invocation, int* exit_status, ReadHow how = {});

}  // namespace berth::schedsim
