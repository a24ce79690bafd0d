// Opportunistic batching (Kubernetes 1.35): a pod that is like the one before it may go to the second best node of that
// decision, if the first one is full now, without being scored.
//
// Pods are alike if their signatures are equal. A decision that scored several nodes leaves them behind in the order of
// their totals. The next pod gets the best of them as a hint if it has the same signature, if it does not fit where the
// last one went, and if no other pod was tried in between. Source: pkg/scheduler/framework/runtime/batch.go (1.36).
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/registry/algorithm_config.h"

namespace berth::scheduler {

// Returns the signature of a pod, or an empty text if it is never placed in a batch. As upstream, host ports count as
// bare numbers, those of ordinary init containers too (bug N-04, kept).
std::string BatchSignature(const BatchParts& parts, const PodContext& ctx);

// What one scheduler keeps between decisions for batching. Thread-safety: none.
class Batch {
 public:
  // Hints are not given that are older than this.
  static constexpr absl::Duration kLongestAge = absl::Milliseconds(500);

  // Returns whether the last decision left nodes for a pod with this signature. `cycle` is the number of this attempt
  // among those of all profiles.
  bool HasNodesFor(const std::string& signature, uint64_t cycle, absl::Duration now) const {
    return !nodes_.empty() && cycle == cycle_ + 1 && !signature.empty() && signature == signature_ &&
           now - made_ <= kLongestAge;
  }
  Symbol last_node() const { return last_node_; }
  // Returns the best of the nodes that are left and takes it off the list. REQUIRES: HasNodesFor returned true.
  Symbol TakeBest() {
    const Symbol best = nodes_.back();
    nodes_.pop_back();
    return best;
  }

  // Must be called after each decision that placed a pod; one that did not leaves everything as it was. PlacedByHint:
  // on the node of the hint. Placed: otherwise, with the totals of all nodes that were scored, if any; `signature` may
  // be empty.
  void PlacedByHint(Symbol node, uint64_t cycle);
  void Placed(Symbol node, uint64_t cycle, std::string signature, std::vector<std::pair<int64_t, Symbol>> totals,
              absl::Duration now);

 private:
  std::string signature_;
  std::vector<Symbol> nodes_;  // the best last
  Symbol last_node_;
  uint64_t cycle_ = 0;
  absl::Duration made_;
};

}  // namespace berth::scheduler
