// Fit predicates that can say more about many rows at once than FitCheck asks for. Everything here makes decisions
// faster and changes none of them: a predicate that is no ColumnCheck is asked row by row.
//
// Thread-safety: none, as in algorithm.h.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

class ColumnCheck : public FitCheck {
 public:
  ColumnCheck* AsColumns() final { return this; }
  // Returns how many bits the numbers that NumberReasons writes can have (at most 32), or 0 if this predicate does not
  // number its reasons.
  virtual int ReasonBits() const { return 0; }
  // Evaluates many rows at once. Writes 0 for each row that fits and, for each other row, a number that identifies its
  // reasons: rows with equal numbers get equal reasons from Explain. `beside` is null, or ReadsOnlyAmounts() is true
  // and it has one element for each row. REQUIRES: ReasonBits() is not 0.
  virtual void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers);
  // Returns true if the only thing that the predicate reads about the pods on a node is their total amounts, so that
  // AddedAmounts can stand for pods that are not there.
  virtual bool ReadsOnlyAmounts() const { return false; }
  // Returns true if Error returns the same for all rows.
  virtual bool ErrsAlike() const { return false; }
  // Returns true if no answer of the predicate changes when a pod without affinity terms is added to a node.
  virtual bool IgnoresPodsWithoutTerms() const { return false; }
  // If the predicate reads nothing of a node but its labels, and MayError() is false, appends the columns of those
  // labels and returns true.
  virtual bool NodeLabels(std::vector<const LabelColumn*>* /*columns*/) { return false; }
  // If there is a cheaper way than to look at every row, writes a superset of the rows that fit, each row once and in
  // any order, and returns true. They may be rows without a node.
  virtual bool Candidates(std::vector<Row>* /*rows*/) { return false; }
  // Erases the rows that do not fit and keeps the order of the others. REQUIRES: MayError() is false.
  virtual void KeepFitting(std::vector<Row>* rows);
};

// Implements NumberReasons for a predicate with one reason and no errors, of which Filter looks at less than Check does
// for each of many rows. REQUIRES: the rows are listed, and none occurs twice.
void NumberByFilter(FitCheck* check, const Cache& cache, std::span<const Row> rows, std::span<uint32_t> numbers);
// Implements Filter for a predicate that reports an error for every row.
void ErrOnAll(RowSet* candidates, RowSet* errors);
// Candidates by Filter of a check that filters all rows with a few operations on bitmaps. Returns false if they are
// more than FewRows. REQUIRES: check->MayError() is false.
bool FilteredCandidates(FitCheck* check, const Cache& cache, std::vector<Row>* rows);
// Returns up to how many rows are so few that to look at each of them costs far less than a pass over all rows.
size_t FewRows(const Cache& cache);

// Return what the functions of ColumnCheck return, or what they return by default if the check is none.
int ReasonBits(FitCheck& check);
bool ReadsOnlyAmounts(FitCheck& check);
bool IgnoresPodsWithoutTerms(FitCheck& check);
bool ErrsAlike(FitCheck& check);
bool ReadsOnlyLabels(FitCheck& check, std::vector<const LabelColumn*>* columns);
bool Candidates(FitCheck& check, std::vector<Row>* rows);
// REQUIRES: ReasonBits(check) is not 0.
void NumberReasons(FitCheck& check, std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers);
// REQUIRES: check.MayError() is false.
void KeepFitting(FitCheck& check, std::vector<Row>* rows);

}  // namespace berth::scheduler
