// A Policy from its text, with all of its mistakes at once.
#pragma once
#include <absl/status/statusor.h>

#include <string_view>

#include "pkg/api/json.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/decode.h"

namespace berth::scheduler {

// Returns the Policy, or an error when it cannot be read. That error also says what building a scheduler from the rest
// would find, such as names that are not registered, so that a wrong duration does not hide a wrong name. A Policy that
// can be read is not checked further: CreateFromConfig does that.
absl::StatusOr<Policy> ReadPolicy(std::string_view text, const SchedulerGates& gates,
                                  std::vector<std::string>* warnings = nullptr);
absl::StatusOr<Policy> ReadPolicy(api::Json value, const SchedulerGates& gates,
                                  std::vector<std::string>* warnings = nullptr);

}  // namespace berth::scheduler
