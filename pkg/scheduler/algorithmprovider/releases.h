// The releases that can be emulated.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

// Returns all of them in ascending order.
std::span<const Release* const> Releases();
// Returns release 1.10.
const Release& DefaultRelease();
// Returns the release of that name, or null.
const Release* FindRelease(std::string_view name);
// Returns the names of all releases for messages, separated by ", ".
std::string ReleaseNames();

}  // namespace berth::scheduler::algorithmprovider
