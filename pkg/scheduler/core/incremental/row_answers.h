// What rules about the pods on each node say of a pod, row by row.
//
// For all pods that are alike in what these rules read (RuleSet::node_pods_parts: requests, ports, ...), whatever their
// tolerations, node affinity and topology domains. Equivalence classes that differ only in the latter share one
// RowAnswers, so that amounts are compared and scored once for all of them.
//
// The answers are kept in a column when a second listing of most of the nodes asks for them: the first one may stay the
// only one, and writing a column for it would be in vain. Invariant of a kept column: after Refresh, it tells the truth
// about every listed row. Used on the cache's thread.
#pragma once
#include <cstdint>
#include <vector>

#include "pkg/scheduler/core/incremental/rule_set.h"

namespace berth::scheduler {

class RowAnswers {
 public:
  RowAnswers(Cache* cache, const RuleSet& rules, api::PodPtr pod);

  // Erases the rows that do not fit and writes the weighted sums of the scores of the others. REQUIRES: the rows are
  // listed; among them some may stand twice.
  void KeepFitting(std::vector<Row>* rows, std::vector<int32_t>* scores);
  // The same for a listing of many rows, after which the answers of all rows may be kept.
  void ListFitting(std::vector<Row>* rows, std::vector<int32_t>* scores);

  // Returns whether there was a listing before.
  bool listed() const { return listings_ > 0; }
  // Returns false when a rule fails for this pod, which only the reference scheduler words.
  bool usable() const { return usable_; }
  size_t bytes() const { return sizeof(*this) + column_.capacity() * sizeof(int32_t); }

 private:
  // Memory that all of them use, one after another.
  struct Scratch {
    std::vector<Row> rows;
    std::vector<int32_t> scores;
    std::vector<int64_t> raw;
  };
  static Scratch& scratch();
  bool CallRules(std::vector<Row>* rows, std::vector<int32_t>* scores);
  void Evaluate(std::vector<Row>* rows);
  void Refresh();
  void TakeFromColumn(std::vector<Row>* rows, std::vector<int32_t>* scores);

  Cache* cache_;
  api::PodPtr pod_;  // stands for all of its kind; the rules refer to it
  std::vector<std::unique_ptr<FitCheck>> checks_;
  std::vector<WeightedScoring> scores_;
  bool usable_ = true, kept_ = false;
  uint32_t listings_ = 0;  // up to the one that made the column

  std::vector<int32_t> column_;  // by row: the sum of the scores, or kDoesNotFit
  uint64_t seen_ = 0;
};

}  // namespace berth::scheduler
