// The algorithms that compare and what-if take on the command line.
#pragma once
#include <absl/status/statusor.h>

#include <vector>

#include "cmd/schedsim/command.h"
#include "pkg/lab/experiment.h"

namespace berth::schedsim {

// Declares --policy and --algorithm-provider, each of which may be repeated.
void AddVariantFlags(boost::program_options::options_description_easy_init& add);

// The algorithms that the flags name, in the order of the command line; everything that they do not say is as in
// `base`. Two of one name get numbers. Errors name the file and what is wrong with it.
absl::StatusOr<std::vector<lab::Variant>> VariantsOf(const Invocation& invocation, const lab::Algorithm& base);

// Reads the input and returns its only scenario, or prints what is wrong. Null with *exit_status set then.
std::unique_ptr<lab::Input> ReadOneCluster(const Invocation& invocation, int* exit_status);

}  // namespace berth::schedsim
