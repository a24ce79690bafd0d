// Writes a meaning as a Policy, for releases that have no profiles.
#pragma once
#include <map>
#include <string>

#include "pkg/convert/meaning.h"
#include "pkg/release/release.h"

namespace berth::convert {

// Returns the text of the Policy, in JSON on one line, and appends what it cannot say to `notes`. Of several profiles
// the first one is written.
std::string ToPolicy(const Meaning& meaning, const release::Id& to, const std::map<std::string, bool>& gates,
                     Notes* notes);

}  // namespace berth::convert
