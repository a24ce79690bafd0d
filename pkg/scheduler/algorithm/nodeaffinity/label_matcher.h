// A label selector that is evaluated for many nodes. Each distinct value of a label is matched only once.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::nodeaffinity {

// Stores the answer of each requirement for each topology domain (distinct value) of its label. When nodes change, a
// domain may be reused for another value; Refresh detects that. `selector` and the cache must outlive the matcher.
class LabelMatcher {
 public:
  LabelMatcher(const Cache& cache, const api::Selector& selector);

  // Updates the answers. Call it before Matches if nodes may have changed.
  void Refresh();
  // Returns whether the labels of the row's node match the selector.
  bool Matches(Row row) const {
    if (nothing_) return false;
    for (const One& r : requirements_) {
      const uint32_t domain = r.column->Domain(row);
      if (!(domain == LabelColumn::kNoDomain ? r.absent : r.by_domain[domain])) return false;
    }
    return true;
  }

  // Erases the rows that do not match and keeps the order of the others.
  void KeepMatching(std::vector<Row>* rows) const;
  // Sets matches[i] to 1 for each rows[i] that matches, and leaves the others as they are.
  void Mark(std::span<const Row> rows, std::span<uint8_t> matches) const;
  // Adds the weight to the scores of the rows that match.
  void AddWeight(std::span<const Row> rows, int64_t weight, std::span<int64_t> scores) const;

  // Appends the columns of all labels that the selector reads.
  void AppendColumns(std::vector<const LabelColumn*>* columns) const {
    for (const One& r : requirements_) columns->push_back(r.column);
  }
  // If the selector requires a label to have one of some values, appends a superset of the matching rows and returns
  // true. Rows appear more than once if the selector repeats a value.
  bool Candidates(std::vector<Row>* rows) const;
  // Returns whether all rows that Candidates appends match.
  bool CandidatesMatch() const { return nothing_ || requirements_.size() == 1; }
  // Returns whether the selector restricts nothing.
  bool MatchesAll() const { return !nothing_ && requirements_.empty(); }

 private:
  // One requirement of the selector.
  struct One {
    const api::Requirement* requirement;
    const LabelColumn* column;
    uint64_t version;                // the version of the column from which by_domain was made
    bool absent;                     // the answer for a node without the label
    std::vector<uint8_t> by_domain;  // the answer for each domain of the column
  };
  static void Fill(One* one);
  class Answers;  // by row: 1 if it meets a requirement and 0 if not
  // Calls f(i, matches) for blocks of rows, of which the first is rows[i]: 1 for each row that matches and 0 for
  // others.
  template <typename F>
  void InBlocks(std::span<const Row> rows, F f) const;
  bool nothing_;  // the selector matches nothing
  std::vector<One> requirements_;
};

// Let a node match if it matches the first selector and, if there are others, at least one of these. If the selectors
// name label values by which the rows can be found, writes a superset of the matching rows, each row once, and returns
// true. The first selector must be a nodeSelector, which names each label once. REQUIRES: `matchers` is not empty.
bool CandidatesOf(const std::vector<LabelMatcher>& matchers, std::vector<Row>* rows);
// Erases the rows that do not match in the same sense. The order of those in a list stays as it is. All rows of a set
// are below `row_count`.
void KeepMatching(const std::vector<LabelMatcher>& matchers, std::vector<Row>* rows);
void KeepMatching(const std::vector<LabelMatcher>& matchers, uint32_t row_count, RowSet* rows);

}  // namespace berth::scheduler::nodeaffinity
