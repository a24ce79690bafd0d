// Converts a scheduler's configuration from one release to another: the result decides the same, as far as that can be
// said there, and the rest is noted.
//
// A source (source.h) is read as its release reads it; its meaning (meaning.h) is written as a Policy (to_policy.h) or
// as a configuration (to_configuration.h). Functions of values: nothing is kept, and only Options::read_file reads.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "pkg/convert/meaning.h"
#include "pkg/convert/source.h"

namespace berth::convert {

struct Conversion {
  Source source;
  std::string json;        // the converted document, in JSON
  bool is_policy = false;  // otherwise it is a KubeSchedulerConfiguration
  Notes notes;             // what has no equal
};

// Returns the document in the form of options.to, or an error with the mistakes of the source.
absl::StatusOr<Conversion> Convert(std::string_view text, const Options& options);

}  // namespace berth::convert
