// Times as people write them.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

// Reads a number of seconds ("90", "0.5"), or amounts with units: "90s", "1h30m", "2d", "250ms". The units are d, h, m,
// s, ms and us. What is finer than a microsecond is rounded. An error says what would be right. A negative time is an
// error.
absl::StatusOr<Micros> ParseTime(std::string_view text);
// Does the same, but an error leaves the text out, for a message that has it.
absl::StatusOr<Micros> ParseTimeValue(std::string_view text);

// Returns the time with at most two units: "0s", "340ms", "12.5s", "1h30m", "149d3h".
std::string TimeText(Micros time);

// Returns seconds as a decimal number without needless digits: "0", "0.25", "12537496".
std::string SecondsText(Micros time);

}  // namespace berth::simulate
