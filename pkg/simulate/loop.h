// The passing of time. At each time that matters, everything that happens then is shown to the scheduler, it decides
// about all pods that are ready, and its requests are answered, until nothing is left to do at that time. Then the
// clock jumps to the next event or to what the scheduler waits for.
#pragma once
#include "pkg/simulate/session.h"

namespace berth::simulate {

// What is around a scheduler, as far as time goes.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Lets everything happen that is due.
  virtual void Deliver() = 0;
  // Whether the present state lasts for ever: nothing is left to happen, and each pod that waits, and each node that is
  // being emptied, was tried in this state.
  virtual bool NothingWillHappen() const = 0;
  // Returns when something happens next without the scheduler; kNever: nothing will.
  virtual Micros NextTime() const = 0;
  // Ends the present time.
  virtual void AdvanceTo(Micros next) = 0;
};

// Lets time pass until nothing will happen any more. Returns whether it was cut before.
bool RunToTheEnd(const Options& options, Surroundings* surroundings, Session* session, const Timeline* timeline);

}  // namespace berth::simulate
