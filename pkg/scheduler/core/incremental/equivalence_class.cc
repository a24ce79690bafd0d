// A class is built by listing all rows once and sorting them into buckets (Rebuild). After that, only the rows that the
// cache's log of changes names are evaluated again (Refresh, Evaluate). It is built anew when ranks or group numbers
// change their meaning, that is when ranks are given anew or when the index begins a new epoch.
#include "pkg/scheduler/core/incremental/equivalence_class.h"

#include <algorithm>

#include "pkg/util/contract.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {
namespace {

// The rows of a class are put into buckets one by one if their scores are spread wider than this, or if there are more
// places for buckets than this and twice the number of rows.
constexpr uint64_t kMostScores = 4096, kFewPlaces = 4096;

// The bits of at most this many words are numbered with 32 bits.
constexpr uint64_t kMostWords = uint64_t{1} << 26;

}  // namespace

EquivalenceClass::EquivalenceClass(Cache* cache, std::shared_ptr<StaticNodeIndex> nodes,
                                   std::shared_ptr<RowAnswers> answers, Scratch* scratch)
    : cache_(cache), nodes_(std::move(nodes)), answers_(std::move(answers)), scratch_(*scratch) {}

// Adds a rank that is in no bucket.
void EquivalenceClass::AddToBucket(uint32_t rank, const RowState& state) {
  Group& g = groups_[static_cast<size_t>(state.group)];
  g.buckets.Insert(state.score, rank);
  ++g.size;
}

// Gives the row its new state, and moves it from its bucket, if it is in one, to that of the new state.
void EquivalenceClass::MoveRow(const Move& move) {
  if (states_.empty()) states_.Resize(rows_known_, move.to, move.to);
  const uint32_t rank = cache_->Rank(move.row);
  Withdraw(move.row, rank);
  states_.Set(move.row, move.to);
  if (move.to.group >= 0) AddToBucket(rank, move.to);
}

// Adds an empty group for each group that the index has added.
void EquivalenceClass::TakeGroups() {
  const uint32_t limit = cache_->rank_limit();
  for (size_t i = groups_.size(); i < nodes_->group_count(); ++i) {
    groups_.push_back({ScoreBuckets(limit)});
  }
}

// Writes the states of the rows in scratch_.rows, which all fit, to scratch_.states.
void EquivalenceClass::ScoreScratch() {
  const std::vector<Row>& rows = scratch_.rows;
  scratch_.states.resize(rows.size());
  for (size_t k = 0; k < rows.size(); ++k) {
    const StaticNodeIndex::Part& part = nodes_->part(rows[k]);
    scratch_.states[k] = {part.group, part.score + scratch_.scores[k]};
  }
}

// Evaluates the rows in scratch_.changed anew and moves them between buckets. A row may be listed more than once. First
// lists the rows that move, without a branch for each row, because it is hard to predict which rows these are.
void EquivalenceClass::Evaluate() {
  const std::vector<Row>& changed = scratch_.changed;
  std::vector<Row>& rows = scratch_.rows;
  rows.resize(changed.size());
  size_t fit = 0;
  for (Row row : changed) {
    Prefetch(row);
    rows[fit] = row;
    fit += nodes_->part(row).group >= 0 ? 1 : 0;
  }
  rows.resize(fit);
  answers_->KeepFitting(&rows, &scratch_.scores);
  ScoreScratch();
  rows.push_back(kNoRow);
  scratch_.states.emplace_back();
  std::vector<Move>& moves = scratch_.moves;
  moves.resize(changed.size());
  size_t moved = 0, k = 0;
  for (Row row : changed) {
    const bool fits = rows[k] == row;
    const RowState now = state(row), listed = scratch_.states[k];
    const RowState next{fits ? listed.group : -1, fits ? listed.score : 0};
    k += fits ? 1 : 0;
    moves[moved] = {row, next};
    moved += static_cast<size_t>((now.group != next.group) | (now.score != next.score));
  }
  for (size_t m = 0; m < moved; ++m) MoveRow(moves[m]);
}

void EquivalenceClass::ListIntoScratch() {
  const std::vector<Row>& all = nodes_->rows();
  scratch_.rows.resize(all.size());
  scratch_.states.resize(all.size());
  const size_t fit =
      answers_->ListFitting(all, [parts = nodes_->parts(), rows = scratch_.rows.data(),
                                  states = scratch_.states.data()](size_t place, Row row, int32_t score) {
        rows[place] = row;
        states[place] = {parts[row].group, parts[row].score + score};
      });
  scratch_.rows.resize(fit);
  scratch_.states.resize(fit);
}

