// Release 1.19: its plugins as registered rules, its algorithm providers, and what a Policy stands for.
#pragma once
#include <span>

#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_19 {

const scheduler::Release& Decides();
// Returns what happens around a decision.
const scheduler::Process& Proceeds();
// Returns how the daemon looks from outside.
const DaemonForm& Serves();
const scheduler::configuration::PluginCatalogue& Plugins();
// Which events wake which pods.
const scheduler::Wakes& RejectionWakes();
const scheduler::configuration::PolicyNames& PolicyNames();
// Returns the feature gates with their defaults, sorted by name.
std::span<const util::FeatureGate> Gates();
// Those that its scheduler reads, and that are accepted here without effect.
std::span<const std::string_view> GatesWithoutEffect();

}  // namespace berth::releases::v1_19
