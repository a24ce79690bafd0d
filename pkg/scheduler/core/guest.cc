// The parts of GenericScheduler that serve a program that embeds it: what a Guest adds to decisions, and looks at
// single pods without deciding.
#include "pkg/scheduler/core/guest.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "pkg/scheduler/core/parts.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// Appends the rows of the set in ascending order. Mostly all or none of 64 neighbours are in it.
void AppendRows(const RowSet& set, std::vector<Row>* out) {
  size_t end = out->size();
  out->resize(end + set.Size());
  Row first = 0;
  for (uint64_t word : set.words()) {
    if (word == ~uint64_t{0}) {
      for (Row i = 0; i < 64; ++i) (*out)[end + i] = first + i;
      end += 64;
    } else {
      for (; word != 0; word &= word - 1) (*out)[end++] = first + static_cast<Row>(std::countr_zero(word));
    }
    first += 64;
  }
}

}  // namespace

bool GenericScheduler::GuestFilters() const {
  return guest_ != nullptr && guest_->Filters();
}
bool GenericScheduler::GuestChooses() const {
  return guest_ != nullptr && guest_->Chooses();
}

// Erases the rows that the guest rejects. Returns false and sets d->error when one of its rules failed.
bool GenericScheduler::AskGuest(const api::PodPtr& pod, std::vector<Row>* rows, std::vector<Guest::Rejected>* rejected,
                                Decision* d) const {
  if (!GuestFilters() || rows->empty()) return true;
  RowSet set;
  set.Resize(cache_->row_count());
  for (Row r : *rows) set.Insert(r);
  if (!guest_->Filter(pod, &set, rejected)) {
    d->error = guest_->Error();
    return false;
  }
  std::erase_if(*rows, [&](Row r) { return !set.Has(r); });
  return true;
}

// Lets the guest choose, and writes totals of which that of the chosen row alone is the best.
bool GenericScheduler::LetGuestChoose(const api::PodPtr& pod, std::span<const Row> rows, std::span<int64_t> totals,
                                      size_t* ties) const {
  const std::optional<size_t> chosen = guest_->Choose(pod, rows, totals, last_node_index_, ties);
  if (!chosen) return false;
  for (int64_t& t : totals) t = std::min(t, std::numeric_limits<int64_t>::max() - 1);
  totals[*chosen] = std::numeric_limits<int64_t>::max();
  return true;
}

void GenericScheduler::EvaluateByReference(const api::PodPtr& pod, Evaluation* out) {
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = parts_->filtering.PrepareActive(ctx);
  Decision d;
  d.nodes = cache_->node_count();
  DecisionTrace unused;
  if (parts_->filtering.RejectPod(checks, &d, &unused)) {
    if (d.outcome != Decision::Outcome::kUnfit) out->error = d.error;
    return;
  }
  Filtered filtered = parts_->filtering.All(pod, checks);
  if (!filtered.errors.empty()) {
    out->error = parts_->filtering.ErrorOf(filtered.errors).text;
    return;
  }
  if (!AskGuest(pod, &filtered.feasible, nullptr, &d)) {
    out->error = d.error;
    return;
  }
  for (Row r : filtered.feasible) out->fits.Insert(r);
  out->rows = std::move(filtered.feasible);
  ScoreRows(pod, out);
}

// Fills in the totals of out->rows.
void GenericScheduler::ScoreRows(const api::PodPtr& pod, Evaluation* out) {
  if (out->rows.size() < 2) {
    out->rows.clear();
    return;
  }
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  absl::Status s = AddScores(pod, ctx, out->rows, nullptr, &out->totals, &out->scores);
  if (!s.ok()) out->error = util::Message(s);
}

// The incremental scheduler knows which rows fit. It is stopped before it scores them: its totals are not those of the
// release, because it leaves out what all rows share.
void GenericScheduler::Evaluate(const api::PodPtr& pod, Evaluation* out, bool totals) {
  out->fits.Clear();
  out->fits.Resize(cache_->row_count());
  out->rows.clear();
  out->totals.clear();
  out->error.clear();
  if (cache_->node_count() == 0) return;
  if (guest_ != nullptr) guest_->Begin();
  const bool nominated = parts_->filtering.FindNominated(*pod);
  bool filtered = false;
  auto filter = [&](RowSet* rows) {
    if (nominated && !parts_->filtering.DropUnfit(pod, rows)) return false;
    if (GuestFilters() && !guest_->Filter(pod, rows, nullptr)) return false;
    filtered = true;
    out->fits = *rows;
    out->fits.Resize(cache_->row_count());
    return false;
  };
  const IncrementalScheduler::Filter filter_ref = filter;
  IncrementalScheduler::Hooks hooks;
  hooks.filter = &filter_ref;
  uint64_t unused_turn = 0;
  parts_->incremental.Place(pod, hooks, &unused_turn);
  if (guest_ != nullptr && !guest_->Error().empty()) {
    out->error = guest_->Error();
    return;
  }
  if (!filtered) {
    EvaluateByReference(pod, out);
    return;
  }
  if (!totals) return;
  AppendRows(out->fits, &out->rows);
  ScoreRows(pod, out);
}

absl::Status GenericScheduler::ScoreByRule(const api::PodPtr& pod, const std::vector<Row>& rows,
                                           absl::FunctionRef<void(const RuleScores&)> f) const {
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  std::vector<int64_t> scores(rows.size());
  for (const ConfiguredPriority& p : config_.priorities) {
    std::unique_ptr<Scoring> scoring = p.function(ctx);
    if (rows.empty() || scoring->Skips(rows)) {
      std::fill(scores.begin(), scores.end(), 0);
    } else {
      BERTH_RETURN_IF_ERROR(scoring->Map(rows, std::span<int64_t>(scores)));
      BERTH_RETURN_IF_ERROR(scoring->Reduce(rows, std::span<int64_t>(scores)));
    }
    f({&p.name, p.weight, &scores});
  }
  return absl::OkStatus();
}

}  // namespace berth::scheduler
