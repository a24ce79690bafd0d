// YAML as the kubectl of 1.10 reads it.
#pragma once
#include <absl/status/status.h>

#include <string_view>

#include "pkg/api/json.h"

namespace berth::api {

// Reads YAML documents separated by "---" into the sink; empty ones are skipped. Of a list that the sink wants split,
// one element is held at a time. Aliases and merge keys (<<) are resolved; the size of what they expand to is limited,
// and so is the depth. Plain scalars become JSON by YAML 1.1: true/yes/on, false/no/off, null/~, integers (0x, 0 octal,
// 0b, _), floats; everything else is a string. Errors give line and column.
absl::Status ReadYaml(std::string_view text, JsonSink& sink);

}  // namespace berth::api
