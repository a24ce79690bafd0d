#include "pkg/world/living/schedule.h"

#include <catch2/catch.hpp>
#include <string>

namespace berth::world::living {
namespace {

std::string NextAfter(const char* schedule, const char* time, const char* zone = "UTC") {
  absl::Time t;
  std::string why;
  absl::TimeZone tz;
  REQUIRE(absl::LoadTimeZone(zone, &tz));
  REQUIRE(absl::ParseTime(absl::RFC3339_full, time, &t, &why));
  const auto s = Schedule::Parse(schedule);
  REQUIRE(s.ok());
  const auto next = s->Next(t, tz);
  return next ? absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", *next, absl::UTCTimeZone()) : "never";
}

TEST_CASE("the next time of a schedule") {
  CHECK(NextAfter("* * * * *", "2026-01-31T23:59:30Z") == "2026-02-01T00:00:00Z");
  CHECK(NextAfter("*/15 8-10 * * *", "2026-03-01T08:45:00Z") == "2026-03-01T09:00:00Z");
  CHECK(NextAfter("0 0 29 feb *", "2026-03-01T00:00:00Z") == "2028-02-29T00:00:00Z");
  CHECK(NextAfter("30 6 * * MON-FRI", "2026-01-02T06:30:00Z") == "2026-01-05T06:30:00Z");
  CHECK(NextAfter("0 12 * * 0", "2026-01-02T00:00:00Z") == "2026-01-04T12:00:00Z");
  CHECK(NextAfter("@hourly", "2026-01-02T00:00:01Z") == "2026-01-02T01:00:00Z");
  CHECK(NextAfter("0 0 31 2 *", "2026-01-02T00:00:01Z") == "never");
  CHECK(NextAfter("0 9 * * *", "2026-07-01T00:00:00Z", "Europe/Berlin") == "2026-07-01T07:00:00Z");
}

TEST_CASE("either of a day of the month and a day of the week is enough") {
  CHECK(NextAfter("0 0 13 * FRI", "2026-01-01T12:00:00Z") == "2026-01-02T00:00:00Z");
  CHECK(NextAfter("0 0 13 * FRI", "2026-01-09T12:00:00Z") == "2026-01-13T00:00:00Z");
  // A step is a choice of days, too; "*" in a list is none.
  CHECK(NextAfter("0 0 */10 * FRI", "2026-01-02T12:00:00Z") == "2026-01-09T00:00:00Z");
  CHECK(NextAfter("0 0 */10 * FRI", "2026-01-09T12:00:00Z") == "2026-01-11T00:00:00Z");
  CHECK(NextAfter("0 0 13,* * FRI", "2026-01-02T12:00:00Z") == "2026-01-09T00:00:00Z");
}

TEST_CASE("a time that the clocks skip does not come, and one that they have twice comes twice") {
  // In 2026 New York's clocks go from 2:00 to 3:00 on 8 March, and from 2:00 to 1:00 on 1 November.
  const char* zone = "America/New_York";
  CHECK(NextAfter("30 2 * * *", "2026-03-07T12:00:00Z", zone) == "2026-03-09T06:30:00Z");
  CHECK(NextAfter("30 1 * * *", "2026-11-01T00:00:00Z", zone) == "2026-11-01T05:30:00Z");
  CHECK(NextAfter("30 1 * * *", "2026-11-01T05:30:00Z", zone) == "2026-11-01T06:30:00Z");
  CHECK(NextAfter("*/15 * * * *", "2026-11-01T05:30:00Z", zone) == "2026-11-01T05:45:00Z");
  CHECK(NextAfter("0 * * * *", "2026-03-08T06:00:00Z", zone) == "2026-03-08T07:00:00Z");
}

TEST_CASE("@every counts from the time before") {
  CHECK(NextAfter("@every 1h30m", "2026-01-01T12:00:10Z") == "2026-01-01T13:30:10Z");
  const auto s = Schedule::Parse("@every 90s");
  REQUIRE(s.ok());
  const absl::Time t = absl::FromCivil(absl::CivilSecond(2026, 1, 1, 12, 0, 5), absl::UTCTimeZone());
  CHECK(!s->LastBetween(t, t + absl::Seconds(89), absl::UTCTimeZone()));
  CHECK(s->LastBetween(t, t + absl::Seconds(200), absl::UTCTimeZone()) == t + absl::Seconds(180));
}

TEST_CASE("the last time that has come") {
  const auto s = Schedule::Parse("*/10 * * * *");
  REQUIRE(s.ok());
  const absl::Time noon = absl::FromCivil(absl::CivilSecond(2026, 1, 1, 12, 0, 0), absl::UTCTimeZone());
  const auto last = s->LastBetween(noon, noon + absl::Minutes(25), absl::UTCTimeZone());
  REQUIRE(last);
  CHECK(*last == noon + absl::Minutes(20));
  CHECK(!s->LastBetween(noon, noon + absl::Minutes(9), absl::UTCTimeZone()));
}

// Schedules step over whole hours; clocks change by an hour, by half an hour, and at midnight.
TEST_CASE("no minute is missed where clocks change") {
  for (const char* name : {"Europe/Berlin", "Australia/Lord_Howe", "America/Havana", "Asia/Kolkata"}) {
    absl::TimeZone zone;
    REQUIRE(absl::LoadTimeZone(name, &zone));
    for (const char* text : {"30 2 * * *", "15 1,23 * * *", "*/20 0 * * *", "59 3 * * *"}) {
      INFO(name << " " << text);
      const auto s = Schedule::Parse(text);
      REQUIRE(s.ok());
      const auto every_minute = Schedule::Parse("* * * * *");
      for (absl::CivilDay day(2026, 3, 1); day < absl::CivilDay(2026, 4, 8); day += 1) {
        for (const absl::CivilDay d : {day, absl::CivilDay(2026, day.month() + 7, day.day())}) {
          // All times of the day, minute by minute.
          std::vector<absl::Time> want, got, back;
          const absl::Time begin = absl::FromCivil(d, zone), end = absl::FromCivil(d + 1, zone);
          for (auto t = every_minute->Next(begin - absl::Minutes(1), zone); t && *t < end;
               t = every_minute->Next(*t, zone)) {
            if (s->LastBetween(*t - absl::Minutes(1), *t, zone) == *t) want.push_back(*t);
          }
          for (auto t = s->Next(begin - absl::Seconds(1), zone); t && *t < end; t = s->Next(*t, zone))
            got.push_back(*t);
          for (auto t = s->LastBetween(begin - absl::Seconds(1), end - absl::Seconds(1), zone); t;
               t = s->LastBetween(begin - absl::Seconds(1), *t - absl::Seconds(1), zone)) {
            back.insert(back.begin(), *t);
          }
          CHECK(got == want);
          CHECK(back == want);
        }
      }
    }
  }
}

TEST_CASE("what is no schedule is said in the words of servers") {
  const std::pair<const char*, const char*> cases[] = {
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"0 12 * * 7", "end of range (7) above maximum (6): 7"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"* * * foo *", "failed to parse int from foo: strconv.Atoi: parsing \"foo\": invalid syntax"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"@often", "unrecognized descriptor: @often"},
      {"@every often", "failed to parse duration @every often: time: invalid duration \"often\""},
  };
  for (const auto& [text, why] : cases) CHECK(Schedule::Parse(text).status().message() == why);
}

}  // namespace
}  // namespace berth::world::living
