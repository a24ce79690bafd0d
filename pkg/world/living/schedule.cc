#include "pkg/world/living/schedule.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/living/fields.h"

namespace berth::world::living {
namespace {

constexpr absl::Duration kOneMinute = absl::Minutes(1);

struct Field {
  int first, last;
  std::string_view names;  // of the values from `first` on, separated by blanks
};
// Minute, hour, day of the month, month, day of the week.
constexpr Field kFields[] = {{0, 59, ""},
                             {0, 23, ""},
                             {1, 31, ""},
                             {1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
                             {0, 6, "sun mon tue wed thu fri sat"}};

// Reads a number or a name. The errors are those of github.com/robfig/cron, which servers pass on.
absl::StatusOr<int> ValueOf(const std::string& text, const Field& f) {
  const std::vector<std::string> names = absl::StrSplit(util::ToAbsl(f.names), ' ', absl::SkipEmpty());
  const auto it = std::find(names.begin(), names.end(), absl::AsciiStrToLower(text));
  if (it != names.end()) return f.first + static_cast<int>(it - names.begin());
  int n = 0;
  if (!absl::SimpleAtoi(text, &n)) {
    return util::InvalidArgument(
        absl::StrCat("failed to parse int from ", text, ": strconv.Atoi: parsing \"", text, "\": invalid syntax"));
  }
  if (n < 0) return util::InvalidArgument(absl::StrCat("negative number (", n, ") not allowed: ", text));
  return n;
}

absl::Status ReadPart(const std::string& part, const Field& f, std::bitset<64>* bits) {
  const std::vector<std::string> halves = absl::StrSplit(part, '/');
  const std::vector<std::string> ends = absl::StrSplit(halves[0], '-');
  if (halves.size() > 2) return util::InvalidArgument(absl::StrCat("too many slashes: ", part));
  if (ends.size() > 2) return util::InvalidArgument(absl::StrCat("too many hyphens: ", part));
  int step = 1, first = f.first, last = f.last;
  if (ends[0] != "*" && ends[0] != "?") {
    const auto begin = ValueOf(ends[0], f);
    if (!begin.ok()) return begin.status();
    first = *begin;
    const auto end = ends.size() > 1 ? ValueOf(ends[1], f) : begin;
    if (!end.ok()) return end.status();
    last = ends.size() == 1 && halves.size() > 1 ? f.last : *end;
  }
  if (halves.size() > 1) {
    const auto given = ValueOf(halves[1], Field{0, 0, ""});
    if (!given.ok()) return given.status();
    step = *given;
  }
  if (first < f.first) {
    return util::InvalidArgument(
        absl::StrCat("beginning of range (", first, ") below minimum (", f.first, "): ", part));
  }
  if (last > f.last) {
    return util::InvalidArgument(absl::StrCat("end of range (", last, ") above maximum (", f.last, "): ", part));
  }
  if (first > last) {
    return util::InvalidArgument(
        absl::StrCat("beginning of range (", first, ") beyond end of range (", last, "): ", part));
  }
  if (step == 0) return util::InvalidArgument(absl::StrCat("step of range should be a positive number: ", part));
  for (int n = first; n <= last; n += step) bits->set(static_cast<size_t>(n));
  return absl::OkStatus();
}

// Returns whether a field leaves it open which day it is: "*", but not "*/2".
bool IsAny(const std::string& field) {
  const std::vector<std::string> parts = absl::StrSplit(field, ',');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "*" || part == "?" || part == "*/1" || part == "?/1";
  });
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
  Schedule s;
  constexpr std::string_view kEvery = "@every ";
  if (text.starts_with(kEvery)) {
    const std::string given(text.substr(kEvery.size()));
    if (!absl::ParseDuration(given, &s.every_) || s.every_ == absl::InfiniteDuration()) {
      return util::InvalidArgument(
          absl::StrCat("failed to parse duration ", util::ToAbsl(text), ": time: invalid duration \"", given, "\""));
    }
    s.every_ = std::max(absl::Trunc(s.every_, absl::Seconds(1)), absl::Seconds(1));
    return s;
  }
  if (text.starts_with('@')) {
    return util::InvalidArgument(absl::StrCat("unrecognized descriptor: ", util::ToAbsl(text)));
  }
  const std::vector<std::string> words = absl::StrSplit(util::ToAbsl(text), ' ', absl::SkipWhitespace());
  if (words.size() != std::size(kFields)) {
    return util::InvalidArgument(
        absl::StrCat("expected exactly 5 fields, found ", words.size(), ": [", absl::StrJoin(words, " "), "]"));
  }
  std::bitset<64>* const bits[] = {&s.minutes_, &s.hours_, &s.days_, &s.months_, &s.weekdays_};
  for (size_t i = 0; i < words.size(); ++i) {
    for (absl::string_view part : absl::StrSplit(words[i], ',')) {
      if (absl::Status status = ReadPart(std::string(part), kFields[i], bits[i]); !status.ok()) return status;
    }
  }
  s.any_day_ = IsAny(words[2]);
  s.any_weekday_ = IsAny(words[4]);
  return s;
}

bool Schedule::HasDay(absl::CivilDay day) const {
  if (!months_.test(static_cast<size_t>(day.month()))) return false;
  const auto monday_first = static_cast<size_t>(absl::GetWeekday(day));
  const bool by_day = days_.test(static_cast<size_t>(day.day())), by_week = weekdays_.test((monday_first + 1) % 7);
  // Either of two that are given is enough.
  return any_day_ || any_weekday_ ? by_day && by_week : by_day || by_week;
}

absl::Duration Schedule::Step(absl::Time t, absl::TimeZone zone, bool forward) const {
  const absl::TimeZone::CivilInfo at = zone.At(t);
  const int hour = at.cs.hour(), minute = at.cs.minute();
  if (hours_.test(static_cast<size_t>(hour))) {
    return minutes_.test(static_cast<size_t>(minute)) ? absl::ZeroDuration() : kOneMinute;
  }
  // The rest of an hour that it does not have, unless clocks change there.
  constexpr int kMinutesOfHour = 60;
  const absl::Duration rest = absl::Minutes(forward ? kMinutesOfHour - minute : minute + 1);
  return zone.At(forward ? t + rest : t - rest).offset == at.offset ? rest : kOneMinute;
}

std::optional<absl::Time> Schedule::Next(absl::Time after, absl::TimeZone zone) const {
  constexpr int kMostDays = 8 * 366;
  if (every_ > absl::ZeroDuration()) return after + every_;
  absl::CivilDay day = absl::ToCivilDay(after, zone);
  for (int i = 0; i < kMostDays; ++i, ++day) {
    if (!HasDay(day)) continue;
    const absl::Time begin = absl::FromCivil(day, zone), end = absl::FromCivil(day + 1, zone);
    absl::Time t = after < begin ? begin : begin + absl::Floor(after - begin, kOneMinute) + kOneMinute;
    while (t < end) {
      const absl::Duration step = Step(t, zone, true);
      if (step == absl::ZeroDuration()) return t;
      t += step;
    }
  }
  return std::nullopt;
}

std::optional<absl::Time> Schedule::LastBetween(absl::Time after, absl::Time now, absl::TimeZone zone) const {
  if (every_ > absl::ZeroDuration()) {
    if (now < after + every_) return std::nullopt;
    return now - (now - after) % every_;
  }
  constexpr int kMostDays = 366;
  const absl::CivilDay last = absl::ToCivilDay(now, zone),
                       first = std::max(absl::ToCivilDay(after, zone), last - kMostDays);
  for (absl::CivilDay day = last; day >= first; --day) {
    if (!HasDay(day)) continue;
    const absl::Time begin = absl::FromCivil(day, zone), end = absl::FromCivil(day + 1, zone);
    absl::Time t = begin + absl::Floor(std::min(now, end - kOneMinute) - begin, kOneMinute);
    while (t >= begin) {
      if (t <= after) return std::nullopt;
      const absl::Duration step = Step(t, zone, false);
      if (step == absl::ZeroDuration()) return t;
      t -= step;
    }
  }
  return std::nullopt;
}

validation::FieldErrors ValidateSchedule(const Value& cron_job) {
  validation::FieldErrors errors;
  const std::string_view schedule = TextAt(cron_job, {"spec", "schedule"}),
                         zone = TextAt(cron_job, {"spec", "timeZone"});
  if (schedule.empty()) {
    errors.push_back(validation::Required("spec.schedule"));
  } else if (schedule.find("TZ=") != std::string_view::npos) {
    errors.push_back(validation::Invalid("spec.schedule", schedule,
                                         "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (const auto parsed = Schedule::Parse(schedule); !parsed.ok()) {
    errors.push_back(validation::Invalid("spec.schedule", schedule, util::Message(parsed.status())));
  }
  absl::TimeZone found;
  if (!zone.empty() && !absl::LoadTimeZone(util::ToAbsl(zone), &found)) {
    errors.push_back(
        validation::Invalid("spec.timeZone", zone, absl::StrCat("unknown time zone ", util::ToAbsl(zone))));
  }
  return errors;
}

}  // namespace berth::world::living
