// Reads a Policy from JSON, the only notation that 1.10 accepts.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// A Policy as far as it could be read, with all of its errors.
struct DecodedPolicy {
  Policy policy;  // entries whose name could not be read have an empty name
  // Each names the line, the column, the path and the value, or only the path if the Policy is a value inside another
  // document.
  std::vector<std::string> errors;
  // What a later release would refuse: keys in another letter case, unknown keys and duplicate keys.
  std::vector<std::string> warnings;
};

// Reads a Policy as releases with Policies do, with the members of that release, or of all releases for Version{}:
// `kind: Policy` and `apiVersion: v1` may be omitted, keys may be in any letter case, unknown keys are ignored
// (since 1.18: errors, but in extenders), null counts as absent, and the last of several duplicate keys counts. It is
// JSON, and since 1.18 it may be YAML.
DecodedPolicy DecodeWholePolicy(std::string_view text, release::Version release = {});
// The same for a value inside another document, such as the "policy" of a Scenario.
DecodedPolicy DecodeWholePolicy(api::Json value, release::Version release = {});

// Return the Policy, or an error that contains all of its mistakes. ReadPolicy (factory/read_policy.h) finds more.
absl::StatusOr<Policy> DecodePolicy(std::string_view text, release::Version release = {});
absl::StatusOr<Policy> DecodePolicy(api::Json value, release::Version release = {});

// Returns a single error as it is, and several as "[a, b]", as Kubernetes does.
std::string JoinedErrors(const std::vector<std::string>& errors);

}  // namespace berth::scheduler
