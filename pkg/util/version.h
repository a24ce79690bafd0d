#pragma once
#include <string_view>

namespace berth::util {

// The version this was built as, from hack/version: "v1.10.0-berth.1".
std::string_view Version();

// Returns the first 12 digits of the git commit that this was built from, or "unknown" when there was no repository.
std::string_view Commit();

}  // namespace berth::util