void EquivalenceClass::List(std::vector<Row>* rows, std::vector<RowState>* states) {
  nodes_->Refresh();
  ListIntoScratch();
  std::swap(*rows, scratch_.rows);
  std::swap(*states, scratch_.states);
}

// REQUIRES: there are states in the buffer.
EquivalenceClass::Scores EquivalenceClass::ScoresInScratch() const {
  BERTH_REQUIRES(!scratch_.states.empty());
  int32_t low = scratch_.states[0].score, high = low;
  util::RunLoops([&low, &high, states = scratch_.states.data(), size = scratch_.states.size()]() BERTH_LOOPS {
    int32_t least = low, most = high;
    for (size_t k = 0; k < size; ++k) {
      const int32_t score = states[k].score;
      least = score < least ? score : least;
      most = score > most ? score : most;
    }
    low = least;
    high = most;
  });
  return {low, high};
}

void EquivalenceClass::Rebuild() {
  ++epoch_;
  built_ = true;
  ranks_version_ = cache_->ranks_version();
  order_version_ = cache_->order_version();
  nodes_epoch_ = nodes_->epoch();
  seen_ = cache_->generation();
  rescored_ = nodes_->rescored();
  groups_.clear();
  TakeGroups();
  rows_known_ = cache_->row_count();
  states_.Clear();

  ListIntoScratch();
  const std::vector<Row>& rows = scratch_.rows;
  if (rows.empty()) return;
  const Scores scores = ScoresInScratch();
  const int32_t last = static_cast<int32_t>(groups_.size()) - 1;
  states_.Resize(rows_known_, {last, scores.low}, {last, scores.high});
  states_.SetAll(rows, scratch_.states);
  FillBuckets(scores);
}

// Sorts the rows in scratch_.rows, which are in the order of ranks, into the buckets of their groups. There is a place
// for each group and score between the lowest and the highest one, those of a group in descending order of scores, as
// ScoreBuckets::Append requires.
void EquivalenceClass::FillBuckets(const Scores& scores) {
  const std::vector<Row>& rows = scratch_.rows;
  const std::vector<RowState>& states = scratch_.states;
  const int32_t high = scores.high;
  const uint64_t width = static_cast<uint64_t>(int64_t{high} - scores.low) + 1, places = width * groups_.size();
  if (width > kMostScores || places > 2 * rows.size() + kFewPlaces) {
    for (size_t k = 0; k < rows.size(); ++k) AddToBucket(cache_->Rank(rows[k]), states[k]);
    return;
  }
  std::span<const uint32_t> ranks = nodes_->ranks();
  if (rows.size() < ranks.size()) {
    scratch_.ranks.resize(rows.size());
    for (size_t k = 0; k < rows.size(); ++k) scratch_.ranks[k] = cache_->Rank(rows[k]);
    ranks = scratch_.ranks;
  }
  const size_t words = RankSet::WordsFor(cache_->rank_limit());
  if (places * words <= std::min(2 * rows.size() + kFewPlaces, kMostWords)) {
    FillBucketsByBits(ranks, high, static_cast<uint32_t>(width));
  } else {
    SortIntoBuckets(ranks, high, static_cast<uint32_t>(width));
  }
}

// Makes a bitmap for each place. Takes fewer steps for a row than sorting, but `words` steps for each place. REQUIRES:
// the bitmaps have at most kMostWords words.
void EquivalenceClass::FillBucketsByBits(std::span<const uint32_t> ranks, int32_t high, uint32_t width) {
  const size_t words = RankSet::WordsFor(cache_->rank_limit());
  scratch_.bits.assign(groups_.size() * width * words, 0);
  uint64_t* const bits = scratch_.bits.data();
  constexpr size_t kBlock = 256;
  uint32_t bit[kBlock];
  for (size_t begin = 0; begin < ranks.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, ranks.size() - begin);
    util::RunLoops([to = bit, states = scratch_.states.data() + begin, of = ranks.data() + begin, size, high, width,
                    bits_of_place = static_cast<uint32_t>(words * 64)]() BERTH_LOOPS {
      for (size_t k = 0; k < size; ++k) {
        const auto place =
            static_cast<uint32_t>(states[k].group) * width + static_cast<uint32_t>(high - states[k].score);
        to[k] = place * bits_of_place + of[k];
      }
    });
    for (size_t k = 0; k < size; ++k) bits[bit[k] / 64] |= uint64_t{1} << (bit[k] % 64);
  }
  for (size_t place = 0; place < groups_.size() * width; ++place) {
    const std::span<const uint64_t> of_place(bits + place * words, words);
    if (std::all_of(of_place.begin(), of_place.end(), [](uint64_t w) { return w == 0; })) continue;
    Group& g = groups_[place / width];
    g.buckets.AppendBits(high - static_cast<int32_t>(place % width), of_place);
    g.size += g.buckets.ranks(g.buckets.size() - 1).size();
  }
}

