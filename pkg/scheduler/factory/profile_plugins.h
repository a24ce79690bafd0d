// The plugins that a profile of release 1.29 may name in this process.
#pragma once
#include "pkg/scheduler/configuration/plugins.h"

namespace berth::scheduler {

// Returns the in-tree plugins and those that were registered through plugin/. Of the latter, a predicate is a plugin
// with Filter, a priority is one with Score, and both under one name are one plugin with both.
configuration::PluginCatalogue PluginsToConfigure();

}  // namespace berth::scheduler
