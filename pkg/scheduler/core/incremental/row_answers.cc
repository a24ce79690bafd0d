#include "pkg/scheduler/core/incremental/row_answers.h"

#include <algorithm>

#include "pkg/util/contract.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {
namespace {

// A listing of at least one in this many nodes counts as a large part of the rows.
constexpr size_t kNodesForOneListed = 4;

// If columns are seldom used again, they are kept at one first listing in this many.
constexpr uint32_t kListedForOneTaken = 32;
// The number of columns taken at which older experience begins to count less.
constexpr uint32_t kTakenRemembered = 128;

// Returns whether most neighbours in the list lie close together in the columns, as where nodes came in the order of
// their names. Judges by some of them.
bool LieTogether(const std::vector<Row>& rows) {
  constexpr size_t kLookedAt = 64;
  const size_t step = rows.size() / kLookedAt + 1;
  size_t looked = 0, close = 0;
  for (size_t i = 1; i < rows.size(); i += step, ++looked) {
    close += std::max(rows[i], rows[i - 1]) - std::min(rows[i], rows[i - 1]) <= 2 ? 1 : 0;
  }
  return 8 * close >= 7 * looked;
}

// Adds raw * weight to the scores, whose sums fit into an int32 (RuleSet::scores_fit). So the lower halves of the
// factors are enough, for which there are vector instructions.
void AddWeighted(std::span<const int64_t> raw, int64_t weight, std::span<int32_t> scores) {
  util::RunLoops(
      [of = raw.data(), to = scores.data(), size = raw.size(), factor = static_cast<uint32_t>(weight)]() BERTH_LOOPS {
        for (size_t k = 0; k < size; ++k) {
          to[k] = static_cast<int32_t>(static_cast<uint32_t>(to[k]) + static_cast<uint32_t>(of[k]) * factor);
        }
      });
}

}  // namespace

RowAnswers::Scratch& RowAnswers::scratch() {
  thread_local Scratch scratch;
  return scratch;
}

RowAnswers::RowAnswers(Cache* cache, const RuleSet& rules, FirstColumns* first_columns, api::PodPtr pod)
    : cache_(cache), first_columns_(*first_columns), pod_(std::move(pod)) {
  const PodContext ctx{*pod_, *cache->Info(*pod_), *cache};
  checks_ = Prepare(rules.node_pods_predicates, ctx);
  scores_ = Prepare(rules.node_pods_priorities, ctx);
  // If Map has an error, it is about the pod and the same for every row, so calling it for one row is enough.
  const std::vector<Row>& all = cache->in_order();
  if (all.empty()) return;
  int64_t score;
  for (WeightedScoring& w : scores_) usable_ = usable_ && w.scoring->Map({all.data(), 1}, {&score, 1}).ok();
}

// Calls each rule for all rows that are left. Returns false when a rule had an error.
bool RowAnswers::CallRules(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  bool good = true;
  for (auto& check : checks_) good = TryKeepFitting(check.get(), rows) && good;
  scores->assign(rows->size(), 0);
  std::vector<int64_t>& raw = scratch().raw;
  raw.resize(rows->size());
  for (WeightedScoring& w : scores_) {
    good = w.scoring->Map(*rows, raw).ok() && good;
    AddWeighted(raw, w.weight, *scores);
  }
  return good;
}

// Computes the answers for these rows and writes them to the column. Changes `*rows`.
void RowAnswers::Evaluate(std::vector<Row>* rows) {
  for (Row row : *rows) column_.SetDoesNotFit(row);
  std::erase_if(*rows, [&](Row row) { return (cache_->columns().flags[row] & kRowListed) == 0; });
  std::vector<int32_t>& scores = scratch().scores;
  usable_ = CallRules(rows, &scores) && usable_;
  column_.SetAll(*rows, scores);
}

// Computes the answers for all listed rows, one row after another, so that rules read columns from end to end. Rows in
// the order of names lie far apart.
void RowAnswers::EvaluateAll(ScoreColumn* column) {
  std::vector<Row>& rows = scratch().rows;
  rows.clear();
  cache_->listed().ForEach([&](Row row) { rows.push_back(row); });
  column->Assign(cache_->row_count());
  std::vector<int32_t>& scores = scratch().scores;
  usable_ = CallRules(&rows, &scores) && usable_;
  column->SetAll(rows, scores);
}

