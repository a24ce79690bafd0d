// Follows Go's strconv and encoding/json.
#include "cmd/kube-scheduler/go_text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace berth::kube_scheduler {
namespace {

absl::Status SyntaxError(std::string_view function, const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.", std::string(function), ": parsing ", GoQuoted(text), ": invalid syntax"));
}
absl::Status RangeError(std::string_view function, const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.", std::string(function), ": parsing ", GoQuoted(text), ": value out of range"));
}

}  // namespace

absl::Status ParseInt(const std::string& text, int bits, int64_t* out) {
  std::string_view s = text;
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  int base = 10;
  if (s.size() > 1 && s[0] == '0') {
    if (s[1] == 'x' || s[1] == 'X') {
      base = 16;
      s.remove_prefix(2);
    } else {
      base = 8;
      s.remove_prefix(1);
    }
  }
  uint64_t v = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v, base);
  if (s.empty() || end != s.data() + s.size()) return SyntaxError("ParseInt", text);
  const uint64_t limit = uint64_t{1} << (bits - 1);
  if (error == std::errc::result_out_of_range || v > (negative ? limit : limit - 1))
    return RangeError("ParseInt", text);
  *out = negative ? static_cast<int64_t>(-v) : static_cast<int64_t>(v);
  return absl::OkStatus();
}

absl::Status ParseBool(const std::string& text, bool* out) {
  for (const char* t : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == t) {
      *out = true;
      return absl::OkStatus();
    }
  }
  for (const char* f : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == f) {
      *out = false;
      return absl::OkStatus();
    }
  }
  return SyntaxError("ParseBool", text);
}

absl::Status ParseFloat32(const std::string& text, float* out) {
  std::string_view s = text;
  if (!s.empty() && s[0] == '+') s.remove_prefix(1);
  float v = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error == std::errc::result_out_of_range) return RangeError("ParseFloat", text);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return SyntaxError("ParseFloat", text);
  *out = v;
  return absl::OkStatus();
}

namespace {

template <typename F>
std::string Shortest(F v, int exponent_from) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "+Inf" : "-Inf";
  if (v == 0) return std::signbit(v) ? "-0" : "0";
  std::array<char, 64> buffer;
  auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v, std::chars_format::scientific);
  const std::string_view s(buffer.data(), static_cast<size_t>(r.ptr - buffer.data()));
  const size_t e = s.find('e');
  int exponent = 0;
  std::from_chars(s.data() + e + (s[e + 1] == '+' ? 2 : 1), s.data() + s.size(), exponent);
  if (exponent < -4 || exponent >= exponent_from) return std::string(s);
  r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v, std::chars_format::fixed);
  return std::string(buffer.data(), static_cast<size_t>(r.ptr - buffer.data()));
}

}  // namespace

std::string FormatGoFloat(double v) {
  return Shortest(v, 6);
}
std::string FormatGoFloat32(float v) {
  return Shortest(v, 6);
}
std::string JsonFloat32(float v) {
  return Shortest(v, 21);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const auto failed = [&](const char* what) {
    return absl::NotFoundError(absl::StrCat(what, " ", path, ": ", absl::AsciiStrToLower(std::strerror(errno))));
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed("open");
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const absl::Status s = failed("read");
      close(fd);
      return s;
    }
    if (n == 0) break;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  close(fd);
  return text;
}

}  // namespace berth::kube_scheduler
