// Release 1.29: its plugins as registered rules.
#pragma once
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_29 {

const scheduler::Release& Decides();
const scheduler::configuration::PluginCatalogue& Plugins();
const scheduler::Wakes& RejectionWakes();

}  // namespace berth::releases::v1_29
