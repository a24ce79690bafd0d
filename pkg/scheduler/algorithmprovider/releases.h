// The releases that can be emulated.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

// In ascending order.
std::span<const Release* const> Releases();
// Returns 1.10.
const Release& DefaultRelease();
// Returns null when there is no such release.
const Release* FindRelease(std::string_view name);
// Returns the names for messages: "1.10, 1.29".
std::string ReleaseNames();

}  // namespace berth::scheduler::algorithmprovider
