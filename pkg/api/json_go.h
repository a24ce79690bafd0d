// What Go's encoding/json says of texts that are not JSON, and how it reads some that others refuse.
#pragma once
#include <absl/status/status.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "pkg/api/rapidjson.h"

namespace berth::api::internal {

// Returns the error about the character at this place, or about the end of the text: "invalid character 'b' " and
// where.
absl::Status UnexpectedInGo(std::string_view text, size_t at, std::string_view where);
// Returns what Go says of a mistake that RapidJSON found.
absl::Status AsGoSays(rapidjson::ParseErrorCode code, size_t at, std::string_view text);

// Returns whether the text may have an escape of one half of a surrogate pair.
bool MayHaveHalfPairs(std::string_view text);
// Returns the text with U+FFFD in place of each escape of one half of a surrogate pair. It has the same size.
std::string WithoutHalfPairs(std::string_view text);

}  // namespace berth::api::internal
