#include "pkg/scheduler/core/incremental/equivalence_class.h"

#include <algorithm>

namespace berth::scheduler {

EquivalenceClass::EquivalenceClass(Cache* cache, const RuleSet& rules, api::PodPtr pod,
                                   std::shared_ptr<StaticNodeIndex> nodes, Scratch* scratch)
    : cache_(cache), nodes_(std::move(nodes)), pod_(std::move(pod)), scratch_(*scratch) {
  const PodContext ctx{*pod_, *cache->Info(pod_->tmpl), *cache};
  checks_ = Prepare(rules.node_pods_predicates, ctx);
  scores_ = Prepare(rules.node_pods_priorities, ctx);
  // An error in mapping is the pod's own and comes for every row.
  const std::vector<Row>& all = cache->by_name_descending();
  if (all.empty()) return;
  int64_t score;
  for (WeightedScoring& w : scores_) usable_ = usable_ && w.scoring->Map({all.data(), 1}, {&score, 1}).ok();
}

void EquivalenceClass::Insert(Row row, const RowState& state) {
  states_[row] = state;
  Group& g = groups_[static_cast<size_t>(state.group)];
  g.buckets.Insert(state.score, cache_->NameRank(row));
  ++g.size;
}

void EquivalenceClass::Remove(Row row) {
  RowState& s = states_[row];
  if (s.group < 0) return;
  Group& g = groups_[static_cast<size_t>(s.group)];
  g.buckets.Erase(s.score, cache_->NameRank(row));
  --g.size;
  s.group = -1;
}

// Takes over the groups that the index has added.
void EquivalenceClass::TakeGroups() {
  const uint32_t limit = static_cast<uint32_t>(cache_->by_name_descending().size());
  for (size_t i = groups_.size(); i < nodes_->group_count(); ++i) {
    groups_.push_back({ScoreBuckets(limit)});
  }
}

// Leaves in scratch_.states what is known of rows that fit.
void EquivalenceClass::Score() {
  const std::vector<Row>& rows = scratch_.rows;
  std::vector<RowState>& states = scratch_.states;
  states.resize(rows.size());
  scratch_.scores.resize(rows.size());
  for (size_t k = 0; k < rows.size(); ++k) {
    const StaticNodeIndex::Part& part = nodes_->part(rows[k]);
    states[k] = {part.group, part.score};
  }
  for (WeightedScoring& w : scores_) {
    usable_ = w.scoring->Map(rows, scratch_.scores).ok() && usable_;
    for (size_t k = 0; k < rows.size(); ++k) states[k].score += static_cast<int32_t>(scratch_.scores[k] * w.weight);
  }
}

// Evaluates the rows in scratch_, among which some may stand twice.
void EquivalenceClass::Evaluate() {
  std::vector<Row>& rows = scratch_.rows;
  std::erase_if(rows, [&](Row row) {
    bool fits = nodes_->part(row).group >= 0;
    for (size_t i = 0; fits && i < checks_.size(); ++i) {
      const Verdict verdict = checks_[i]->Check(row);
      fits = verdict == Verdict::kFits;
      usable_ = usable_ && verdict != Verdict::kError;
    }
    if (!fits) Remove(row);
    return !fits;
  });
  Score();
  for (size_t k = 0; k < rows.size(); ++k) {
    const RowState now = states_[rows[k]], next = scratch_.states[k];
    if (now.group == next.group && now.score == next.score) continue;
    Remove(rows[k]);
    Insert(rows[k], next);
  }
}

// Whole columns at once.
void EquivalenceClass::ListIntoScratch() {
  std::vector<Row>& rows = scratch_.rows;
  rows = nodes_->rows();
  for (auto& check : checks_) usable_ = KeepFitting(check.get(), &rows) && usable_;
  Score();
}

void EquivalenceClass::List(std::vector<Row>* rows, std::vector<RowState>* states) {
  nodes_->Refresh();
  ListIntoScratch();
  std::swap(*rows, scratch_.rows);
  std::swap(*states, scratch_.states);
}

void EquivalenceClass::Rebuild() {
  ++epoch_;
  built_ = true;
  names_version_ = cache_->names_version();
  nodes_epoch_ = nodes_->epoch();
  seen_ = cache_->generation();
  groups_.clear();
  TakeGroups();
  states_.assign(cache_->row_count(), RowState{});

  ListIntoScratch();
  const std::vector<Row>& rows = scratch_.rows;
  for (size_t k = 0; k < rows.size(); ++k) states_[rows[k]] = scratch_.states[k];
  if (!rows.empty()) FillBuckets();
}

// Sorts the rows in scratch_, which are in the order of ranks, into the buckets of their groups. Where scores lie close
// together this is a counting sort, which keeps the ranks of each bucket in ascending order as ScoreBuckets::Fill
// wants.
void EquivalenceClass::FillBuckets() {
  const std::vector<Row>& rows = scratch_.rows;
  const std::vector<RowState>& states = scratch_.states;
  int32_t low = states[0].score, high = low;
  for (const RowState& s : states) {
    low = std::min(low, s.score);
    high = std::max(high, s.score);
  }
  const uint64_t width = static_cast<uint64_t>(int64_t{high} - low) + 1;
  if (width > 4096 || width * groups_.size() > 2 * rows.size() + 4096) {
    for (size_t k = 0; k < rows.size(); ++k) Insert(rows[k], states[k]);
    return;
  }
  const std::vector<uint32_t>* ranks = &nodes_->ranks();
  if (const std::vector<Row>& all = nodes_->rows(); rows.size() < all.size()) {
    scratch_.ranks.resize(rows.size());
    for (size_t k = 0, at = 0; k < rows.size(); ++k, ++at) {
      while (all[at] != rows[k]) ++at;
      scratch_.ranks[k] = (*ranks)[at];
    }
    ranks = &scratch_.ranks;
  }
  std::vector<uint32_t>& place = scratch_.places;
  std::vector<uint32_t>& end = scratch_.ends;
  std::vector<uint32_t>& sorted = scratch_.sorted;
  place.resize(rows.size());
  sorted.resize(rows.size());
  end.assign(width * groups_.size() + 1, 0);
  for (size_t k = 0; k < rows.size(); ++k) {
    place[k] = static_cast<uint32_t>(states[k].group) * static_cast<uint32_t>(width) +
               static_cast<uint32_t>(states[k].score - low);
    ++end[place[k] + 1];
  }
  for (size_t p = 1; p < end.size(); ++p) end[p] += end[p - 1];
  for (size_t k = 0; k < rows.size(); ++k) sorted[end[place[k]]++] = (*ranks)[k];
  // Now end[p] is where p ends, and where p + 1 begins.
  for (uint64_t p = 0, begin = 0; p + 1 < end.size(); begin = end[p++]) {
    if (begin == end[p]) continue;
    Group& g = groups_[p / width];
    g.buckets.Fill(low + static_cast<int64_t>(p % width), {sorted.data() + begin, end[p] - begin});
    g.size += static_cast<uint32_t>(end[p] - begin);
  }
}

void EquivalenceClass::Refresh() {
  nodes_->Refresh();
  cache_->by_name_descending();
  if (!built_ || names_version_ != cache_->names_version() || nodes_epoch_ != nodes_->epoch() ||
      states_.size() < cache_->row_count()) {
    return Rebuild();
  }
  scratch_.rows.clear();
  if (!cache_->ChangesSince(seen_, [&](Row row, bool) { scratch_.rows.push_back(row); })) return Rebuild();
  seen_ = cache_->generation();
  TakeGroups();
  Evaluate();
}

size_t EquivalenceClass::bytes() const {
  size_t bytes = sizeof(*this) + states_.capacity() * sizeof(RowState) + groups_.size() * sizeof(Group);
  for (const Group& g : groups_) bytes += g.buckets.bytes();
  return bytes;
}

}  // namespace berth::scheduler
