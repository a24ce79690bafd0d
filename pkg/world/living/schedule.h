// Schedules of CronJobs: "*/5 0-6 * jan,feb MON", "@hourly", "@every 1h30m".
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <bitset>
#include <optional>
#include <string_view>

#include "pkg/api/validation/field_error.h"
#include "pkg/world/objects.h"

namespace berth::world::living {

class Schedule {
 public:
  // Parses five fields (minute, hour, day of the month, month, day of the week; lists, ranges, steps and names), or
  // @yearly, @monthly, @weekly, @daily, @midnight, @hourly, @every DURATION. The error is in the words of servers.
  static absl::StatusOr<Schedule> Parse(std::string_view text);

  // Returns the first time after `after`; none within eight years. A time that the zone skips when its clocks go
  // forward does not come, and one that it has twice comes twice. @every counts from `after`.
  std::optional<absl::Time> Next(absl::Time after, absl::TimeZone zone) const;
  // Returns the last time that is after `after` and not after `now`; none if there is none.
  std::optional<absl::Time> LastBetween(absl::Time after, absl::Time now, absl::TimeZone zone) const;

 private:
  bool HasDay(absl::CivilDay day) const;
  // Returns zero if `t`, in a day that it has, is one of its times. Otherwise how far away the next (or last) minute is
  // that may be one.
  absl::Duration Step(absl::Time t, absl::TimeZone zone, bool forward) const;
  std::bitset<64> minutes_, hours_, days_, months_, weekdays_;
  bool any_day_ = false, any_weekday_ = false;
  absl::Duration every_;  // not zero: @every
};

// Returns what a server refuses in the schedule and the time zone of a CronJob.
validation::FieldErrors ValidateSchedule(const Value& cron_job);

}  // namespace berth::world::living
