#pragma once
#include <string_view>

namespace berth::util {

// The version this was built as, from hack/version: "v1.10.0-berth.1".
std::string_view Version();

}  // namespace berth::util
