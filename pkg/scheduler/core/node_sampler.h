// Chooses which nodes a decision looks at when it need not look at all: nodes in the order of the release, until enough
// of them fit. Emulates what one worker of the release would do; the 16 workers of the real process look at a few nodes
// more, by chance.
//
// All schedulers of a process share one sampler, because its position goes on from pod to pod. Thread-safety: that of
// the Cache.
#pragma once
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <optional>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/core/incremental/sampled_walk.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler {

class NodeSampler {
 public:
  // `percentage` is the configuration's percentageOfNodesToScore after defaulting. The cache must keep a tree, and
  // outlive the sampler.
  NodeSampler(Cache* cache, const SamplingRules& rules, int64_t percentage)
      : cache_(cache), rules_(rules), percentage_(percentage) {}

  // Calls fits(row) for one row after another, until it has returned true once more than is necessary, or for as many
  // rows as there are. take(row) is called for those that fit and are necessary. If `only` is not null, there are no
  // other rows (only with kRotatingStart). Returns how often `fits` was called.
  // `enough`: how many nodes are necessary; 0: as many as the percentage says.
  size_t Walk(const RowSet* only, size_t enough, absl::FunctionRef<bool(Row)> fits, absl::FunctionRef<void(Row)> take);

  // Returns the walk that is next if all rows are to be looked at, and nothing if that goes in another order. For those
  // who know which rows fit, and can say by counting where it ends. `enough` is as for Walk.
  std::optional<SampledWalk> NextWalk(size_t enough) const;
  // Goes on to the walk after this one. It is the one of NextWalk. REQUIRES: it was made.
  void Made(const SampledWalk& walk);
  // The same for a walk that has found no row that fits.
  void MadeInVain() { Made({.walked = true, .looked = cache_->node_count()}); }

 private:
  size_t WalkTree(absl::FunctionRef<bool(Row)> fits, absl::FunctionRef<void(Row)> take);
  size_t NodesToFind(size_t nodes) const {
    return static_cast<size_t>(rules_.nodes_to_find(static_cast<int64_t>(nodes), percentage_));
  }

  Cache* cache_;
  const SamplingRules& rules_;
  int64_t percentage_;
  size_t start_ = 0;  // kRotatingStart: index of the next row in the list of rows
};

// nodes_to_find of 1.13: all of fewer than 100 nodes, and at least 100 of more. A percentage of 0 or less, and of 100
// or more, stands for all nodes.
int64_t FixedShareOfNodes(int64_t nodes, int64_t percentage);
// nodes_to_find from 1.14 on: the same, but 0 or less stands for 50 % minus one for each 125 nodes, at least 5 %.
int64_t AdaptiveShareOfNodes(int64_t nodes, int64_t percentage);

}  // namespace berth::scheduler
