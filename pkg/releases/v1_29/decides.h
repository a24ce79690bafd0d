// Release 1.29: its plugins as registered rules.
#pragma once
#include <span>

#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/registry/release.h"
#include "pkg/util/feature_gates.h"

namespace berth::releases::v1_29 {

const scheduler::Release& Decides();
// Returns what happens around a decision.
const scheduler::Process& Proceeds();
// Returns how the daemon looks from outside.
const DaemonForm& Serves();
// Returns the feature gates and their defaults, sorted by name.
std::span<const util::FeatureGate> Gates();
const scheduler::configuration::PluginCatalogue& Plugins();
const scheduler::Wakes& RejectionWakes();

}  // namespace berth::releases::v1_29
