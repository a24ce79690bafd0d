// What is known of the scheduler's attempts to place one pod.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "pkg/scheduler/scheduler.h"
#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

class Attempts {
 public:
  // Notes a decision. `changes`: how often the cluster has changed (Session::changes). Returns whether it is the first
  // one without success since the last change. `why`: of one without success (lab::MainReason).
  bool Note(const scheduler::Decision& decision, const std::string& why, int64_t changes, Micros now);
  // How long it takes until a pod that met an error is read. A queue without back-off tries it again as soon as that is
  // done, so that time would never go on: from the second time at one time on it takes a second, and then longer, up to
  // about a minute. 0: it is as usual.
  Micros TakeDelayOfReading();

  uint32_t count() const { return count_; }
  const std::string& why() const { return why_; }  // it was not placed at its last attempt

 private:
  int64_t tried_at_ = -1;  // the number of changes at the last attempt
  Micros last_ = -1;
  bool spins_ = false;  // it was tried twice at one time, and nothing changed in between
  uint8_t spun_ = 0;    // how often since it was last only too large
  uint32_t count_ = 0;
  std::string why_;
};

// Why decisions found no node. Pods of one template that wait share what they failed for, so the last answer is kept.
class Reasons {
 public:
  // Returns the main reason (lab::MainReason) of a decision without success; anything of another one. It is valid until
  // the next call.
  const std::string& Of(const scheduler::Decision& decision);

 private:
  std::shared_ptr<const scheduler::NodeFailures> failures_;
  std::string why_;
};

}  // namespace berth::simulate
