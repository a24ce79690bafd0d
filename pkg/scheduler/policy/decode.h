// Reading a Policy from JSON (the only notation 1.10 accepts).
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler {

// `kind: Policy` and `apiVersion: v1` may be left out. Keys in any case, unknown keys ignored, null as absent, of
// duplicates the last. Errors name line, column, path and value; several are joined, "[a, b]". `warnings` (may be null)
// gets what a later release would refuse: keys in another case, unknown keys, duplicates. `errors` (may be null) gets
// the mistakes one by one.
absl::StatusOr<Policy> DecodePolicy(std::string_view text, std::vector<std::string>* warnings = nullptr,
                                    std::vector<std::string>* errors = nullptr);

// The same from a value inside another document (a Scenario's "policy"); errors name the path only.
absl::StatusOr<Policy> DecodePolicy(api::Json value, std::vector<std::string>* warnings = nullptr);

}  // namespace berth::scheduler
