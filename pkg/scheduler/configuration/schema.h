// A JSON Schema (draft 7) of KubeSchedulerConfiguration, with which editors complete and check a configuration. It is
// generated from fields.h and the names of the plugins.
#pragma once
#include <string>

#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/plugins.h"

namespace berth::scheduler::configuration {

// Returns the schema of the newest version that the release reads, and of older ones with the same fields. As in 1.29,
// plugins that are not in the catalogue may be disabled and may have arguments, but may not be enabled.
std::string Schema(const PluginCatalogue& catalogue, release::Version release);

}  // namespace berth::scheduler::configuration
