#include "pkg/scheduler/algorithm/nodeaffinity/label_matcher.h"

#include <algorithm>
#include <array>

#include "pkg/scheduler/algorithm/keep_rows.h"
#include "pkg/scheduler/algorithm/nodeaffinity/named_nodes.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::nodeaffinity {

LabelMatcher::LabelMatcher(const Cache& cache, const api::Selector& selector) : nothing_(selector.MatchesNothing()) {
  for (const api::Requirement& r : selector.requirements()) {
    // No column has this version, so that Refresh fills the answers.
    requirements_.push_back({&r, &cache.Label(r.key), ~uint64_t{0}, r.Matches(api::Labels()), {}});
  }
  Refresh();
}

void LabelMatcher::Refresh() {
  for (One& one : requirements_) {
    if (one.version != one.column->version()) Fill(&one);
  }
}

class LabelMatcher::Answers {
 public:
  explicit Answers(const One& one)
      : column_(one.column), by_domain_(one.by_domain.data()), absent_(one.absent ? 1 : 0) {}
  uint8_t operator[](Row row) const {
    const uint32_t domain = column_->Domain(row);
    return domain == LabelColumn::kNoDomain ? absent_ : by_domain_[domain];
  }

 private:
  const LabelColumn* column_;
  const uint8_t* by_domain_;
  uint8_t absent_;
};

// The answers to one requirement after the other are read without a branch on them, for so few rows at a time that what
// has been found of them stays in the processor's nearest cache.
template <typename F>
void LabelMatcher::InBlocks(std::span<const Row> rows, F f) const {
  constexpr size_t kBlock = 1024;
  std::array<uint8_t, kBlock> match;
  for (size_t first = 0; first < rows.size(); first += kBlock) {
    const std::span<const Row> block = rows.subspan(first, std::min(kBlock, rows.size() - first));
    std::fill_n(match.begin(), block.size(), uint8_t{1});
    for (const One& one : requirements_) {
      const Answers answers(one);
      for (size_t i = 0; i < block.size(); ++i) match[i] &= answers[block[i]];
    }
    f(first, std::span<const uint8_t>(match.data(), block.size()));
  }
}

void LabelMatcher::KeepMatching(std::vector<Row>* rows) const {
  if (nothing_) return rows->clear();
  for (const One& one : requirements_) {
    KeepRows(rows, [answers = Answers(one)](size_t, Row row) { return answers[row]; });
  }
}

void LabelMatcher::Mark(std::span<const Row> rows, std::span<uint8_t> matches) const {
  if (nothing_) return;
  if (requirements_.size() == 1) {
    const Answers answers(requirements_[0]);
    for (size_t i = 0; i < rows.size(); ++i) matches[i] |= answers[rows[i]];
    return;
  }
  InBlocks(rows, [&](size_t first, std::span<const uint8_t> match) {
    for (size_t i = 0; i < match.size(); ++i) matches[first + i] |= match[i];
  });
}

void LabelMatcher::AddWeight(std::span<const Row> rows, int64_t weight, std::span<int64_t> scores) const {
  if (nothing_) return;
  if (requirements_.size() != 1) {
    return InBlocks(rows, [&](size_t first, std::span<const uint8_t> match) {
      for (size_t i = 0; i < match.size(); ++i) scores[first + i] += weight * match[i];
    });
  }
  const Answers answers(requirements_[0]);
  for (size_t i = 0; i < rows.size(); ++i) scores[i] += weight * answers[rows[i]];
}

bool LabelMatcher::Candidates(std::vector<Row>* rows) const {
  if (nothing_) return true;
  for (const One& one : requirements_) {
    const api::Operator op = one.requirement->op;
    // One requirement that names its values is enough: the rows that have one of them are a superset of the matching
    // rows.
    if (op != api::Operator::kIn && op != api::Operator::kEquals) continue;
    for (Symbol value : one.requirement->values) {
      const std::vector<Row>& with = one.column->RowsWith(value);
      rows->insert(rows->end(), with.begin(), with.end());
    }
    return true;
  }
  return false;
}

namespace {

// Writes what CandidatesOf writes, but a row may occur more than once.
bool ListCandidates(const std::vector<LabelMatcher>& matchers, std::vector<Row>* rows) {
  BERTH_REQUIRES(!matchers.empty());
  rows->clear();
  if (matchers[0].Candidates(rows)) return true;
  if (matchers.size() == 1) return false;
  return std::all_of(matchers.begin() + 1, matchers.end(), [&](const LabelMatcher& m) { return m.Candidates(rows); });
}

// Returns whether all rows that ListCandidates writes match.
bool CandidatesMatch(const std::vector<LabelMatcher>& matchers) {
  if (matchers.size() == 1) return matchers[0].CandidatesMatch();
  return matchers[0].MatchesAll() &&
         std::all_of(matchers.begin() + 1, matchers.end(), [](const LabelMatcher& m) { return m.CandidatesMatch(); });
}

}  // namespace

bool CandidatesOf(const std::vector<LabelMatcher>& matchers, std::vector<Row>* rows) {
  if (!ListCandidates(matchers, rows)) return false;
  std::sort(rows->begin(), rows->end());
  rows->erase(std::unique(rows->begin(), rows->end()), rows->end());
  return true;
}

void KeepMatching(const std::vector<LabelMatcher>& matchers, std::vector<Row>* rows) {
  matchers[0].KeepMatching(rows);
  if (matchers.size() == 1) return;
  if (matchers.size() == 2) return matchers[1].KeepMatching(rows);
  thread_local std::vector<uint8_t> matches;
  matches.assign(rows->size(), 0);
  for (size_t i = 1; i < matchers.size(); ++i) matchers[i].Mark(*rows, matches);
  KeepRows(rows, [of = matches.data()](size_t i, Row) { return of[i]; });
}

// A list is narrowed with fewer steps for each row than a set.
void KeepMatching(const std::vector<LabelMatcher>& matchers, uint32_t row_count, RowSet* rows) {
  thread_local std::vector<Row> list;
  if (ListCandidates(matchers, &list)) {
    NarrowToRows(list, row_count, rows);
    if (CandidatesMatch(matchers)) return;
  }
  list.clear();
  rows->ForEach([to = &list](Row row) { to->push_back(row); });
  KeepMatching(matchers, &list);
  rows->Clear();
  uint64_t* const words = rows->words().data();
  for (const Row row : list) words[row / 64] |= uint64_t{1} << (row % 64);
}

void LabelMatcher::Fill(One* one) {
  const LabelColumn& column = *one->column;
  const api::Requirement& r = *one->requirement;
  one->version = column.version();
  const bool one_of = r.op == api::Operator::kIn || r.op == api::Operator::kEquals;
  // Requirements that name values differ only in the domains of these values, so that the others need not be matched.
  if (one_of || r.op == api::Operator::kNotIn || r.op == api::Operator::kNotEquals) {
    one->by_domain.assign(column.domain_limit(), one_of ? 0 : 1);
    for (Symbol value : r.values) {
      if (const uint32_t d = column.DomainOf(value); d != LabelColumn::kNoDomain) one->by_domain[d] = one_of ? 1 : 0;
    }
    return;
  }
  one->by_domain.resize(column.domain_limit());
  for (uint32_t d = 0; d < column.domain_limit(); ++d) {
    one->by_domain[d] = r.MatchesValue(column.Value(d)) ? 1 : 0;
  }
}

}  // namespace berth::scheduler::nodeaffinity
