#include "pkg/simulate/loop.h"

#include <algorithm>

namespace berth::simulate {

bool RunToTheEnd(const Options& options, Surroundings* surroundings, Session* session, const Timeline* timeline) {
  constexpr int kRoundsBetweenLooks = 256;
  for (int round = 0;; ++round) {
    if (round % kRoundsBetweenLooks == 0) {
      session->Throttle();
      if (session->IsCut()) return true;
    }
    surroundings->Deliver();
    session->Decide();
    if (session->EvictsForEver()) return true;
    if (timeline->HasSoon()) continue;
    if (surroundings->NothingWillHappen()) return false;
    const Micros next = std::min(session->NextTime(), surroundings->NextTime());
    if (next == kNever) return false;
    surroundings->AdvanceTo(std::min(next, std::max(options.until, timeline->now())));
    if (next > options.until) return true;
    if (options.now != nullptr) options.now->store(next, std::memory_order_relaxed);
  }
}

}  // namespace berth::simulate
