// Loops over all rows write every result and advance the end of the output only for rows that are kept, so that they
// have no branches that the processor cannot predict.
#include "pkg/scheduler/core/incremental/row_list.h"

#include <algorithm>
#include <array>
#include <limits>

#include "pkg/util/contract.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {
namespace {

// A table of parts by group and signature is made if it has at most this many places, or a few for each row. If it
// would have more, most rows differ from all others, and each gets a part of its own.
constexpr size_t kLeastPlacesOfTable = 4096;

}  // namespace

void RowList::Resize(size_t size) {
  rows_.resize(size);
  states_.resize(size);
  if (!part_of_.empty()) part_of_.resize(size);
}

void RowList::Begin(const Cache& cache) {
  for (Row row : with_signature_) signature_of_[row] = 0;
  with_signature_.clear();
  signatures_ = 1;
  alone_ = marked_all_ = false;
  part_of_.clear();
  rows_.clear();
  states_.clear();
  if (signature_of_.size() < cache.row_count()) signature_of_.resize(cache.row_count(), 0);
}

void RowList::List(const Cache& cache, EquivalenceClass* of, const RowSet* among) {
  BERTH_REQUIRES(among == nullptr || of->built());
  Begin(cache);
  if (!of->built()) return of->List(&rows_, &states_);
  const RowStates& states = of->states();
  if (states.empty()) return;
  const std::vector<Row>& all = cache.in_order();
  Resize(all.size());
  states.Visit([&all, among, rows = rows_.data(), to = states_.data(), this](const auto of_row) {
    size_t fit = 0;
    if (among == nullptr) {
      for (const Row row : all) {
        const RowState state = of_row[row];
        rows[fit] = row;
        to[fit] = state;
        fit += state.group >= 0 ? 1 : 0;
      }
    } else {
      const uint64_t* const words = among->words().data();
      for (const Row row : all) {
        rows[fit] = row;
        fit += words[row / 64] >> (row % 64) & 1;
      }
      for (size_t i = 0; i < fit; ++i) to[i] = of_row[rows[i]];
    }
    Resize(fit);
  });
}

void RowList::AppendOneOfEach(size_t groups, std::vector<Row>* out) const {
  std::vector<uint8_t> seen(groups, 0);
  for (size_t i = 0; i < rows_.size(); ++i) {
    uint8_t& group_seen = seen[static_cast<size_t>(states_[i].group)];
    if (group_seen == 0) out->push_back(rows_[i]);
    group_seen = 1;
  }
}

bool RowList::HasTable(size_t groups, size_t signatures) const {
  return groups * signatures <= 4 * signature_of_.size() + kLeastPlacesOfTable;
}

// Says that no part was looked for yet. REQUIRES: the special rows are marked.
void RowList::ForgetParts(size_t groups) {
  plain_part_.assign(groups, kNotLooked);
  const auto signatures = static_cast<size_t>(signatures_);
  places_ = HasTable(groups, signatures) ? groups * signatures : 0;
  for (const size_t place : looked_) part_table_[place] = kNotLooked;
  looked_.clear();
  if (part_table_.size() < places_) part_table_.resize(places_, kNotLooked);
}

// Returns the index of the part for the rows of a group with this signature, or kNoPart. The part is added at the first
// call for it, as a candidate. REQUIRES: if the signature is not 0, there is a table.
int32_t RowList::PartFor(int32_t group, int32_t signature, PartTable* parts) {
  const auto place = static_cast<size_t>(group) * static_cast<size_t>(signatures_) + static_cast<size_t>(signature);
  if (place < places_ && part_table_[place] != kNotLooked) return part_table_[place];
  int32_t& part = signature == 0 ? plain_part_[static_cast<size_t>(group)] : part_table_[place];
  if (part == kNotLooked) part = parts->AddCandidate(group, signature, nullptr, 0);
  if (place < places_) {
    part_table_[place] = part;
    looked_.push_back(place);
  }
  return part;
}

// Finds the parts of all rows. Returns whether each of them has one.
bool RowList::LookUpParts(PartTable* parts) {
  const size_t size = rows_.size();
  part_of_.resize(size);
  const EquivalenceClass::RowState* states = states_.data();
  int32_t* const part_of = part_of_.data();
  if (alone_) {
    parts->AddOfEach(rows_, states_, marked_all_ ? nullptr : signature_of_.data(), part_of);
  } else if (with_signature_.empty()) {
    const int32_t* const plain_part = plain_part_.data();
    for (size_t i = 0; i < size; ++i) {
      int32_t part = plain_part[states[i].group];
      if (part == kNotLooked) part = PartFor(states[i].group, 0, parts);
      part_of[i] = part;
    }
  } else {
    const int32_t* const signature_of = signature_of_.data();
    for (size_t i = 0; i < size; ++i) {
      part_of[i] = PartInTable(states[i].group, signature_of[rows_[i]], parts);
    }
  }
  parts->Admit(part_of_);
  return std::ranges::all_of(part_of_, [](int32_t part) { return part >= 0; });
}

