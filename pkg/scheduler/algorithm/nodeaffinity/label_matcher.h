// A selector over node labels that is evaluated for many rows: each distinct value of a label is matched once.
#pragma once
#include <cstdint>
#include <vector>

#include "pkg/api/labels.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::nodeaffinity {

// Keeps what each requirement says of each topology domain of its label. Domains may be given to other values when
// nodes change; Refresh notices. REQUIRES: `selector` and the cache outlive the matcher.
class LabelMatcher {
 public:
  LabelMatcher(const Cache& cache, const api::Selector& selector);

  // Brings the answers up to date with the labels. Call before Matches when nodes may have changed.
  void Refresh();
  bool Matches(Row row) const {
    if (nothing_) return false;
    for (const One& r : requirements_) {
      const uint32_t domain = r.column->Domain(row);
      if (!(domain == LabelColumn::kNoDomain ? r.absent : r.by_domain[domain])) return false;
    }
    return true;
  }

  void AppendColumns(std::vector<const LabelColumn*>* columns) const {
    for (const One& r : requirements_) columns->push_back(r.column);
  }
  // Appends all rows that may match, some of them twice when values repeat, and returns true when the selector asks for
  // one of some values of a label.
  bool Candidates(std::vector<Row>* rows) const;

 private:
  struct One {
    const api::Requirement* requirement;
    const LabelColumn* column;
    uint64_t version;  // of the column's domains; by_domain was made from it
    bool absent;       // the answer for a node without the label
    std::vector<uint8_t> by_domain;
  };
  static void Fill(One* one);
  bool nothing_;
  std::vector<One> requirements_;
};

// Writes the rows, each once, outside of which none matches the first selector and one of the others (or the first
// alone when there are no others), and returns true when the selectors name values by which the rows are found. The
// first selector is a node selector, which names each label once. REQUIRES: `matchers` is not empty.
bool CandidatesOf(const std::vector<LabelMatcher>& matchers, std::vector<Row>* rows);

}  // namespace berth::scheduler::nodeaffinity
