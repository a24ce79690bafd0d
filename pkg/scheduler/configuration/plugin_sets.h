// The lists of plugins in a profile, by extension point.
#pragma once
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

const PluginSet& SetOf(const Plugins& p, ExtensionPoint point);

}  // namespace berth::scheduler::configuration
