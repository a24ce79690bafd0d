#include "pkg/scheduler/algorithm/column_check.h"

#include <algorithm>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Few rows are at most one in this many, and this many in a small cluster.
constexpr size_t kRowsOfFew = 8, kLeastFew = 8;

void KeepRowByRow(FitCheck& check, std::vector<Row>* rows) {
  std::erase_if(*rows, [&](Row row) { return check.Check(row) != Verdict::kFits; });
}

}  // namespace

void ColumnCheck::KeepFitting(std::vector<Row>* rows) {
  KeepRowByRow(*this, rows);
}

void ColumnCheck::NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) {
  for (size_t i = 0; i < rows.size(); ++i) numbers[i] = Check(rows[i]) == Verdict::kFits ? 0 : 1;
}

void NumberByFilter(FitCheck* check, const Cache& cache, std::span<const Row> rows, std::span<uint32_t> numbers) {
  RowSet fitting, errors;
  if (rows.size() == cache.node_count()) {  // no row occurs twice
    fitting = cache.listed();
  } else {
    for (const Row row : rows) fitting.Insert(row);
  }
  fitting.Resize(cache.row_count());
  check->Filter(&fitting, &errors);
  for (size_t i = 0; i < rows.size(); ++i) numbers[i] = fitting.Has(rows[i]) ? 0 : 1;
}

void ErrOnAll(RowSet* candidates, RowSet* errors) {
  candidates->ForEach([&](Row row) { errors->Insert(row); });
  candidates->Clear();
}

size_t FewRows(const Cache& cache) {
  return std::max(kLeastFew, cache.node_count() / kRowsOfFew);
}

bool FilteredCandidates(FitCheck* check, const Cache& cache, std::vector<Row>* rows) {
  BERTH_REQUIRES(!check->MayError());
  thread_local RowSet candidates;
  RowSet errors;
  candidates = cache.listed();
  check->Filter(&candidates, &errors);
  if (candidates.Size() > FewRows(cache)) return false;
  rows->clear();
  candidates.ForEach([&](Row row) { rows->push_back(row); });
  return true;
}

int ReasonBits(FitCheck& check) {
  const ColumnCheck* columns = check.AsColumns();
  return columns == nullptr ? 0 : columns->ReasonBits();
}

bool ReadsOnlyAmounts(FitCheck& check) {
  const ColumnCheck* columns = check.AsColumns();
  return columns != nullptr && columns->ReadsOnlyAmounts();
}

bool IgnoresPodsWithoutTerms(FitCheck& check) {
  const ColumnCheck* columns = check.AsColumns();
  return columns != nullptr && columns->IgnoresPodsWithoutTerms();
}

bool ErrsAlike(FitCheck& check) {
  const ColumnCheck* columns = check.AsColumns();
  return columns != nullptr && columns->ErrsAlike();
}

bool ReadsOnlyLabels(FitCheck& check, std::vector<const LabelColumn*>* columns) {
  ColumnCheck* const as_columns = check.AsColumns();
  return as_columns != nullptr && as_columns->NodeLabels(columns);
}

bool Candidates(FitCheck& check, std::vector<Row>* rows) {
  ColumnCheck* const columns = check.AsColumns();
  return columns != nullptr && columns->Candidates(rows);
}

void NumberReasons(FitCheck& check, std::span<const Row> rows, const AddedAmounts* beside,
                   std::span<uint32_t> numbers) {
  BERTH_REQUIRES(berth::scheduler::ReasonBits(check) > 0);
  BERTH_REQUIRES(numbers.size() >= rows.size());
  BERTH_REQUIRES(beside == nullptr || berth::scheduler::ReadsOnlyAmounts(check));
  check.AsColumns()->NumberReasons(rows, beside, numbers);
}

void KeepFitting(FitCheck& check, std::vector<Row>* rows) {
  BERTH_REQUIRES(!check.MayError());
  if (ColumnCheck* columns = check.AsColumns(); columns != nullptr) return columns->KeepFitting(rows);
  KeepRowByRow(check, rows);
}

}  // namespace berth::scheduler
