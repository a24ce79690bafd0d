// The pods of a simulated cluster with controllers and kubelets, as far as a simulation counts them: what is seen of
// them is shown to the scheduler and measured.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/simulate/attempts.h"
#include "pkg/simulate/measures.h"
#include "pkg/simulate/session.h"
#include "pkg/simulate/timeline.h"

namespace berth::simulate {

struct LivingPod {
  api::PodPtr object;  // as it was seen last; never null
  uint64_t number = 0;
  Micros arrived = 0;
  Micros evicted_at = kNever;  // of the pod in whose place this one came
  Attempts attempts;
  uint8_t brief = 0;        // how many before it in its place, one after the other, came and went at one time
  bool from_start = false;  // it was there at the beginning
  bool was_placed = false;  // it, or one in whose place it came
  bool leaving = false;     // it is being deleted
  bool is_evicted = false;  // its deletion, if it comes, is an eviction
};

class LivingPods {
 public:
  using IsLost = std::function<bool(const std::string& node)>;
  // Gets a pod that is gone or has ended.
  using Gone = std::function<void(const LivingPod& gone)>;

  // All pointers must outlive the object. `is_lost` says whether what is deleted on a node is evicted from it.
  LivingPods(Timeline* timeline, Session* session, Measures* measures, IsLost is_lost, Gone gone)
      : timeline_(timeline),
        session_(session),
        measures_(measures),
        is_lost_(std::move(is_lost)),
        gone_(std::move(gone)) {}

  // Takes what is seen of a pod, and shows it to the scheduler.
  void See(const std::string& uid, const api::PodPtr& now);
  // The pod is gone or has ended.
  void Over(const std::string& uid, bool succeeded);
  // Pods that are seen until End were there before the simulation.
  void BeginWith() { at_start_ = true; }
  void HaveBegun() { at_start_ = false; }
  LivingPod* Find(const std::string& uid);
  size_t unplaced() const { return unplaced_; }
  size_t most() const { return most_; }  // that were there at one time
  // Notes of pods that wait that they were never placed.
  void NoteNeverPlaced();

 private:
  // A pod that was evicted, and in whose place its controller makes another one.
  struct AwaitedReplacement {
    bool was_placed, from_start;
    Micros at;
    uint8_t brief;
  };
  LivingPod& Add(const std::string& uid, const api::PodPtr& now);
  void NoteLeaving(LivingPod* p);
  void Remove(const std::string& uid, LivingPod* p);
  void NotePlaced(LivingPod* p, const api::Pod& now);
  void NeverPlaced(const LivingPod& p);

  Timeline* const timeline_;
  Session* const session_;
  Measures* const measures_;
  const IsLost is_lost_;
  const Gone gone_;
  absl::node_hash_map<std::string, LivingPod> pods_;                          // by uid
  absl::flat_hash_map<std::string, std::deque<AwaitedReplacement>> awaited_;  // by uid of the controller
  uint64_t last_number_ = 0;
  size_t unplaced_ = 0, most_ = 0;
  bool at_start_ = false;
};

}  // namespace berth::simulate
