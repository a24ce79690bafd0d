// Checks a Policy for `schedsim check`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/lab/algorithm.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::schedsim {

struct PolicyReport {
  std::string file;
  std::vector<std::string> errors, warnings;  // with line and column
  std::vector<std::string> notes;             // what never runs or has no effect, and why
  scheduler::EffectiveAlgorithm effective;    // set if there are no errors
  scheduler::Policy policy;
  int hard_weight = 1;
};

// Parses and checks the text of a file as the release of the algorithm does.
PolicyReport ExaminePolicy(const std::string& file, std::string_view text, const lab::Algorithm& algorithm);
// Returns the predicates in the order of evaluation and the priorities with their weights, as a table.
std::string AlgorithmTable(const scheduler::EffectiveAlgorithm& effective, bool checks_all_predicates);

}  // namespace berth::schedsim
