// Writes a meaning as a KubeSchedulerConfiguration, for releases that have profiles.
#pragma once
#include <string>

#include "pkg/convert/meaning.h"
#include "pkg/release/release.h"

namespace berth::convert {

// Returns the text of the configuration, in JSON, in the newest version that the release reads. Appends what it cannot
// say to `notes`.
std::string ToConfiguration(const Meaning& meaning, const release::Id& to, const configuration::Gates& gates,
                            Notes* notes);

}  // namespace berth::convert
