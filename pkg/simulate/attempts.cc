#include "pkg/simulate/attempts.h"

#include "pkg/lab/experiment.h"

namespace berth::simulate {

bool Attempts::Note(const scheduler::Decision& decision, const std::string& why, int64_t changes, Micros now) {
  using Result = scheduler::Decision::Outcome;
  ++count_;
  const bool is_first = tried_at_ != changes;
  spins_ = !is_first && last_ == now;
  last_ = now;
  if (decision.outcome == Result::kUnfit) spun_ = 0;
  if (decision.outcome == Result::kPlaced) return false;
  why_ = why;
  tried_at_ = changes;
  return is_first;
}

Micros Attempts::TakeDelayOfReading() {
  constexpr uint8_t kMostDoublings = 6;
  if (!spins_) return 0;
  const Micros delay = kSecond << spun_;
  if (spun_ < kMostDoublings) ++spun_;
  return delay;
}

const std::string& Reasons::Of(const scheduler::Decision& decision) {
  if (decision.outcome == scheduler::Decision::Outcome::kPlaced) return why_;
  if (decision.failures == nullptr || decision.failures != failures_) {
    why_ = lab::MainReason(decision);
    failures_ = decision.failures;
  }
  return why_;
}

}  // namespace berth::simulate
