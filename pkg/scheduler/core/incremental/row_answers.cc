#include "pkg/scheduler/core/incremental/row_answers.h"

#include <algorithm>
#include <limits>

namespace berth::scheduler {
namespace {

// Lower than any sum of scores (RuleSet::scores_fit).
constexpr int32_t kDoesNotFit = std::numeric_limits<int32_t>::min();

// A listing of at least one in this many nodes counts as a large part of the rows.
constexpr size_t kNodesForOneListed = 4;

}  // namespace

RowAnswers::Scratch& RowAnswers::scratch() {
  thread_local Scratch scratch;
  return scratch;
}

RowAnswers::RowAnswers(Cache* cache, const RuleSet& rules, api::PodPtr pod) : cache_(cache), pod_(std::move(pod)) {
  const PodContext ctx{*pod_, *cache->Info(pod_->tmpl), *cache};
  checks_ = Prepare(rules.node_pods_predicates, ctx);
  scores_ = Prepare(rules.node_pods_priorities, ctx);
  // If Map has an error, it is about the pod and the same for every row, so calling it for one row is enough.
  const std::vector<Row>& all = cache->by_name_descending();
  if (all.empty()) return;
  int64_t score;
  for (WeightedScoring& w : scores_) usable_ = usable_ && w.scoring->Map({all.data(), 1}, {&score, 1}).ok();
}

// Calls each rule for all rows that are left. Returns false when a rule had an error.
bool RowAnswers::CallRules(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  bool good = true;
  for (auto& check : checks_) good = scheduler::KeepFitting(check.get(), rows) && good;
  scores->assign(rows->size(), 0);
  std::vector<int64_t>& raw = scratch().raw;
  raw.resize(rows->size());
  for (WeightedScoring& w : scores_) {
    good = w.scoring->Map(*rows, raw).ok() && good;
    for (size_t k = 0; k < raw.size(); ++k) (*scores)[k] += static_cast<int32_t>(raw[k] * w.weight);
  }
  return good;
}

// Computes the answers for these rows and writes them to the column. Changes `*rows`.
void RowAnswers::Evaluate(std::vector<Row>* rows) {
  for (Row row : *rows) column_[row] = kDoesNotFit;
  std::erase_if(*rows, [&](Row row) { return (cache_->columns().flags[row] & kRowListed) == 0; });
  std::vector<int32_t>& scores = scratch().scores;
  usable_ = CallRules(rows, &scores) && usable_;
  for (size_t k = 0; k < scores.size(); ++k) column_[(*rows)[k]] = scores[k];
}

// Brings the column up to date, or creates it.
void RowAnswers::Refresh() {
  std::vector<Row>& rows = scratch().rows;
  rows.clear();
  const bool known = kept_ && column_.size() >= cache_->row_count() &&
                     cache_->ChangesSince(seen_, [&](Row row, bool) { rows.push_back(row); });
  seen_ = cache_->generation();
  if (!known) {
    kept_ = true;
    rows = cache_->by_name_descending();
    column_.assign(cache_->row_count(), kDoesNotFit);
  }
  if (!rows.empty()) Evaluate(&rows);
}

// Has no branch on the answers: whether a row fits is hard to predict.
void RowAnswers::TakeFromColumn(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  scores->resize(rows->size());
  Row* const to = rows->data();
  int32_t* const score = scores->data();
  size_t kept = 0;
  for (size_t k = 0, size = rows->size(); k < size; ++k) {
    const Row row = to[k];
    to[kept] = row;
    score[kept] = column_[row];
    kept += score[kept] != kDoesNotFit ? 1 : 0;
  }
  rows->resize(kept);
  scores->resize(kept);
}

void RowAnswers::KeepFitting(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  if (!kept_) {
    usable_ = CallRules(rows, scores) && usable_;
    return;
  }
  Refresh();
  TakeFromColumn(rows, scores);
}

void RowAnswers::ListFitting(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  if (!kept_ && rows->size() >= cache_->node_count() / kNodesForOneListed && ++listings_ > 1) Refresh();
  KeepFitting(rows, scores);
}

}  // namespace berth::scheduler