// Brings the column up to date, or creates it.
void RowAnswers::Refresh() {
  std::vector<Row>& rows = scratch().rows;
  const bool known = kept_ && column_.size() >= cache_->row_count() && cache_->RowsChangedSince(seen_, &rows);
  seen_ = cache_->generation();
  kept_ = true;
  if (!known) {
    EvaluateAll(&column_);
  } else if (!rows.empty()) {
    Evaluate(&rows);
  }
}

// Has no branch on the answers: whether a row fits is hard to predict.
void RowAnswers::TakeFromColumn(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  scores->resize(rows->size());
  Row* const to = rows->data();
  int32_t* const score = scores->data();
  const size_t kept = column_.Visit([&, size = rows->size()](const auto* column) {
    size_t fitting = 0;
    for (size_t k = 0; k < size; ++k) {
      const Row row = to[k];
      const auto value = column[row];
      to[fitting] = row;
      score[fitting] = value;
      fitting += value != ScoreColumn::kDoesNotFit<decltype(value)> ? 1 : 0;
    }
    return fitting;
  });
  rows->resize(kept);
  scores->resize(kept);
}

void RowAnswers::KeepFitting(std::vector<Row>* rows, std::vector<int32_t>* scores) {
  BERTH_REQUIRES(std::ranges::all_of(*rows, [&](Row row) { return cache_->listed().Has(row); }));
  if (!kept_) {
    usable_ = CallRules(rows, scores) && usable_;
    return;
  }
  Refresh();
  TakeFromColumn(rows, scores);
}

// Returns whether columns that are kept for the time being are often used again. If they are not, a few are kept all
// the same, to notice when that changes.
bool RowAnswers::FirstColumnsPay() {
  FirstColumns& f = first_columns_;
  if (f.taken >= kTakenRemembered) {
    f.taken /= 2;
    f.used /= 2;
  }
  return f.taken < f.holders.size() || f.often_used() || f.listed++ % kListedForOneTaken == 0;
}

// Takes the next place in the ring, and the column of the object that had it.
void RowAnswers::EnterRing() {
  ++first_columns_.taken;
  place_ = first_columns_.place++ % first_columns_.holders.size();
  RowAnswers*& holder = first_columns_.holders[place_];
  if (holder != nullptr) {
    column_.Swap(holder->column_);
    holder->kept_ = false;
    holder->place_ = kNoPlace;
  }
  holder = this;
}

// Gives up the place in the ring, if there is one, and keeps the column.
void RowAnswers::LeaveRing() {
  if (place_ != kNoPlace) first_columns_.holders[place_] = nullptr;
  place_ = kNoPlace;
}

// Computes the answers for the first listing of these rows, which are a large part of all. Returns null if they are in
// scratch().listed. If the rows are at least half of all, the answers of all others, which are fewer, may be computed
// as well, and kept for the time being.
const ScoreColumn* RowAnswers::ListFirst(const std::vector<Row>& rows) {
  Scratch& s = scratch();
  const bool most = 2 * rows.size() >= cache_->in_order().size();
  if (most && FirstColumnsPay()) {
    EnterRing();
    Refresh();
    return &column_;
  }
  if (!most || LieTogether(rows)) {
    s.listed = rows;
    KeepFitting(&s.listed, &s.listed_scores);
    return nullptr;
  }
  EvaluateAll(&s.once);
  return &s.once;
}

// Returns the column with the answers, which is up to date, or null if the rows that fit are in scratch().listed.
const ScoreColumn* RowAnswers::BeginListing(const std::vector<Row>& rows) {
  const bool many = rows.size() >= cache_->node_count() / kNodesForOneListed;
  if (many && listings_++ > 0) {
    if (place_ != kNoPlace) ++first_columns_.used;
    LeaveRing();
    Refresh();
  } else if (kept_ && (many || cache_->generation() - seen_ <= rows.size())) {
    Refresh();
  } else if (many) {
    return ListFirst(rows);
  } else {
    // To bring kept answers up to date would cost more than to find those of the few rows.
    scratch().listed = rows;
    usable_ = CallRules(&scratch().listed, &scratch().listed_scores) && usable_;
    return nullptr;
  }
  return &column_;
}

}  // namespace berth::scheduler