void RowList::FindParts(const StaticNodeIndex& nodes, PartTable* parts) {
  const size_t groups = nodes.group_count();
  ForgetParts(groups);
  alone_ = nodes.alone() || marked_all_ || (!with_signature_.empty() && places_ == 0);
  if (groups == 1 && with_signature_.empty() && !alone_) {
    if (!rows_.empty() && parts->Add(0, 0, nullptr, 0) == PartTable::kNoPart) Resize(0);
    return;
  }
  if (LookUpParts(parts)) return;
  size_t kept = 0;
  for (size_t i = 0; i < part_of_.size(); ++i) {
    rows_[kept] = rows_[i];
    states_[kept] = states_[i];
    part_of_[kept] = part_of_[i];
    kept += part_of_[i] >= 0 ? 1 : 0;
  }
  Resize(kept);
}

bool RowList::Filter(const Cache& cache, const Extra::Filter& filter) {
  candidates_.Clear();
  candidates_.Resize(cache.row_count());
  std::vector<uint64_t>& words = candidates_.words();
  for (Row row : rows_) words[row / 64] |= uint64_t{1} << (row % 64);
  if (!filter(&candidates_)) return false;
  if (candidates_.Size() == rows_.size()) return true;
  const bool parts = !part_of_.empty();
  size_t kept = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row row = rows_[i];
    rows_[kept] = row;
    states_[kept] = states_[i];
    if (parts) part_of_[kept] = part_of_[i];
    kept += words[row / 64] >> (row % 64) & 1;
  }
  Resize(kept);
  return true;
}

// Rows that follow one another are often in the same part. Adding 1 to the same number again and again would make each
// addition wait for the one before, so there are four numbers of each part.
void RowList::CountRows(PartTable* parts) const {
  uint32_t* const nodes = parts->nodes().data();
  if (part_of_.empty() && !parts->empty()) nodes[0] = static_cast<uint32_t>(rows_.size());
  if (alone_) {
    for (const int32_t part : part_of_) nodes[part] = 1;
    return;
  }
  thread_local std::vector<std::array<uint32_t, 4>> numbers;
  numbers.assign(parts->size(), {});
  for (size_t i = 0; i < part_of_.size(); ++i) ++numbers[static_cast<size_t>(part_of_[i])][i % 4];
  for (size_t p = 0; p < numbers.size(); ++p) {
    const std::array<uint32_t, 4>& n = numbers[p];
    nodes[p] += n[0] + n[1] + n[2] + n[3];
  }
}

// Writes the positions below `size` at which of(position) is `best` to ties_. Few rows of many share the best score as
// a rule, so a block of positions is passed over if it has none, without a branch for each.
template <typename T, typename Of>
void RowList::TakeTies(size_t size, T best, Of of) {
  constexpr size_t kBlock = 64;
  ties_.resize(size);
  uint32_t* const ties = ties_.data();
  size_t count = 0;
  for (size_t begin = 0; begin < size; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, size);
    bool any = false;
    util::RunLoops([&any, begin, end, best, of]() BERTH_LOOPS {
      T found = 0;
      for (size_t i = begin; i < end; ++i) found = of(i) == best ? 1 : found;
      any = found != 0;
    });
    if (!any) continue;
    for (size_t i = begin; i < end; ++i) {
      ties[count] = static_cast<uint32_t>(i);
      count += of(i) == best ? 1 : 0;
    }
  }
  ties_.resize(count);
}

// The positions of the ties are in descending order of names, the order in which round robin counts.
void RowList::FindTiesOfOnePart() {
  const size_t size = rows_.size();
  const EquivalenceClass::RowState* states = states_.data();
  int32_t best = std::numeric_limits<int32_t>::min();
  util::RunLoops([&best, states, size]() BERTH_LOOPS {
    int32_t most = best;
    for (size_t i = 0; i < size; ++i) most = states[i].score > most ? states[i].score : most;
    best = most;
  });
  TakeTies(size, best, [states](size_t i) BERTH_LOOPS { return states[i].score; });
}

bool RowList::FindTies(const PartTable& parts, const Extra::Score* score) {
  if (score == nullptr && parts.size() == 1) {
    FindTiesOfOnePart();
    return true;
  }
  const size_t size = rows_.size();
  totals_.resize(size);
  int64_t* totals = totals_.data();
  const EquivalenceClass::RowState* states = states_.data();
  int64_t best = std::numeric_limits<int64_t>::min();
  part_of_.resize(size, 0);
  const int32_t* part_of = part_of_.data();
  const int64_t* const total_of_part = parts.totals().data();
  for (size_t i = 0; i < size; ++i) {
    const int64_t total = total_of_part[part_of[i]] + states[i].score;
    totals[i] = total;
    best = std::max(best, total);
  }
  if (score != nullptr) {
    if (!(*score)(rows_, totals_)) return false;
    best = *std::max_element(totals_.begin(), totals_.end());
  }
  TakeTies(size, best, [totals](size_t i) BERTH_LOOPS { return totals[i]; });
  return true;
}

}  // namespace berth::scheduler
