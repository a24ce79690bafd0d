// The plugins that a profile of a release may name in this process.
#pragma once
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler {

// Returns the release's plugins and those that were registered through plugin/. Of the latter, a predicate is a plugin
// with Filter, a priority is one with Score, and both under one name are one plugin with both. REQUIRES: the release is
// configured by profiles.
configuration::PluginCatalogue PluginsToConfigure(const Release& release);

}  // namespace berth::scheduler
