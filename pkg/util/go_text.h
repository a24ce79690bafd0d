// Reads and writes texts as Go does, because files, error messages and events must equal Go's.
#pragma once
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <string>
#include <string_view>

namespace berth::util {

// Returns a text as Go's %q prints it: in quotes, with quotes, backslashes and control characters escaped.
std::string GoQuoted(std::string_view s);

// Parses "300ms", "-1.5h" or "2h45m". Every number except 0 needs a unit. Errors are those of time.ParseDuration:
// `time: invalid duration "abc"`.
absl::Status ParseGoDuration(const std::string& text, absl::Duration* out);

// Returns "15s", "1m0s", "1.5s", "100ms" or "0s".
std::string FormatGoDuration(absl::Duration d);

}  // namespace berth::util
