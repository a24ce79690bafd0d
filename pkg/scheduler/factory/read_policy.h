// Reads a Policy from its text and reports all of its mistakes together.
#pragma once
#include <absl/status/statusor.h>

#include <string_view>

#include "pkg/api/json.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/decode.h"

namespace berth::scheduler {

// Returns the Policy, or an error if it cannot be read. In that case, the error also contains what building a scheduler
// from the readable rest would report, such as unregistered names, so that one mistake does not hide another. A Policy
// that can be read is not checked further, because CreateFromConfig does that.
absl::StatusOr<Policy> ReadPolicy(std::string_view text, const Release& release, const SchedulerGates& gates,
                                  std::vector<std::string>* warnings = nullptr);
absl::StatusOr<Policy> ReadPolicy(api::Json value, const Release& release, const SchedulerGates& gates,
                                  std::vector<std::string>* warnings = nullptr);

}  // namespace berth::scheduler
