// PlaceAmong, the decision that lists the rows that fit. It is used for the first pod of a class, for which building
// the class would cost more, and where rules must be called for every row. The parts are the same as in Place; the
// difference is that the rows of each part are listed instead of kept in buckets.
//
// Loops over all rows write every result and advance the end of the output only for rows that are kept, so that they
// have no branches that the processor cannot predict.
#include <algorithm>
#include <limits>

#include "pkg/scheduler/core/incremental/domain_overlay.h"

namespace berth::scheduler {

// Lists the rows that fit by the rules about nodes and the pods on them in scratch().rows, with their states, in
// descending order of names. Writes the signatures of special rows to scratch().signature_of, which is 0 for all
// others. A class that is built says which rows these are; for one that is not, all rows are looked at. The signatures
// are found anew unless `keep` says that special rows are kept. REQUIRES: a class that is built is up to date.
void DomainOverlay::ListRows(bool keep) {
  Scratch& s = scratch();
  for (Row row : s.with_signature) s.signature_of[row] = 0;
  s.with_signature.clear();
  if (s.signature_of.size() < cache_->row_count()) s.signature_of.resize(cache_->row_count(), 0);
  auto add = [&](Row row, int32_t signature) {
    s.with_signature.push_back(row);
    s.signature_of[row] = signature;
  };
  if (keep) RefreshSpecials();
  if (rows_->built()) {
    const std::vector<Row>& all = cache_->in_order();
    s.rows.resize(all.size());
    s.states.resize(all.size());
    size_t fit = 0;
    for (Row row : all) {
      const EquivalenceClass::RowState& state = rows_->state(row);
      s.rows[fit] = row;
      s.states[fit] = state;
      fit += state.group >= 0 ? 1 : 0;
    }
    s.rows.resize(fit);
    s.states.resize(fit);
  } else {
    rows_->List(&s.rows, &s.states);
  }
  if (keep) {
    for (const auto& [row, special] : specials_) add(row, special.signature);
    return;
  }
  DropSpecials();
  signatures_.Reset(slots_.size());
  AddUpSparse([&](Row row, std::span<const int64_t> values) {
    if (const int32_t signature = signatures_.Use(values); signature != 0) add(row, signature);
  });
}

// Evaluates the rules about labels for one row of each group that has a listed row.
void DomainOverlay::PrepareGroupsOfRows() {
  Scratch& s = scratch();
  BeginParts();
  BeginGroups();
  s.plain_part.assign(rows_->nodes().group_count(), kNotLooked);
  s.special_part.clear();
  if (label_checks_.empty() && label_scorings_.empty()) return;
  std::vector<uint8_t> seen(s.plain_part.size(), 0);
  for (size_t i = 0; i < s.rows.size(); ++i) {
    uint8_t& group_seen = seen[static_cast<size_t>(s.states[i].group)];
    if (group_seen == 0) s.group_rows.push_back(s.rows[i]);
    group_seen = 1;
  }
  AskLabelRules();
}

// Returns the index of the part for the rows of a group with this signature, or kNoPart. The part is added at the first
// call for it.
int32_t DomainOverlay::PartFor(int32_t group, int32_t signature) {
  Scratch& s = scratch();
  int32_t& part = signature == 0 ? s.plain_part[static_cast<size_t>(group)]
                                 : s.special_part.try_emplace({group, signature}, kNotLooked).first->second;
  if (part == kNotLooked) {
    part = AddPart(group, signature, nullptr, 0) ? static_cast<int32_t>(s.parts.size()) - 1 : kNoPart;
  }
  return part;
}

// Writes the part of each listed row to scratch().part_of and erases rows whose part is not admitted. If all rows are
// in one part, scratch().part_of stays empty.
void DomainOverlay::FindPartsOfRows() {
  Scratch& s = scratch();
  PrepareGroupsOfRows();
  s.part_of.clear();
  if (s.plain_part.size() == 1 && s.with_signature.empty()) {
    if (s.rows.empty() || PartFor(0, 0) != kNoPart) return;
    s.rows.clear();
    s.states.clear();
    return;
  }
  const size_t size = s.rows.size();
  s.part_of.resize(size);
  Row* rows = s.rows.data();
  EquivalenceClass::RowState* states = s.states.data();
  int32_t* part_of = s.part_of.data();
  const int32_t* plain_part = s.plain_part.data();
  const int32_t* signature_of = s.with_signature.empty() ? nullptr : s.signature_of.data();
  size_t kept = 0;
  for (size_t i = 0; i < size; ++i) {
    const Row row = rows[i];
    const EquivalenceClass::RowState state = states[i];
    const int32_t signature = signature_of == nullptr ? 0 : signature_of[row];
    int32_t part = signature == 0 ? plain_part[state.group] : kNotLooked;
    if (part == kNotLooked) part = PartFor(state.group, signature);
    rows[kept] = row;
    states[kept] = state;
    part_of[kept] = part;
    kept += part >= 0 ? 1 : 0;
  }
  s.rows.resize(kept);
  s.states.resize(kept);
  s.part_of.resize(kept);
}

// Erases the listed rows that `filter` erases. Returns false when the reference scheduler must decide.
bool DomainOverlay::FilterRows(const Extra::Filter& filter) {
  Scratch& s = scratch();
  s.candidates.Clear();
  s.candidates.Resize(cache_->row_count());
  std::vector<uint64_t>& words = s.candidates.words();
  for (Row row : s.rows) words[row / 64] |= uint64_t{1} << (row % 64);
  if (!filter(&s.candidates)) return false;
  const bool parts = !s.part_of.empty();
  size_t kept = 0;
  for (size_t i = 0; i < s.rows.size(); ++i) {
    const Row row = s.rows[i];
    s.rows[kept] = row;
    s.states[kept] = s.states[i];
    if (parts) s.part_of[kept] = s.part_of[i];
    kept += words[row / 64] >> (row % 64) & 1;
  }
  s.rows.resize(kept);
  s.states.resize(kept);
  if (parts) s.part_of.resize(kept);
  return true;
}

// Sets Part::nodes. Rows that follow one another are often in the same part, so runs of such rows are counted: adding 1
// to the same number again and again would make each addition wait for the one before.
void DomainOverlay::CountRowsOfParts() {
  Scratch& s = scratch();
  if (s.part_of.empty() && !s.parts.empty()) s.parts[0].nodes = static_cast<uint32_t>(s.rows.size());
  size_t begin = 0;
  for (size_t i = 1; i <= s.part_of.size(); ++i) {
    if (i < s.part_of.size() && s.part_of[i] == s.part_of[begin]) continue;
    s.parts[static_cast<size_t>(s.part_of[begin])].nodes += static_cast<uint32_t>(i - begin);
    begin = i;
  }
}

// Writes the positions of the listed rows with the best total to scratch().ties. Positions are in descending order of
// names, the order in which round robin counts.
void DomainOverlay::FindTies() {
  Scratch& s = scratch();
  const size_t size = s.rows.size();
  const EquivalenceClass::RowState* states = s.states.data();
  s.ties.resize(size);
  uint32_t* ties = s.ties.data();
  size_t count = 0;
  if (s.parts.size() == 1) {
    int32_t best = std::numeric_limits<int32_t>::min();
    for (size_t i = 0; i < size; ++i) best = std::max(best, states[i].score);
    for (size_t i = 0; i < size; ++i) {
      ties[count] = static_cast<uint32_t>(i);
      count += states[i].score == best ? 1 : 0;
    }
    s.ties.resize(count);
    return;
  }
  s.totals.resize(size);
  int64_t* totals = s.totals.data();
  int64_t best = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < size; ++i) {
    totals[i] = s.parts[static_cast<size_t>(s.part_of[i])].total + states[i].score;
    best = std::max(best, totals[i]);
  }
  for (size_t i = 0; i < size; ++i) {
    ties[count] = static_cast<uint32_t>(i);
    count += totals[i] == best ? 1 : 0;
  }
  s.ties.resize(count);
}

