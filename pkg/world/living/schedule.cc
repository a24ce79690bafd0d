#include "pkg/world/living/schedule.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pkg/util/status.h"

namespace berth::world::living {
namespace {

struct Field {
  std::string_view name;
  int first, last;
  std::string_view names;  // of the values from `first` on, separated by blanks
};
constexpr Field kFields[] = {{"minute", 0, 59, ""},
                             {"hour", 0, 23, ""},
                             {"day of the month", 1, 31, ""},
                             {"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
                             {"day of the week", 0, 6, "sun mon tue wed thu fri sat"}};

// Returns the value of a number or name; -1 if it is neither.
int ValueOf(const std::string& text, const Field& f) {
  int n = 0;
  if (absl::SimpleAtoi(text, &n)) return f.last == 6 && n == 7 ? 0 : n;
  const std::vector<std::string> names = absl::StrSplit(util::ToAbsl(f.names), ' ', absl::SkipEmpty());
  const auto it = std::find(names.begin(), names.end(), absl::AsciiStrToLower(text));
  return it == names.end() ? -1 : f.first + static_cast<int>(it - names.begin());
}

bool ReadPart(const std::string& part, const Field& f, std::bitset<64>* bits) {
  const std::pair<std::string, std::string> halves = absl::StrSplit(part, absl::MaxSplits('/', 1));
  int step = 1, first = f.first, last = f.last;
  if (!halves.second.empty() && (!absl::SimpleAtoi(halves.second, &step) || step < 1)) return false;
  if (halves.first != "*" && halves.first != "?") {
    const std::pair<std::string, std::string> ends = absl::StrSplit(halves.first, absl::MaxSplits('-', 1));
    first = ValueOf(ends.first, f);
    last = !ends.second.empty() ? ValueOf(ends.second, f) : halves.second.empty() ? first : f.last;
  }
  if (first < f.first || last > f.last || first > last) return false;
  for (int n = first; n <= last; n += step) bits->set(static_cast<size_t>(n));
  return true;
}

}  // namespace

absl::StatusOr<Schedule> Schedule::Parse(std::string_view text) {
  struct Short {
    std::string_view name, fields;
  };
  static constexpr Short kShort[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                                     {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                                     {"@hourly", "0 * * * *"}};
  for (const Short& s : kShort) {
    if (s.name == text) text = s.fields;
  }
  const std::vector<std::string> words = absl::StrSplit(util::ToAbsl(text), ' ', absl::SkipWhitespace());
  if (words.size() != std::size(kFields)) {
    return util::InvalidArgument(
        absl::StrCat("\"", util::ToAbsl(text), "\" has ", words.size(),
                     " fields; minute, hour, day of the month, month and day of the week are wanted"));
  }
  Schedule s;
  std::bitset<64>* const bits[] = {&s.minutes_, &s.hours_, &s.days_, &s.months_, &s.weekdays_};
  for (size_t i = 0; i < words.size(); ++i) {
    for (absl::string_view part : absl::StrSplit(words[i], ',')) {
      if (ReadPart(std::string(part), kFields[i], bits[i])) continue;
      return util::InvalidArgument(absl::StrCat("\"", words[i], "\" is not a ", util::ToAbsl(kFields[i].name)));
    }
  }
  s.any_day_ = words[2].starts_with('*') || words[2] == "?";
  s.any_weekday_ = words[4].starts_with('*') || words[4] == "?";
  return s;
}

bool Schedule::HasDay(absl::CivilDay day) const {
  if (!months_.test(static_cast<size_t>(day.month()))) return false;
  const auto monday_first = static_cast<size_t>(absl::GetWeekday(day));
  const bool by_day = days_.test(static_cast<size_t>(day.day())), by_week = weekdays_.test((monday_first + 1) % 7);
  // Either of two that are given is enough.
  return any_day_ || any_weekday_ ? by_day && by_week : by_day || by_week;
}

std::optional<absl::Time> Schedule::Next(absl::Time after, absl::TimeZone zone) const {
  constexpr int kMostDays = 8 * 366;
  absl::CivilMinute m = absl::ToCivilMinute(after, zone) + 1;
  absl::CivilDay day(m);
  for (int i = 0; i < kMostDays; ++i, ++day, m = absl::CivilMinute(day)) {
    if (!HasDay(day)) continue;
    for (; absl::CivilDay(m) == day; ++m) {
      if (!hours_.test(static_cast<size_t>(m.hour())) || !minutes_.test(static_cast<size_t>(m.minute()))) continue;
      const absl::Time t = absl::FromCivil(m, zone);
      if (t > after) return t;
    }
  }
  return std::nullopt;
}

std::optional<absl::Time> Schedule::LastBetween(absl::Time after, absl::Time now, absl::TimeZone zone) const {
  absl::CivilMinute m = absl::ToCivilMinute(now, zone);
  const absl::CivilMinute end = absl::ToCivilMinute(std::max(after, now - absl::Hours(24 * 366)), zone);
  for (; m >= end; --m) {
    if (!HasDay(absl::CivilDay(m)) || !hours_.test(static_cast<size_t>(m.hour())) ||
        !minutes_.test(static_cast<size_t>(m.minute()))) {
      continue;
    }
    const absl::Time t = absl::FromCivil(m, zone);
    return t > after && t <= now ? std::optional(t) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace berth::world::living
