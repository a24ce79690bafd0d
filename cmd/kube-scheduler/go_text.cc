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
      absl::StrCat("strconv.", std::string(function), ": parsing ", Quoted(text), ": invalid syntax"));
}
absl::Status RangeError(std::string_view function, const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.", std::string(function), ": parsing ", Quoted(text), ": value out of range"));
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

absl::Status ParseGoDuration(const std::string& text, absl::Duration* out) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(absl::StrCat("time: invalid duration ", Quoted(text)));
  };
  std::string_view s = text;
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  if (s == "0") {
    *out = absl::ZeroDuration();
    return absl::OkStatus();
  }
  if (s.empty()) return invalid();
  double nanos = 0;
  while (!s.empty()) {
    size_t n = 0;
    while (n < s.size() && (s[n] == '.' || (s[n] >= '0' && s[n] <= '9'))) ++n;
    double v = 0;
    auto [end, error] = std::from_chars(s.data(), s.data() + n, v);
    if (n == 0 || s.substr(0, n) == "." || error != std::errc() || end != s.data() + n) return invalid();
    s.remove_prefix(n);
    size_t u = 0;
    while (u < s.size() && s[u] != '.' && !(s[u] >= '0' && s[u] <= '9')) ++u;
    const std::string_view unit = s.substr(0, u);
    static constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {{{"ns", 1},
                                                                                   {"us", 1e3},
                                                                                   {"\u00b5s", 1e3},
                                                                                   {"\u03bcs", 1e3},
                                                                                   {"ms", 1e6},
                                                                                   {"s", 1e9},
                                                                                   {"m", 60e9},
                                                                                   {"h", 3600e9}}};
    if (unit.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("time: missing unit in duration ", Quoted(text)));
    }
    double scale = 0;
    for (const auto& [name, ns] : kUnits) {
      if (name == unit) scale = ns;
    }
    if (scale == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("time: unknown unit ", Quoted(unit), " in duration ", Quoted(text)));
    }
    nanos += v * scale;
    s.remove_prefix(u);
  }
  if (nanos > 9.2e18) return invalid();
  *out = absl::Nanoseconds(static_cast<int64_t>(std::llround(negative ? -nanos : nanos)));
  return absl::OkStatus();
}

std::string FormatGoDuration(absl::Duration d) {
  int64_t ns = absl::ToInt64Nanoseconds(d);
  if (ns == 0) return "0s";
  std::string out = ns < 0 ? "-" : "";
  uint64_t u = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  const auto fraction = [](uint64_t value, uint64_t unit) {
    std::string s = absl::StrCat(value / unit);
    if (value % unit != 0) {
      std::string rest = absl::StrCat(unit + value % unit).substr(1);  // with leading zeros
      while (rest.back() == '0') rest.pop_back();
      absl::StrAppend(&s, ".", rest);
    }
    return s;
  };
  if (u < 1'000) return absl::StrCat(out, u, "ns");
  if (u < 1'000'000) return absl::StrCat(out, fraction(u, 1'000), "\u00b5s");
  if (u < 1'000'000'000) return absl::StrCat(out, fraction(u, 1'000'000), "ms");
  const uint64_t hours = u / 3'600'000'000'000, minutes = u / 60'000'000'000 % 60;
  if (hours > 0) absl::StrAppend(&out, hours, "h");
  if (hours > 0 || minutes > 0) absl::StrAppend(&out, minutes, "m");
  return absl::StrCat(out, fraction(u % 60'000'000'000, 1'000'000'000), "s");
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

std::string Quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          absl::StrAppend(&out, absl::StrFormat("\\x%02x", static_cast<unsigned>(c)));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

}  // namespace berth::kube_scheduler