// Sorts the ranks by place, and keeps those of a place in ascending order.
void EquivalenceClass::SortIntoBuckets(std::span<const uint32_t> ranks, int32_t high, uint32_t width) {
  const std::vector<RowState>& states = scratch_.states;
  std::vector<uint32_t>& place = scratch_.places;
  std::vector<uint32_t>& end = scratch_.ends;
  std::vector<uint32_t>& sorted = scratch_.sorted;
  place.resize(ranks.size());
  sorted.resize(ranks.size());
  end.assign(width * groups_.size() + 1, 0);
  for (size_t k = 0; k < ranks.size(); ++k) {
    place[k] = static_cast<uint32_t>(states[k].group) * width + static_cast<uint32_t>(high - states[k].score);
    ++end[place[k] + 1];
  }
  for (size_t p = 1; p < end.size(); ++p) end[p] += end[p - 1];
  for (size_t k = 0; k < ranks.size(); ++k) sorted[end[place[k]]++] = ranks[k];
  // Now bucket p ends, and bucket p + 1 begins, at end[p].
  for (uint32_t p = 0, begin = 0; p + 1 < end.size(); begin = end[p++]) {
    if (begin == end[p]) continue;
    Group& g = groups_[p / width];
    g.buckets.Append(high - static_cast<int32_t>(p % width), {sorted.data() + begin, end[p] - begin});
    g.size += end[p] - begin;
  }
}

// Takes a row out of its bucket, in which it has this rank, if it is in one.
void EquivalenceClass::Withdraw(Row row, uint32_t rank) {
  const RowState from = state(row);
  if (from.group < 0) return;
  Group& g = groups_[static_cast<size_t>(from.group)];
  g.buckets.Erase(from.score, rank);
  --g.size;
  states_.Set(row, {});
}

// Takes the rows out of their buckets whose ranks may be those of other rows now, because their nodes have gone. Rows
// that are those of other nodes are among the rows that have changed, and are entered with these. Returns false if the
// log does not reach that far back.
bool EquivalenceClass::WithdrawGone() {
  if (order_version_ == cache_->order_version()) return true;
  order_version_ = cache_->order_version();
  cache_->RanksGivenUpSince(seen_, [&](Row row, uint32_t rank) { Withdraw(row, rank); });
  return cache_->NodeChangesSince(seen_, [&](Row row) {
    if (!cache_->listed().Has(row)) Withdraw(row, cache_->Rank(row));
  });
}

void EquivalenceClass::Refresh() {
  nodes_->Refresh();
  if (!built_ || ranks_version_ != cache_->ranks_version() || nodes_epoch_ != nodes_->epoch()) return Rebuild();
  if (!cache_->RowsChangedSince(seen_, &scratch_.changed) || !nodes_->RescoredSince(rescored_, &scratch_.changed) ||
      !WithdrawGone()) {
    return Rebuild();
  }
  if (rows_known_ < cache_->row_count()) {
    rows_known_ = cache_->row_count();
    if (!states_.empty()) states_.Grow(rows_known_);
  }
  TakeGroups();
  seen_ = cache_->generation();
  rescored_ = nodes_->rescored();
  Evaluate();
}

void EquivalenceClass::FittingRows(RowSet* rows) const {
  BERTH_REQUIRES(built_);
  rows->Clear();
  rows->Resize(static_cast<Row>(rows_known_));
  if (states_.empty()) return;
  states_.Visit([words = rows->words().data(), size = states_.size()](const auto states) {
    for (size_t begin = 0; begin < size; begin += 64) {
      uint64_t word = 0;
      for (size_t row = begin, end = std::min(begin + 64, size); row < end; ++row) {
        word |= static_cast<uint64_t>(states[row].group >= 0) << (row - begin);
      }
      words[begin / 64] = word;
    }
  });
}

size_t EquivalenceClass::bytes() const {
  size_t bytes = sizeof(*this) + states_.bytes() + groups_.size() * sizeof(Group);
  for (const Group& g : groups_) bytes += g.buckets.bytes();
  return bytes;
}

}  // namespace berth::scheduler
