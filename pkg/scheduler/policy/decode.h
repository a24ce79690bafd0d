// Reading a Policy from JSON (the only notation 1.10 accepts).
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// What a text says, with everything that is wrong with it.
struct DecodedPolicy {
  Policy policy;  // what could be read; predicates and priorities that could not have no name
  // Name line, column, path and value, or the path alone for a value inside another document.
  std::vector<std::string> errors;
  // What a later release would refuse: keys in another case, unknown keys, duplicates.
  std::vector<std::string> warnings;
};

// Reads a Policy. `kind: Policy` and `apiVersion: v1` may be left out. Keys may be in any letter case, unknown keys are
// ignored, null is absent, of duplicates the last counts.
DecodedPolicy DecodeWholePolicy(std::string_view text);
// The same of a value inside another document (a Scenario's "policy").
DecodedPolicy DecodeWholePolicy(api::Json value);

// Returns the Policy, or an error that holds all of its mistakes. ReadPolicy (factory/read_policy.h) finds more.
absl::StatusOr<Policy> DecodePolicy(std::string_view text);
absl::StatusOr<Policy> DecodePolicy(api::Json value);

// Returns one error bare and several as "[a, b]", as Kubernetes prints them.
std::string JoinedErrors(const std::vector<std::string>& errors);

}  // namespace berth::scheduler
