#pragma once
#include <string_view>

namespace berth::util {

// Returns the version of this build, from hack/version: "v1.10.0-berth.1".
std::string_view Version();

// Returns the first 12 digits of the git commit of this build, or "unknown" if it was not built from a repository.
std::string_view Commit();

}  // namespace berth::util
