// Release 1.36: its plugins as registered rules.
#pragma once
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_36 {

const scheduler::Release& Decides();
const scheduler::configuration::PluginCatalogue& Plugins();
// Which events wake which pods.
const scheduler::Wakes& RejectionWakes();

}  // namespace berth::releases::v1_36
