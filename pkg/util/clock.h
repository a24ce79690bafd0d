// Time as a dependency: everything that waits or records a time takes a Clock, so that tests move the time by hand and
// never sleep.
#pragma once
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace berth::util {

class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the time since some fixed point. It never jumps. For deadlines, leases and back-off.
  virtual absl::Duration Steady() const = 0;
  // Returns wall time. Only for times that are shown to users or written to API objects.
  virtual absl::Time Wall() const = 0;
};

class RealClock final : public Clock {
 public:
  absl::Duration Steady() const override {
    return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }
  absl::Time Wall() const override { return absl::Now(); }
};

// A clock that moves only when Advance is called. Thread-safety: thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(absl::Time wall = absl::FromUnixSeconds(1'500'000'000)) : start_(wall) {}
  absl::Duration Steady() const override { return absl::Nanoseconds(nanos_.load()); }
  absl::Time Wall() const override { return start_ + absl::Nanoseconds(nanos_.load()); }
  void Advance(absl::Duration d) { nanos_ += absl::ToInt64Nanoseconds(d); }

 private:
  absl::Time start_;
  std::atomic<int64_t> nanos_{0};
};

}  // namespace berth::util
