// Virtual time: things happen in the order of their times, and in the order in which they were asked for within one
// time. Nothing in the simulation reads any other clock.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace berth::simulation {

class EventLoop {
 public:
  absl::Duration now() const { return absl::Nanoseconds(now_); }

  // Runs f at `when`, or as soon as possible when that is over.
  void At(absl::Duration when, std::function<void()> f) {
    int64_t at = absl::ToInt64Nanoseconds(when);
    events_.emplace(std::pair(at < now_ ? now_ : at, ++last_), std::move(f));
  }
  void In(absl::Duration delay, std::function<void()> f) { At(now() + delay, std::move(f)); }

  // Runs everything that is due before `end`; then it is `end`. `stop` is asked after each event.
  void RunUntil(absl::Duration end, const std::function<bool()>& stop) {
    const int64_t limit = absl::ToInt64Nanoseconds(end);
    while (!events_.empty() && events_.begin()->first.first < limit) {
      auto next = events_.extract(events_.begin());
      now_ = next.key().first;
      next.mapped()();
      ++count_;
      if (stop()) return;
    }
    now_ = limit;
  }
  uint64_t count() const { return count_; }
  size_t waiting() const { return events_.size(); }

 private:
  int64_t now_ = 0;
  uint64_t last_ = 0, count_ = 0;
  std::map<std::pair<int64_t, uint64_t>, std::function<void()>> events_;
};

}  // namespace berth::simulation
