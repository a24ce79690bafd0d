#include "pkg/scheduler/core/incremental/walked_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// The table of parts is made if it has at most this many places, or a few for each row.
constexpr size_t kLeastPlacesOfWalk = 4096;

}  // namespace

// Forgets the parts of the decision before. The table stays as it is as long as it is large enough.
void WalkedRows::Begin(size_t groups, size_t signatures, size_t rows) {
  const uint64_t stride = std::max<uint64_t>(stride_, std::bit_ceil(signatures));
  const size_t places = (groups + 1) * stride;
  by_table_ = places <= 4 * rows + kLeastPlacesOfWalk;
  map_.clear();
  if (!by_table_) {
    stride_ = stride;
    table_.clear();
    looked_.clear();
    return;
  }
  if (stride != stride_ || places > table_.size()) {
    stride_ = stride;
    table_.assign(places, kNotLooked);
    std::fill_n(table_.begin(), stride, PartTable::kNoPart);
  } else {
    for (const uint64_t place : looked_) table_[place] = kNotLooked;
  }
  looked_.clear();
}

// Returns the part of a place, which is added to the table of parts at the first call for it.
int32_t WalkedRows::PartFor(uint64_t place, PartTable* parts) {
  if (place < stride_) return PartTable::kNoPart;
  int32_t& part = by_table_ ? table_[place] : map_.try_emplace(place, kNotLooked).first->second;
  if (part != kNotLooked) return part;
  part = parts->Add(static_cast<int32_t>(place / stride_) - 1, static_cast<int32_t>(place % stride_), nullptr, 0);
  if (by_table_) looked_.push_back(place);
  return part;
}

// Appends those of the rows that fit and have a part. Returns how many rows there are then. Advances the end of the
// output only for rows that are kept, so that there is no branch that the processor cannot predict.
template <typename States>
size_t WalkedRows::Take(std::span<const Row> from, States states, const int32_t* signature_of, size_t kept,
                        PartTable* parts) {
  Row* const rows = rows_.data();
  int32_t *const scores = scores_.data(), *const part_of = part_of_.data();
  const int32_t* const table = by_table_ ? table_.data() : nullptr;
  const uint64_t stride = stride_;
  for (const Row row : from) {
    const RowState state = states[row];
    const uint64_t place = static_cast<uint32_t>(state.group + 1) * stride + static_cast<uint32_t>(signature_of[row]);
    int32_t part = table != nullptr ? table[place] : kNotLooked;
    if (part == kNotLooked) [[unlikely]]
      part = PartFor(place, parts);
    rows[kept] = row;
    scores[kept] = state.score;
    part_of[kept] = part;
    kept += part >= 0 ? 1 : 0;
  }
  return kept;
}

// Looks at so many rows at a time that none of them comes after the end of the walk.
void WalkedRows::Walk(const Cache& cache, const EquivalenceClass& of, std::span<const int32_t> signature_of,
                      size_t signatures, SampledWalk* walk, PartTable* parts) {
  BERTH_REQUIRES(of.built() && signature_of.size() >= cache.row_count());
  const std::vector<Row>& all = cache.in_tree_order();
  Begin(of.nodes().group_count(), signatures, all.size());
  const size_t most = std::min(walk->most + 1, all.size());
  rows_.resize(most);
  scores_.resize(most);
  part_of_.resize(most);
  size_t kept = 0, passed = of.states().empty() ? all.size() : 0;
  while (passed < all.size() && kept <= walk->most) {
    const size_t at = (walk->start + passed) % all.size();
    const size_t size = std::min({all.size() - passed, all.size() - at, walk->most + 1 - kept});
    const std::span<const Row> from(all.data() + at, size);
    kept = of.states().Visit([&](auto states) {
      wide_ = std::is_same_v<decltype(states), RowStates::Wide>;
      return Take(from, states, signature_of.data(), kept, parts);
    });
    passed += size;
  }
  walk->walked = true;
  walk->looked = passed;
  walk->found = std::min(kept, walk->most);
  walk->stopped = kept > walk->most;
  rows_.resize(walk->found);
  scores_.resize(walk->found);
  part_of_.resize(walk->found);
  CountRows(parts);
}

