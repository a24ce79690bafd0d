// The rows of a walk of a sampler.
#include <algorithm>
#include <bit>

#include "pkg/scheduler/core/incremental/row_list.h"

namespace berth::scheduler {

void RowList::Take(const WalkedRows& walked, PartTable* parts) {
  rows_ = walked.rows();
  part_of_ = walked.part_of();
  states_.resize(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    states_[i] = {(*parts)[static_cast<size_t>(part_of_[i])].group, walked.scores()[i]};
  }
  std::ranges::fill(parts->nodes(), 0);
}

void RowList::KeepWalked(const Cache& cache, SampledWalk* walk) {
  const std::vector<Row>& all = cache.in_tree_order();
  std::vector<uint32_t> place_of(cache.row_count(), 0);  // by row: 1 + its position in rows_, or 0
  for (size_t i = 0; i < rows_.size(); ++i) place_of[rows_[i]] = static_cast<uint32_t>(i + 1);
  std::vector<uint32_t> places;
  *walk = {.start = walk->start, .most = walk->most, .walked = true};
  size_t next = all.empty() ? 0 : walk->start % all.size();
  for (; walk->looked < all.size() && !walk->stopped; ++walk->looked) {
    const uint32_t place = place_of[all[next]];
    if (++next == all.size()) next = 0;
    if (place == 0) continue;
    walk->stopped = walk->found == walk->most;
    if (walk->stopped) continue;
    ++walk->found;
    places.push_back(place - 1);
  }
  auto take = [&](auto* list) {
    const auto before = std::move(*list);
    list->clear();
    for (const uint32_t place : places) list->push_back(before[place]);
  };
  take(&rows_);
  take(&states_);
  if (!part_of_.empty()) take(&part_of_);
}

// Numbers the rows by the bits of their ranks.
Row RowList::ChosenByRank(const Cache& cache, uint64_t turn) {
  candidates_.Clear();
  candidates_.Resize(cache.rank_limit());
  std::vector<uint64_t>& words = candidates_.words();
  for (const uint32_t place : ties_) {
    const uint32_t rank = cache.Rank(rows_[place]);
    words[rank / 64] |= uint64_t{1} << (rank % 64);
  }
  size_t left = turn % ties_.size(), word = 0;
  for (; left >= static_cast<size_t>(std::popcount(words[word])); ++word) {
    left -= static_cast<size_t>(std::popcount(words[word]));
  }
  uint64_t bits = words[word];
  for (; left > 0; --left) bits &= bits - 1;
  return cache.RowAt(static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(bits)));
}

}  // namespace berth::scheduler
