// Values as Go reads and writes them: the command line, configuration files and metrics are compared with Go's.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/util/go_text.h"

namespace berth::kube_scheduler {

// strconv.ParseInt with base 0 (0x10, 010, -5), range checked to `bits`. Errors are strconv's:
// `strconv.ParseInt: parsing "abc": invalid syntax`.
absl::Status ParseInt(const std::string& text, int bits, int64_t* out);
// 1, t, T, TRUE, true, True, 0, f, F, FALSE, false, False.
absl::Status ParseBool(const std::string& text, bool* out);
absl::Status ParseFloat32(const std::string& text, float* out);
using util::ParseGoDuration;

using util::FormatGoDuration;
// The shortest text that reads back as the same number, with an exponent from 1e+06 up, as %v writes it.
std::string FormatGoFloat(double v);
std::string FormatGoFloat32(float v);
// The same as encoding/json writes it: with an exponent from 1e+21 up.
std::string JsonFloat32(float v);
// A whole file; errors as Go's: "open /x: no such file or directory", "read /x: is a directory".
absl::StatusOr<std::string> ReadFile(const std::string& path);
inline std::string Quoted(std::string_view s) {
  return util::GoQuoted(s);
}

}  // namespace berth::kube_scheduler
