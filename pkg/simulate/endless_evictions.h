// Finds pods that evict one another for ever, which would keep a simulation from its end.
#pragma once
#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <string>

#include "pkg/scheduler/core/decision.h"
#include "pkg/simulate/times.h"
#include "pkg/util/status.h"

namespace berth::simulate {

// Counts evictions between which nothing else happens. A pod is evicted for a more important one, so each pod goes at
// most as often as there are priorities if none of them is the cause of its own return.
class EndlessEvictions {
 public:
  static constexpr size_t kLeast = 1'000, kEach = 10;  // so many, and so many for each pod, are taken as endless

  // The pod has evicted others.
  void Note(const api::Pod& pod, const scheduler::Preemption& preemption, Micros now) {
    if (count_ == 0) since_ = now;
    count_ += preemption.victims.size();
    evicting_ = pod.meta.Key();
    if (!preemption.victims.empty()) evicted_ = preemption.victims.front()->meta.Key();
    node_ = preemption.node.string();
  }
  // Something else has happened: a pod has arrived or ended by itself, or an event.
  void Reset() { count_ = 0; }
  // Returns whether these are too many for so many pods. That is final.
  bool Found(size_t pods) { return found_ = found_ || count_ > kLeast + kEach * pods; }
  absl::Status status() const {
    if (!found_) return absl::OkStatus();
    return util::InvalidArgument(
        absl::StrCat("pods evict one another forever: since ", TimeText(since_), " of simulated time there have been ",
                     count_, " evictions for more important pods and nothing else, the last that of Pod \"", evicted_,
                     "\" on Node \"", node_, "\" by Pod \"", evicting_,
                     "\". Say when to end with --until, or keep them apart (affinity, requests, equal priorities)"));
  }

 private:
  size_t count_ = 0;
  bool found_ = false;
  Micros since_ = 0;
  std::string evicting_, evicted_, node_;  // the last ones
};

}  // namespace berth::simulate
