// The version that a server of a release says it is.
#pragma once
#include <string>

#include "pkg/store/api_types.h"

namespace berth::apiserver {

// Returns "v1.36.0-berth.1".
std::string GitVersion(Version release);

}  // namespace berth::apiserver
