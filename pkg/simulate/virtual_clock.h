// A clock that shows the simulated time.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <limits>

#include "pkg/util/clock.h"
#include "pkg/util/contract.h"

namespace berth::simulate {

// Times and durations are whole microseconds since the beginning of the simulation.
using Micros = int64_t;
inline constexpr Micros kSecond = 1'000'000;
// Never: the end of what is endless, and the time of what does not happen.
inline constexpr Micros kNever = std::numeric_limits<Micros>::max();

// The sum, which is kNever if one of them is, or if it is beyond all times.
constexpr Micros Plus(Micros at, Micros duration) {
  return duration >= kNever - at ? kNever : at + duration;
}

class VirtualClock final : public util::Clock {
 public:
  // The wall time at the beginning. It is the same in all simulations, so that equal inputs give equal outputs.
  static constexpr int64_t kStartSeconds = 1'700'000'000;

  Micros now() const { return now_; }
  // REQUIRES: not earlier than now().
  void Set(Micros now) {
    BERTH_REQUIRES(now >= now_);
    now_ = now;
  }
  absl::Duration Steady() const override { return absl::Microseconds(now_); }
  absl::Time Wall() const override { return absl::FromUnixSeconds(WallSeconds()); }
  int64_t WallSeconds() const { return kStartSeconds + now_ / kSecond; }

 private:
  Micros now_ = 0;
};

}  // namespace berth::simulate
