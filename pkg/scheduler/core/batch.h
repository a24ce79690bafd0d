// Opportunistic batching (Kubernetes 1.35): a pod that is like the one before it may go to the second best node of that
// decision, if the first one is full now, without being scored.
//
// Pods are alike if their signatures are equal. A decision that scored several nodes leaves them behind in the order of
// their totals. The next pod gets the best of them as a hint if it has the same signature, if it does not fit where the
// last one went, and if no other pod was tried in between. Source: pkg/scheduler/framework/runtime/batch.go (1.36).
#pragma once
#include <absl/time/time.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/util/bucket_counts.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

// Returns the signature of a pod, or an empty text if it is never placed in a batch. As upstream, host ports count as
// bare numbers, those of ordinary init containers too (bug N-04, kept).
std::string BatchSignature(const BatchParts& parts, const PodContext& ctx);

// Why what a decision left behind is of no use to the pod that follows, in the order of 1.36's metric
// batch_cache_flushed_total (pkg/scheduler/metrics/metrics.go).
enum class BatchFlush : uint8_t {
  kPodFailed,        // the attempt before this one ended without a node
  kPodSkipped,       // an attempt between the two was of another profile
  kNodeMissing,      // the node chosen last is gone
  kNodeNotFull,      // the pod would fit there
  kEmptyList,        // one node alone was left to choose from
  kExpired,          // it is too old
  kPodIncompatible,  // the pod is not like the last one
  kPodNotBatchable,  // the pod that was placed is never like another
};
inline constexpr size_t kBatchFlushes = 8;
enum class BatchAttempt : uint8_t { kNoHint, kHintUsed, kHintNotUsed };
inline constexpr size_t kBatchAttempts = 3;

// What became of a scheduler's attempts to place pods in batches.
struct BatchCounts {
  using Took = util::SecondsHistogram<10, 20, 12>;
  std::array<uint64_t, kBatchAttempts> attempts{};  // by BatchAttempt
  std::array<uint64_t, kBatchFlushes> flushes{};    // by BatchFlush
  std::array<Took, 2> hints;                        // how long it took to find out that there is no hint, or to find it
  Took stored;                                      // how long it took to keep what a decision left behind

  void Count(BatchAttempt what) { ++attempts[static_cast<size_t>(what)]; }
  void Count(BatchFlush why) { ++flushes[static_cast<size_t>(why)]; }
};

// The nodes that a decision scored. They are named as they were then, because others may have their rows later.
struct ScoredRows {
  std::vector<std::pair<int64_t, Row>>
      rows;  // each with its total, or with a number that is greater by the same amount
  std::shared_ptr<const std::vector<Symbol>> names;  // by row; null without rows
};

// Returns whether both have the same rows, with totals that differ by the same amount.
bool SameOrder(ScoredRows a, ScoredRows b);

// What one scheduler keeps between decisions for batching. Thread-safety: none.
class Batch {
 public:
  // Hints are not given that are older than this.
  static constexpr absl::Duration kLongestAge = absl::Milliseconds(500);

  // Returns whether the last decision left any nodes.
  bool HasNodes() const { return scored_.rows.size() > (in_order_ ? 0 : 1); }
  // Returns why the nodes are not for a pod with this signature, or nothing if they are. `cycle` is the number of this
  // attempt among those of all profiles. REQUIRES: HasNodes().
  std::optional<BatchFlush> WhyNotFor(const std::string& signature, uint64_t cycle, absl::Duration now) const {
    BERTH_REQUIRES(HasNodes());
    if (cycle != cycle_ + 1) return BatchFlush::kPodSkipped;
    if (signature.empty() || signature != signature_) return BatchFlush::kPodIncompatible;
    if (now - made_ > kLongestAge) return BatchFlush::kExpired;
    return std::nullopt;
  }
  bool HasNodesFor(const std::string& signature, uint64_t cycle, absl::Duration now) const {
    return HasNodes() && !WhyNotFor(signature, cycle, now);
  }
  Symbol last_node() const { return last_node_; }
  // Returns the best of the nodes that are left and takes it off the list. REQUIRES: HasNodesFor returned true.
  // Equal totals stand by name in descending order; upstream takes them in no order.
  Symbol TakeBest();

  // Must be called after each decision that placed a pod; one that did not leaves everything as it was. PlacedByHint:
  // on the node of the hint. Placed: otherwise, with all nodes that were scored, if any; `signature` may be empty.
  // Swaps the rows of `scored` for a list whose memory may be used again. REQUIRES: the node is among them if there are
  // any.
  void PlacedByHint(Symbol node, uint64_t cycle);
  void Placed(Symbol node, uint64_t cycle, std::string signature, ScoredRows* scored, absl::Duration now);

 private:
  bool IsWorse(const std::pair<int64_t, Row>& a, const std::pair<int64_t, Row>& b) const;

  std::string signature_;
  // What is left. Most decisions are followed by a pod that needs no hint, so the rows are put into order, and the one
  // that was chosen is taken out, when the first hint is taken. Then they are a heap.
  ScoredRows scored_;
  bool in_order_ = false;
  Symbol chosen_;  // when scored_ was found
  Symbol last_node_;
  uint64_t cycle_ = 0;
  absl::Duration made_;
};

}  // namespace berth::scheduler
