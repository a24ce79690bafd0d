// Follows Go's strconv and time packages, including their corner cases and error texts.
#include "pkg/util/go_text.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <charconv>
#include <cmath>

namespace berth::util {

std::string GoQuoted(std::string_view s) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char ch : s) {
    unsigned char c = static_cast<unsigned char>(ch);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\a':
        out += "\\a";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\v':
        out += "\\v";
        break;
      default:
        if (c < 0x20 || c == 0x7f) {
          out += "\\x";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += ch;
        }
    }
  }
  return out + "\"";
}

absl::Status ParseGoDuration(const std::string& text, absl::Duration* out) {
  const auto invalid = [&] {
    return absl::InvalidArgumentError(absl::StrCat("time: invalid duration ", GoQuoted(text)));
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
      return absl::InvalidArgumentError(absl::StrCat("time: missing unit in duration ", GoQuoted(text)));
    }
    double scale = 0;
    for (const auto& [name, ns] : kUnits) {
      if (name == unit) scale = ns;
    }
    if (scale == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("time: unknown unit ", GoQuoted(unit), " in duration ", GoQuoted(text)));
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

}  // namespace berth::util
