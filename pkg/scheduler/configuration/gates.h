// The feature gates that a configuration depends on, from whatever knows which gates were set.
#pragma once
#include <absl/functional/function_ref.h>

#include <string_view>

#include "pkg/scheduler/configuration/plugins.h"

namespace berth::scheduler::configuration {

// Returns the gates. `on` returns the value of the gate with this name, or `otherwise` if it was not set.
Gates GatesBy(absl::FunctionRef<bool(std::string_view name, bool otherwise)> on);

}  // namespace berth::scheduler::configuration
