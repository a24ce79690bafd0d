#include "pkg/simulate/times.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <array>
#include <cmath>

#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

struct Unit {
  std::string_view name;
  Micros micros;
};
constexpr std::array<Unit, 6> kUnits = {
    {{"d", 86'400 * kSecond}, {"h", 3'600 * kSecond}, {"ms", 1'000}, {"m", 60 * kSecond}, {"us", 1}, {"s", kSecond}}};

bool IsDigit(char c) {
  return (c >= '0' && c <= '9') || c == '.';
}

}  // namespace

absl::StatusOr<Micros> ParseTime(std::string_view text) {
  auto time = ParseTimeValue(text);
  if (time.ok()) return time;
  return util::InvalidArgument(absl::StrCat(util::GoQuoted(text), " is not a time: ", time.status().message()));
}

absl::StatusOr<Micros> ParseTimeValue(std::string_view text) {
  constexpr std::string_view kForm = "must be seconds, or amounts with units such as 90s, 1h30m or 2d";
  if (text.empty()) return util::InvalidArgument(kForm);
  if (text[0] == '-') return util::InvalidArgument("it must not be negative");
  double micros = 0;
  for (std::string_view rest = text; !rest.empty();) {
    size_t digits = 0;
    while (digits < rest.size() && IsDigit(rest[digits])) ++digits;
    double amount = 0;
    if (digits == 0 || !absl::SimpleAtod(util::ToAbsl(rest.substr(0, digits)), &amount))
      return util::InvalidArgument(kForm);
    rest.remove_prefix(digits);
    if (rest.empty()) {
      if (digits != text.size()) return util::InvalidArgument("the last amount has no unit");
      micros = amount * static_cast<double>(kSecond);
      break;
    }
    const Unit* unit = nullptr;
    for (const Unit& u : kUnits) {
      if (unit == nullptr && rest.substr(0, u.name.size()) == u.name) unit = &u;
    }
    if (unit == nullptr) return util::InvalidArgument("the units are d, h, m, s, ms and us");
    rest.remove_prefix(unit->name.size());
    micros += amount * static_cast<double>(unit->micros);
  }
  if (micros > 9e18 / 4) return util::InvalidArgument("it is beyond 70,000 years");
  return static_cast<Micros>(std::llround(micros));
}

std::string TimeText(Micros time) {
  if (time == kNever) return "never";
  if (time < kSecond) return time == 0 ? "0s" : absl::StrFormat("%.3gms", static_cast<double>(time) / 1e3);
  const Micros seconds = time / kSecond;
  if (seconds < 60) return absl::StrFormat("%.3gs", static_cast<double>(time) / 1e6);
  const auto two = [](Micros first, const char* a, Micros second, const char* b) {
    return second == 0 ? absl::StrCat(first, a) : absl::StrCat(first, a, second, b);
  };
  if (seconds < 3'600) return two(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86'400) return two(seconds / 3'600, "h", seconds % 3'600 / 60, "m");
  return two(seconds / 86'400, "d", seconds % 86'400 / 3'600, "h");
}

std::string SecondsText(Micros time) {
  std::string text = absl::StrFormat("%d.%06d", time / kSecond, time % kSecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace berth::simulate
