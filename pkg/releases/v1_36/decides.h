// Release 1.36: its plugins as registered rules.
#pragma once
#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_36 {

const scheduler::Release& Decides();
// Returns what happens around a decision.
const scheduler::Process& Proceeds();
// Returns how the daemon looks from outside.
const DaemonForm& Serves();
const scheduler::configuration::PluginCatalogue& Plugins();
std::span<const util::FeatureGate> Gates();
std::span<const std::string_view> GatesWithoutEffect();
// Which events wake which pods.
const scheduler::Wakes& RejectionWakes();

}  // namespace berth::releases::v1_36
