// Release 1.13: its algorithms by name, the key sets of its two providers, and what else is specific to it.
#pragma once
#include <span>

#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_13 {

const scheduler::Release& Decides();
// Returns the feature gates with their defaults, sorted by name.
std::span<const util::FeatureGate> Gates();

}  // namespace berth::releases::v1_13
