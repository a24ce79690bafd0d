// What an input says will happen at which time: pods that arrive, and steps.
#pragma once
#include <absl/status/status.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "pkg/simulate/arrivals.h"
#include "pkg/simulate/steps.h"

namespace berth::simulate {

class Agenda {
 public:
  // `steps` must outlive the object.
  Agenda(const std::vector<Step>* steps, std::unique_ptr<ArrivalSource> arrivals)
      : steps_(*steps), arrivals_(std::move(arrivals)) {}

  // Reads the first arrival.
  absl::Status Start() {
    more_arrivals_ = arrivals_->Next(&next_arrival_);
    return status();
  }
  absl::Status status() const { return arrivals_->status(); }
  bool IsOver() const { return !more_arrivals_ && next_step_ == steps_.size(); }
  // Returns when something happens next; kNever: nothing will.
  Micros Next() const {
    const Micros step = next_step_ < steps_.size() ? steps_[next_step_].at : kNever;
    return more_arrivals_ ? std::min(step, next_arrival_.at) : step;
  }
  // Passes on what is due, steps first.
  template <typename Do, typename Arrive>
  void RunDue(Micros now, Do do_step, Arrive arrive) {
    while (next_step_ < steps_.size() && steps_[next_step_].at <= now) do_step(steps_[next_step_++]);
    while (more_arrivals_ && next_arrival_.at <= now) {
      arrive(next_arrival_);
      more_arrivals_ = arrivals_->Next(&next_arrival_);
    }
  }

 private:
  const std::vector<Step>& steps_;
  size_t next_step_ = 0;
  const std::unique_ptr<ArrivalSource> arrivals_;
  Arrival next_arrival_;
  bool more_arrivals_ = false;
};

}  // namespace berth::simulate
