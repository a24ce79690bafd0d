// Reads and writes values as Go does, because the command line, configuration files and metrics must agree with Go's.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/util/go_text.h"

namespace berth::kube_scheduler {

// Parses as strconv.ParseInt with base 0 (0x10, 010, -5) and checks the range of `bits`. Errors are strconv's:
// `strconv.ParseInt: parsing "abc": invalid syntax`.
absl::Status ParseInt(const std::string& text, int bits, int64_t* out);
// Accepts 1, t, T, TRUE, true, True, 0, f, F, FALSE, false, False.
absl::Status ParseBool(const std::string& text, bool* out);
absl::Status ParseFloat32(const std::string& text, float* out);
using util::FormatGoDuration;
using util::GoQuoted;
using util::ParseGoDuration;
// Returns the shortest text that reads back as the same number, with an exponent from 1e+06 on, as %v writes it.
std::string FormatGoFloat(double v);
std::string FormatGoFloat32(float v);
// Returns the number as encoding/json writes it, with an exponent from 1e+21 on.
std::string JsonFloat32(float v);
// Returns the content of a file. Errors are Go's: "open /x: no such file or directory", "read /x: is a directory".
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace berth::kube_scheduler
