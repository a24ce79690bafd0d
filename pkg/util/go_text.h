// Texts as Go reads and writes them: files, error messages and events are compared with Go's.
#pragma once
#include <absl/status/status.h>
#include <absl/time/time.h>

#include <string>
#include <string_view>

namespace berth::util {

// Returns a text as %q shows it: in quotes, with quotes, backslashes and control characters escaped.
std::string GoQuoted(std::string_view s);

// Reads "300ms", "-1.5h" or "2h45m"; every number but 0 needs a unit. The error is time.ParseDuration's:
// `time: invalid duration "abc"`.
absl::Status ParseGoDuration(const std::string& text, absl::Duration* out);

// Returns "15s", "1m0s", "1.5s", "100ms" or "0s".
std::string FormatGoDuration(absl::Duration d);

}  // namespace berth::util
