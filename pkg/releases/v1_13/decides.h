// Release 1.13: its algorithms by name, the key sets of its two providers, and what else is specific to it.
#pragma once
#include <span>

#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_13 {

const scheduler::Release& Decides();
// Returns what happens around a decision.
const scheduler::Process& Proceeds();
// Returns how the daemon looks from outside.
const DaemonForm& Serves();
// Returns the feature gates with their defaults, sorted by name.
std::span<const util::FeatureGate> Gates();
// Those that its scheduler reads, and that are accepted here without effect.
std::span<const std::string_view> GatesWithoutEffect();

}  // namespace berth::releases::v1_13
