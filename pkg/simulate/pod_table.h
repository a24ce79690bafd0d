// The pods and nodes of a simulated cluster as its parts know them, and which pods are on which node.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/simulate/attempts.h"
#include "pkg/simulate/timeline.h"

namespace berth::simulate {

struct NodeState;

struct PodState {
  api::PodPtr object;  // as the API server has it; null for a slot that is free
  uint32_t slot = 0, generation = 0;
  NodeState* node = nullptr;  // where it is bound
  size_t position = 0;        // in NodeState::pods
  Micros arrived = 0;
  Micros duration = kNever;
  Micros evicted_at = kNever;  // of the pod in whose place this one came
  Attempts attempts;
  uint8_t brief = 0;         // how many before it in its place, one after the other, came and went at one time
  bool ready = false;        // it has started
  bool again = false;        // a controller creates it again when it is evicted
  bool from_start = false;   // it was there at the beginning
  bool was_placed = false;   // it, or one in whose place it came
  bool leaving = false;      // it is being deleted
  bool comes_again = false;  // another one comes when it is gone
};

struct NodeState {
  api::NodePtr plain, shown;  // as it is without a state, and as shown; shown is null while it is not there
  bool cordoned = false, failed = false;
  std::vector<uint32_t> pods;  // slots
  uint64_t failures = 0;       // how often it has failed
};

// Whether the pod stays when its node is drained, and ends with it: those of DaemonSets, and mirror pods.
bool StaysOnNode(const api::Pod& pod);

// Thread-safety: as a standard container.
class PodTable {
 public:
  // Returns the name, or one like it if another pod has it now, and takes it.
  std::string TakeName(const std::string& ns, std::string name);
  // Adds a pod whose name was taken.
  PodState& Add(api::PodPtr object, Micros now);
  // Forgets a pod and its name. REQUIRES: it is on no node.
  void Remove(PodState* p);
  PodState* Find(const std::string& uid);
  PodState* Find(PodHandle h);
  bool HasUid(const std::string& uid) const { return by_uid_.contains(uid); }
  PodState& At(uint32_t slot) { return pods_[slot]; }
  const PodState& At(uint32_t slot) const { return pods_[slot]; }
  static PodHandle HandleOf(const PodState& p) { return {p.slot, p.generation}; }
  template <typename F>
  void ForEach(F f) {
    for (PodState& p : pods_) {
      if (p.object != nullptr) f(&p);
    }
  }

  // Counts a pod as one with a node; the node is null if it is not known.
  void Place(PodState* p, NodeState* node);
  // Counts a pod out, with a node or without.
  void Unplace(PodState* p);

  size_t unplaced() const { return unplaced_; }  // pods without a node
  size_t most() const { return most_; }          // that were there at one time
  int64_t renamed() const { return renamed_; }   // pods that did not get the name that they wanted

 private:
  std::deque<PodState> pods_;
  std::vector<uint32_t> free_slots_;
  absl::flat_hash_map<std::string, uint32_t> by_uid_;
  absl::flat_hash_set<std::string> names_;  // "namespace/name" of all pods
  size_t unplaced_ = 0, most_ = 0;
  int64_t renamed_ = 0;
};

}  // namespace berth::simulate
