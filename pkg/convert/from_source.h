// Says what a source means.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>

#include "pkg/convert/meaning.h"
#include "pkg/convert/source.h"

namespace berth::convert {

// Returns the meaning, or an error that names what its release does not have. `notes` gets what cannot be said in
// common words, such as a second priority of a kind of which later releases have one.
absl::StatusOr<Meaning> MeaningOf(const Source& source, const std::map<std::string, bool>& gates, Notes* notes);

}  // namespace berth::convert
