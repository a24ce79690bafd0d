#include "pkg/simulate/timeline.h"

#include <utility>

#include "pkg/util/contract.h"

namespace berth::simulate {

void Timeline::After(Micros delay, std::function<void()> what) {
  if (delay == 0) {
    soon_.push_back(std::move(what));
    return;
  }
  uint32_t index = 0;
  if (free_calls_.empty()) {
    index = static_cast<uint32_t>(calls_.size());
    calls_.push_back(std::move(what));
  } else {
    index = free_calls_.back();
    free_calls_.pop_back();
    calls_[index] = std::move(what);
  }
  events_.push({Plus(now(), delay), ++last_event_, {}, index + 1});
}

void Timeline::TryAfter(Micros delay, std::function<void()> what) {
  BERTH_REQUIRES(delay > 0);
  ++tries_;
  After(delay, [this, what = std::move(what)] {
    --tries_;
    what();
  });
}

void Timeline::RunDue() {
  while (!events_.empty() && events_.top().at <= now()) {
    const Event e = events_.top();
    events_.pop();
    if (e.call == 0) {
      ends_(e.pod);
      continue;
    }
    const std::function<void()> call = std::exchange(calls_[e.call - 1], nullptr);
    free_calls_.push_back(e.call - 1);
    call();
  }
}

void Timeline::RunSoon() {
  while (!soon_.empty()) {
    const std::function<void()> call = std::move(soon_.front());
    soon_.pop_front();
    call();
  }
}

}  // namespace berth::simulate