// FindTies for totals to which `score` adds. Returns false when `score` fails.
bool DomainOverlay::FindTiesWith(const Extra::Score& score) {
  Scratch& s = scratch();
  s.totals.resize(s.rows.size());
  for (size_t i = 0; i < s.rows.size(); ++i) {
    const size_t part = s.part_of.empty() ? 0 : static_cast<size_t>(s.part_of[i]);
    s.totals[i] = s.parts[part].total + s.states[i].score;
  }
  if (!score(s.rows, s.totals)) return false;
  const int64_t best = *std::max_element(s.totals.begin(), s.totals.end());
  for (size_t i = 0; i < s.totals.size(); ++i) {
    if (s.totals[i] == best) s.ties.push_back(static_cast<uint32_t>(i));
  }
  return true;
}

DomainOverlay::Answer DomainOverlay::PlaceAmong(const Extra& extra, uint64_t* last_node_index) {
  bool keep = false;
  if (rows_->built()) {
    rows_->Refresh();
    keep = ChooseWay() == Way::kKept;
  }
  return PlaceInRows(extra, keep, last_node_index);
}

// PlaceAmong, with the special rows kept or found anew. REQUIRES: a class that is built is up to date.
DomainOverlay::Answer DomainOverlay::PlaceInRows(const Extra& extra, bool keep, uint64_t* last_node_index) {
  Scratch& s = scratch();
  ListRows(keep);
  if (!rows_->usable()) return {};
  FindPartsOfRows();
  if (extra.filter != nullptr && !FilterRows(*extra.filter)) return {};
  CountRowsOfParts();
  if (on_filtered_ != nullptr) (*on_filtered_)();
  const uint64_t feasible = ScoreParts();
  if (feasible == 0) return {Answer::Outcome::kUnfit, {}, 0, 0};
  if (feasible == 1) return {Answer::Outcome::kPlaced, cache_->row(s.rows[0]).name, 1, 1};
  s.ties.clear();
  if (extra.score == nullptr) {
    FindTies();
  } else if (!FindTiesWith(*extra.score)) {
    return {};
  }
  const Row chosen = s.rows[s.ties[*last_node_index % s.ties.size()]];
  ++*last_node_index;
  return {Answer::Outcome::kPlaced, cache_->row(chosen).name, feasible, s.ties.size()};
}

// Returns the index of the key in keys_, and adds the key when there is none. A key for the values of a label also says
// whether a node has the label.
size_t DomainOverlay::KeyOf(const LabelColumn* column, bool presence_only) {
  const auto& known = presence_only ? first_key_ : first_value_key_;
  if (const auto found = known.find(column); found != known.end()) return found->second;
  const size_t k = keys_.size();
  keys_.push_back({column, presence_only});
  first_key_.try_emplace(column, k);
  if (!presence_only) first_value_key_.try_emplace(column, k);
  return k;
}

}  // namespace berth::scheduler
