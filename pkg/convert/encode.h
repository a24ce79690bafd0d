// Writes a KubeSchedulerConfiguration as JSON that the decoder (pkg/scheduler/configuration/decode.h) reads back as the
// same values.
#pragma once
#include <string>

#include "pkg/convert/meaning.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::convert {

// Returns the document in the version that `c.version` names. Members whose values are the defaults of that version are
// left out, and so is what the version does not know. Arguments of plugins that have no type are copied as they are.
std::string Encode(const configuration::KubeSchedulerConfiguration& c);

// Returns the arguments of a plugin as JSON in the same way: "{}" if all are the defaults, "null" if there are none.
std::string EncodeArgs(const configuration::PluginArgs& args, configuration::Version version);

// Returns the newest version that a release reads. REQUIRES: it has profiles.
configuration::Version NewestVersionOf(release::Version release);
// Returns what a document of the version means that says nothing, without profiles.
configuration::KubeSchedulerConfiguration DefaultConfiguration(configuration::Version version);

}  // namespace berth::convert