// Rows that follow one another are often in the same part. Adding 1 to the same number again and again would make each
// addition wait for the one before, so there are four numbers of each part.
void WalkedRows::CountRows(PartTable* parts) const {
  thread_local std::vector<std::array<uint32_t, 4>> numbers;
  numbers.assign(parts->size(), {});
  std::array<uint32_t, 4>* const number = numbers.data();
  const int32_t* const part_of = part_of_.data();
  const size_t size = part_of_.size();
#pragma GCC unroll 4
  for (size_t i = 0; i < size; ++i) ++number[static_cast<size_t>(part_of[i])][i % 4];
  for (size_t p = 0; p < numbers.size(); ++p) {
    const std::array<uint32_t, 4>& n = numbers[p];
    parts->nodes()[p] = n[0] + n[1] + n[2] + n[3];
  }
}

// FindTies with totals of a type, less `least`, so that they are small.
template <typename Total>
void WalkedRows::FindTiesOf(const PartTable& parts, int64_t least) {
  thread_local std::vector<Total> of_part, of_row;
  of_part.clear();
  for (const int64_t total : parts.totals()) of_part.push_back(static_cast<Total>(total - least));
  const size_t size = rows_.size();
  of_row.resize(size);
  ties_.resize(size);
  const Total* const base = of_part.data();
  Total* const totals = of_row.data();
  const int32_t *const part_of = part_of_.data(), *const scores = scores_.data();
  Total best = std::numeric_limits<Total>::min();
#pragma GCC unroll 4
  for (size_t i = 0; i < size; ++i) {
    const Total total = base[part_of[i]] + scores[i];
    totals[i] = total;
    best = total > best ? total : best;
  }
  uint32_t* const ties = ties_.data();
  size_t count = 0;
#pragma GCC unroll 4
  for (size_t i = 0; i < size; ++i) {
    ties[count] = static_cast<uint32_t>(i);
    count += totals[i] == best ? 1 : 0;
  }
  ties_.resize(count);
}

void WalkedRows::FindTies(const PartTable& parts) {
  BERTH_REQUIRES(!rows_.empty());
  int64_t least = std::numeric_limits<int64_t>::max(), most = std::numeric_limits<int64_t>::min();
  for (const int64_t total : parts.totals()) {
    least = std::min(least, total);
    most = std::max(most, total);
  }
  constexpr int64_t kRoom = int64_t{1} << 30;  // the scores of packed states have fewer bits (row_states.h)
  if (!wide_ && most - least < kRoom) {
    FindTiesOf<int32_t>(parts, least);
  } else {
    FindTiesOf<int64_t>(parts, 0);
  }
}

Row WalkedRows::Chosen(const Cache& cache, uint64_t turn) {
  BERTH_REQUIRES(!ties_.empty());
  const size_t number = turn % ties_.size();
  if (cache.order() == NodeOrder::kZoneTree || ties_.size() == 1) return rows_[ties_[number]];
  return ChosenByRank(cache, number);
}

// Numbers the rows by the bits of their ranks.
Row WalkedRows::ChosenByRank(const Cache& cache, size_t number) {
  candidates_.Clear();
  candidates_.Resize(cache.rank_limit());
  std::vector<uint64_t>& all = candidates_.words();
  uint64_t* const words = all.data();
  for (const uint32_t place : ties_) {
    const uint32_t rank = cache.Rank(rows_[place]);
    words[rank / 64] |= uint64_t{1} << (rank % 64);
  }
  size_t left = number, word = 0;
  for (size_t here; left >= (here = static_cast<size_t>(std::popcount(words[word]))); ++word) left -= here;
  uint64_t bits = words[word];
  for (; left > 0; --left) bits &= bits - 1;
  return cache.RowAt(static_cast<uint32_t>(word * 64) + static_cast<uint32_t>(std::countr_zero(bits)));
}

}  // namespace berth::scheduler
