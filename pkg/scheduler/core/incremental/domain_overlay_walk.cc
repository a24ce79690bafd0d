// A walk of a sampler where ranks are in the order of the walk (NodeOrder::kZoneTree) and the special rows are kept.
//
// The rows that the walk finds are those with ranks in a window that begins at the walk's start and ends before the row
// that is too many; behind the last rank it goes on with rank 0. So nothing needs to be listed: where the window ends,
// how many rows of each part are in it, and which bucket of a part is the best that has one of them, is found by
// counting ranks.
#include <algorithm>
#include <limits>

#include "pkg/scheduler/core/incremental/domain_overlay.h"

namespace berth::scheduler {

// Calls f(bucket's score, its ranks, those of them that are special rows and belong to other parts, or null) for each
// bucket of the part, the best first, until f returns false.
template <typename F>
void DomainOverlay::ForEachBucket(const PartTable::Part& part, F f) const {
  const auto group = static_cast<size_t>(part.group);
  const ScoreBuckets& buckets = part.specials != nullptr ? *part.specials : rows_->groups()[group].buckets;
  const bool shadowed = part.specials == nullptr && specials_.InGroup(group) > 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    const RankSet* shadow = shadowed ? specials_.Shadow(part.group, buckets.score(i)) : nullptr;
    if (!f(buckets.score(i), buckets.ranks(i), shadow)) return;
  }
}

// Finds the window of the walk among the rows of all parts, and sets what the walk has found. REQUIRES: some row fits.
DomainOverlay::Window DomainOverlay::FindWindow(Buffers& b, SampledWalk* walk) const {
  const auto all = static_cast<uint32_t>(cache_->in_order().size());
  const auto start = static_cast<uint32_t>(walk->start);
  b.in.clear();
  b.out.clear();
  b.below.clear();
  uint64_t fit = 0, before = 0;
  for (size_t i = 0; i < b.parts.size(); ++i) {
    const PartTable::Part p = b.parts[i];
    fit += p.nodes;
    ForEachBucket(p, [&](int32_t, const RankSet& ranks, const RankSet* shadow) {
      b.in.push_back(&ranks);
      uint32_t below = ranks.CountBelow(start);
      if (shadow != nullptr) {
        b.out.push_back(shadow);
        below -= shadow->CountBelow(start);
      }
      b.below.push_back(below);
      before += below;
      return true;
    });
  }
  walk->walked = true;
  walk->stopped = fit > walk->most;
  walk->found = std::min<uint64_t>(fit, walk->most);
  walk->looked = all;
  if (!walk->stopped) return {start, start, true};
  const auto last = static_cast<uint32_t>((before + walk->most) % fit);
  const uint32_t end = SelectKth({b.in, {}}, {b.out, {}}, all, last);
  walk->looked = (end + all - start) % all + 1;
  return {start, end, end < start};
}

// Sets the number of rows of each part to the number of rows in the window. REQUIRES: b.below is as FindWindow has left
// it.
void DomainOverlay::CountInWindow(Buffers& b, const Window& window) const {
  const uint32_t* below = b.below.data();
  for (size_t i = 0; i < b.parts.size(); ++i) {
    uint32_t& nodes = b.parts.nodes()[i] = 0;
    ForEachBucket(b.parts[i], [&](int32_t, const RankSet& ranks, const RankSet* shadow) {
      nodes += ranks.CountBelow(window.end) + (window.wraps ? ranks.size() : 0) - *below++;
      if (shadow != nullptr) nodes -= shadow->CountBelow(window.end) + (window.wraps ? shadow->size() : 0);
      return true;
    });
  }
}

// Chooses the row in the window that round robin gives, among those with the best total.
DomainOverlay::Answer DomainOverlay::ChooseInWindow(Buffers& b, const Window& window, uint64_t feasible,
                                                    uint64_t* last_node_index) const {
  int64_t best = std::numeric_limits<int64_t>::min();
  uint64_t ties = 0;
  b.in.clear();
  b.out.clear();
  for (size_t i = 0; i < b.parts.size(); ++i) {
    const PartTable::Part p = b.parts[i];
    if (p.nodes == 0) continue;
    ForEachBucket(p, [&](int32_t score, const RankSet& ranks, const RankSet* shadow) {
      const int64_t total = p.total + score;
      if (total < best) return false;
      const uint32_t here = window.Count(ranks) - (shadow != nullptr ? window.Count(*shadow) : 0);
      if (here == 0) return true;
      if (total > best) {
        best = total;
        ties = 0;
        b.in.clear();
        b.out.clear();
      }
      ties += here;
      b.in.push_back(&ranks);
      if (shadow != nullptr) b.out.push_back(shadow);
      return false;
    });
  }
  // Their numbers among all ranks of these buckets: those in the window from its start on come first.
  uint64_t sum = 0, before = 0;
  for (const RankSet* ranks : b.in) {
    sum += ranks->size();
    before += ranks->CountBelow(window.start);
  }
  for (const RankSet* ranks : b.out) {
    sum -= ranks->size();
    before -= ranks->CountBelow(window.start);
  }
  const uint64_t number = (before + *last_node_index % ties) % sum;
  const uint32_t limit = cache_->rank_limit();
  const uint32_t rank = SelectKth({b.in, {}}, {b.out, {}}, limit, static_cast<uint32_t>(number));
  if (feasible > 1) ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(cache_->RowAt(rank)).name, feasible, ties};
}

// REQUIRES: the class is built and up to date, ranks are in the order of the tree, and ChooseWay returned kKept.
DomainOverlay::Answer DomainOverlay::PlaceInWindow(Buffers& b, SampledWalk* walk, uint64_t* last_node_index) {
  specials_.Refresh(*rows_, &b.sums);
  if (!rows_->usable()) return {};
  BeginParts(b, signatures_);
  AskLabelRulesOfClass(b);
  AddKeptParts(b);
  if (b.parts.empty()) {
    *walk = {.start = walk->start, .most = walk->most, .walked = true, .looked = cache_->in_order().size()};
    return {Answer::Outcome::kUnfit, {}, 0, 0};
  }
  const Window window = FindWindow(b, walk);
  if (walk->stopped) CountInWindow(b, window);
  if (on_filtered_ != nullptr) (*on_filtered_)();
  return ChooseInWindow(b, window, b.parts.Score(), last_node_index);
}

}  // namespace berth::scheduler
