// A JSON Schema (draft 7) of KubeSchedulerConfiguration, made of fields.h and of the plugins that there are: editors
// complete and check a configuration by it.
#pragma once
#include <string>

#include "pkg/scheduler/configuration/plugins.h"

namespace berth::scheduler::configuration {

// Returns the schema of v1 and v1beta3. Plugins outside of the catalogue may be disabled and may have arguments, as
// for 1.29, but not be enabled.
std::string Schema(const PluginCatalogue& catalogue);

}  // namespace berth::scheduler::configuration
