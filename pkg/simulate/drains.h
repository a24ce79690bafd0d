// Nodes that are drained, alone or one after another, as `kubectl drain` does it.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/simulate/measures.h"
#include "pkg/simulate/session.h"
#include "pkg/simulate/timeline.h"

namespace berth::simulate {

// What drains do to a cluster.
class Drainable {
 public:
  enum class Eviction { kDone, kRefused, kNotNeeded };
  virtual ~Drainable() = default;
  virtual bool HasNode(const std::string& name) = 0;
  virtual void Cordon(const std::string& name, bool cordoned) = 0;
  // Returns the uids of the pods that must leave the node, those that are leaving too.
  virtual std::vector<std::string> PodsToLeave(const std::string& node) = 0;
  // Asks for the eviction of such a pod. kNotNeeded: it is leaving, or has left.
  virtual Eviction Evict(const std::string& node, const std::string& uid) = 0;
};

class Drains {
 public:
  // All arguments must outlive the object.
  Drains(Timeline* timeline, Session* session, Measures* measures, Drainable* cluster)
      : timeline_(timeline), session_(session), measures_(measures), cluster_(cluster) {}

  // REQUIRES: the node is there, and is not being drained.
  void Start(const std::string& node, Micros back_after) { Start(node, back_after, {}); }
  // Drains the last of the nodes; the others follow when it is back.
  void Roll(Micros back_after, std::vector<std::string> nodes);
  bool IsDraining(const std::string& node) const;
  // A pod of a node is gone.
  void OnGone(const std::string& node) {
    if (under_way_ > 0) Continue(node);
  }
  // The node itself is gone.
  void OnLeft(const std::string& node);
  // What budgets allow has changed, so that drains may go on.
  void BudgetsChanged() {
    for (auto& [name, state] : nodes_) state.retried_at = -1;
  }
  // Whether each drain that is under way was tried since the last change.
  bool HaveTried() const;

 private:
  struct State {
    bool draining = false;
    Micros back_after = kNever;
    size_t number = 0;  // in Outcome::drains, of the last drain of the node
    int64_t retried_at = -1;
    absl::flat_hash_set<std::string> refused;  // uids of pods whose eviction a budget has refused
    std::vector<std::string> next;             // the nodes after this one
  };
  void Start(const std::string& node, Micros back_after, std::vector<std::string> next);
  void Retry(const std::string& node);
  void Continue(const std::string& node);
  void End(const std::string& node);
  void Return(const std::string& node);

  Timeline* const timeline_;
  Session* const session_;
  Measures* const measures_;
  Drainable* const cluster_;
  std::map<std::string, State> nodes_;
  size_t under_way_ = 0;
};

}  // namespace berth::simulate
