// Filtering by the reference scheduler: finds the nodes that a pod fits, and the reasons why it does not fit the
// others.
//
// Rows without nominated pods are filtered check by check: each check looks at all rows that are left, which lets it
// work on whole columns. The first check that fails decides about a row. Reasons are not built here: a row is entered
// with the check and a number that stands for its reasons, and Explain (explain_failures.cc) builds each list of
// reasons once for all rows with the same number. Where all checks are evaluated, each row is entered with its
// combination of failed checks instead.
//
// Rows with nominated pods have to fit with and without these pods (CheckRowWithNominated). That takes a simulation for
// each row, which is avoided where adding the pods' amounts gives the same result (AmountsDecide).
#include <algorithm>
#include <utility>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/core/filtering.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

bool Filtering::FindNominated(const api::Pod& pod) {
  nominated_rows_.Refresh();
  nominated_rows_.For(pod, &beside_);
  return any_nominated();
}

bool Filtering::HasNominated(const api::Pod& pod, Symbol node) const {
  const auto& pods = nominated_->For(node);
  return std::any_of(pods.begin(), pods.end(), [&](const api::PodPtr& p) {
    return p->Priority() >= pod.Priority() && p->meta.uid != pod.meta.uid;
  });
}

Verdict Filtering::CheckRow(Checks& checks, Row row, bool check_all, Why* why) const {
  Verdict verdict = Verdict::kFits;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    switch (checks.list[i]->Check(row)) {
      case Verdict::kFits:
        break;
      case Verdict::kError:
        if (why != nullptr) why->error = ErrorOfCheck(checks, i, row);
        return Verdict::kError;
      case Verdict::kFails:
        if (why != nullptr) {
          if (verdict == Verdict::kFits) why->check = i;
          const size_t before = why->reasons.size();
          AppendReasons(checks, i, row, &why->reasons);
          if (check_all) {
            why->all.emplace_back(i, std::any_of(why->reasons.begin() + static_cast<ptrdiff_t>(before),
                                                 why->reasons.end(), [](const auto& r) { return r.unresolvable; }));
          }
        }
        if (!check_all) return Verdict::kFails;
        verdict = Verdict::kFails;
    }
  }
  return verdict;
}

bool Filtering::AmountsDecide(const Checks& checks, size_t i) const {
  FitCheck& check = *checks.list[i];
  if (check.FitsAlways()) return true;
  if (check.MayError()) return false;
  if (IgnoresPodsWithoutTerms(check)) return true;
  const ConfiguredPredicate& rule = *checks.rules[i];
  if (rule.parts.empty() && rule.traits.cluster == ClusterPart::kNode) return true;
  return ReasonBits(check) > 0 && ReadsOnlyAmounts(check);
}

bool Filtering::DropUnfit(const api::PodPtr& pod, RowSet* rows) {
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = PrepareActive(ctx);
  bool amounts_decide = true;
  for (size_t i = 0; i < checks.list.size(); ++i) amounts_decide = amounts_decide && AmountsDecide(checks, i);
  std::vector<Row> by_amounts;
  std::vector<AddedAmounts> besides;
  for (const NominatedRows::Found& n : beside_) {
    if (!rows->Has(n.row)) continue;
    if (amounts_decide && n.only_amounts) {
      by_amounts.push_back(n.row);
      besides.push_back(n.beside);
      continue;
    }
    switch (CheckRowWithNominated(*pod, checks, n.row, false, nullptr)) {
      case Verdict::kFits:
        break;
      case Verdict::kFails:
        rows->Erase(n.row);
        break;
      case Verdict::kError:
        return false;
    }
  }
  std::vector<uint32_t> numbers(by_amounts.size());
  for (size_t i = 0; i < checks.list.size() && !by_amounts.empty(); ++i) {
    FitCheck& check = *checks.list[i];
    if (check.FitsAlways() || !ReadsOnlyAmounts(check) || ReasonBits(check) == 0) continue;
    NumberReasons(check, by_amounts, besides.data(), numbers);
    for (size_t k = 0; k < numbers.size(); ++k) {
      if (numbers[k] != 0) rows->Erase(by_amounts[k]);
    }
  }
  return true;
}

void Filtering::AddNominated(const api::Pod& pod, Row row, Cache::Simulation* simulation) const {
  for (const api::PodPtr& p : nominated_->For(cache_->row(row).name)) {
    if (p->Priority() >= pod.Priority() && p->meta.uid != pod.meta.uid) simulation->AddNominated(p);
  }
}

// Evaluates the row twice, with the nominated pods whose priority is at least that of the pod, and without them. The
// pod must fit both times: it has to leave room for a nominated pod, and it must not depend on one, which may never
// arrive.
Verdict Filtering::CheckRowWithNominated(const api::Pod& pod, Checks& checks, Row row, bool check_all, Why* why) const {
  if (nominated_ != nullptr && !nominated_->empty() && HasNominated(pod, cache_->row(row).name)) {
    Cache::Simulation simulation(cache_, row);
    AddNominated(pod, row, &simulation);
    if (Verdict v = CheckRow(checks, row, check_all, why); v != Verdict::kFits) return v;
  }
  return CheckRow(checks, row, check_all, why);
}

namespace {

void ListRows(const RowSet& set, std::vector<Row>* rows) {
  rows->resize(set.Size());
  size_t i = 0;
  set.ForEach([&](Row row) { (*rows)[i++] = row; });
}

// Enters the rows whose reasons have a number, and erases them from the candidates. No branch depends on the numbers,
// which are hard to predict.
void EnterNumbered(uint32_t check, const std::vector<Row>& rows, const std::vector<uint32_t>& numbers,
                   RowSet* candidates, std::vector<Filtered::Failed>* out) {
  size_t failed = out->size();
  out->resize(failed + rows.size());
  Filtered::Failed* const to = out->data();
  uint64_t* const words = candidates->words().data();
  for (size_t k = 0; k < rows.size(); ++k) {
    const uint64_t fails = numbers[k] != 0 ? 1 : 0;
    to[failed] = {rows[k], check, numbers[k], false};
    failed += fails;
    words[rows[k] / 64] &= ~(fails << (rows[k] % 64));
  }
  out->resize(failed);
}

}  // namespace

// Lets each check filter all rows that are left, and enters those that fail.
void Filtering::FilterColumns(Checks& checks, RowSet* candidates, Filtered* out) const {
  RowSet before, errors;
  std::vector<Row> rows;
  std::vector<uint32_t> numbers;
  bool listed = false;  // whether `rows` has the candidates
  for (size_t i = 0; i < checks.list.size() && !candidates->empty(); ++i) {
    FitCheck& check = *checks.list[i];
    const auto place = static_cast<uint32_t>(i);
    if (check.FitsAlways()) continue;
    // Numbering the reasons also filters the rows: number 0 means that the row fits.
    if (ReasonBits(check) > 1 && !check.MayError()) {
      if (!listed) ListRows(*candidates, &rows);
      numbers.assign(rows.size(), 0);
      NumberReasons(check, rows, nullptr, numbers);
      listed = std::all_of(numbers.begin(), numbers.end(), [](uint32_t n) { return n == 0; });
      if (!listed) EnterNumbered(place, rows, numbers, candidates, &out->failed);
      continue;
    }
    listed = false;
    before = *candidates;
    check.Filter(candidates, &errors);
    before.Subtract(errors);
    MoveErrors(checks, i, &errors, &out->errors);
    const uint32_t number = ReasonBits(check) == 1 ? 1 : 0;
    before.ForEachNotIn(*candidates, [&](Row r) { out->failed.emplace_back(r, place, number, false); });
  }
}

void Filtering::MoveErrors(const Checks& checks, size_t check, RowSet* rows, Errors* out) const {
  if (rows->empty()) return;
  const bool alike = ErrsAlike(*checks.list[check]);
  bool first = true;
  rows->ForEach([&](Row row) {
    if (alike && !std::exchange(first, false)) return;
    out->Add(ErrorOfCheck(checks, check, row), alike ? rows->Size() : 1);
  });
  rows->Clear();
}

// Enters the rows that fail a check, and erases them from the candidates.
void Filtering::EnterFailed(const std::vector<Row>& rows, FailedChecks* checks, RowSet* candidates, Filtered* out) {
  out->failed.resize(rows.size());
  Filtered::Failed* to = out->failed.data();
  uint64_t* const words = candidates->words().data();
  for (const Row row : rows) {
    const uint32_t combination = checks->Of(row);
    if (combination == 0) continue;
    *to++ = {row, out->combinations.at(combination).first, combination, false};
    words[row / 64] &= ~(uint64_t{1} << (row % 64));
  }
  out->failed.resize(static_cast<size_t>(to - out->failed.data()));
}

// Lets each check filter all rows, also those that have failed, and enters those that fail with all of their checks.
// The checks that may report errors come first: where there are errors, nothing else is asked for.
void Filtering::FilterColumnsByAll(Checks& checks, RowSet* candidates, Filtered* out) const {
  std::vector<RowSet> fitting(checks.list.size());  // by check, of those that may report errors
  RowSet errors;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    FitCheck& check = *checks.list[i];
    if (!check.MayError() || check.FitsAlways()) continue;
    fitting[i] = *candidates;
    check.Filter(&fitting[i], &errors);
    candidates->Subtract(errors);
    MoveErrors(checks, i, &errors, &out->errors);
  }
  if (!out->errors.empty()) return candidates->Clear();
  FailedChecks failed(cache_->row_count(), &out->combinations);
  std::vector<Row> rows;
  ListRows(*candidates, &rows);
  std::vector<uint32_t> numbers(rows.size());
  for (size_t i = 0; i < checks.list.size(); ++i) {
    FitCheck& check = *checks.list[i];
    const auto place = static_cast<uint32_t>(i);
    if (check.FitsAlways()) continue;
    if (ReasonBits(check) > 1 && !check.MayError()) {
      std::fill(numbers.begin(), numbers.end(), 0);
      NumberReasons(check, rows, nullptr, numbers);
      failed.Add(place, rows, numbers);
      continue;
    }
    if (!check.MayError()) {
      fitting[i] = *candidates;
      check.Filter(&fitting[i], &errors);
      BERTH_REQUIRES(errors.empty());
    }
    failed.Add(place, ReasonBits(check) == 1, *candidates, fitting[i]);
  }
  EnterFailed(rows, &failed, candidates, out);
}

// Evaluates one row and enters the result.
void Filtering::FilterRow(const api::Pod& pod, Checks& checks, Row row, RowSet* candidates, Filtered* out) const {
  Why why;
  switch (CheckRowWithNominated(pod, checks, row, config_->always_check_all_predicates, &why)) {
    case Verdict::kFits:
      candidates->Insert(row);
      break;
    case Verdict::kError:
      out->errors.Add(why.error);
      break;
    case Verdict::kFails:
      out->explained.emplace_back(row, std::move(why));
      break;
  }
}

// Evaluates the rows with nominated pods. Rows for which adding amounts is enough are filtered together, check by
// check; the others are evaluated one by one.
void Filtering::FilterNominated(const api::Pod& pod, Checks& checks, RowSet* candidates, Filtered* out) const {
  std::vector<NominatedRows::Found> rows = beside_;
  std::vector<Row> one_by_one, left;
  std::vector<AddedAmounts> besides;
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < checks.list.size() && !rows.empty(); ++i) {
    FitCheck& check = *checks.list[i];
    if (check.FitsAlways()) continue;
    const bool amounts_decide = AmountsDecide(checks, i);
    std::erase_if(rows, [&](const NominatedRows::Found& n) {
      if (amounts_decide && n.only_amounts) return false;
      one_by_one.push_back(n.row);
      return true;
    });
    left.clear();
    besides.clear();
    for (const NominatedRows::Found& n : rows) {
      left.push_back(n.row);
      besides.push_back(n.beside);
    }
    numbers.assign(left.size(), 0);
    if (ReasonBits(check) > 0) {
      NumberReasons(check, left, ReadsOnlyAmounts(check) ? besides.data() : nullptr, numbers);
    } else {
      for (size_t k = 0; k < left.size(); ++k) numbers[k] = check.Check(left[k]) == Verdict::kFits ? 0 : 1;
    }
    size_t kept = 0;
    for (size_t k = 0; k < left.size(); ++k) {
      if (numbers[k] == 0) {
        rows[kept++] = rows[k];
      } else {
        out->failed.push_back({left[k], static_cast<uint32_t>(i), ReasonBits(check) > 0 ? numbers[k] : 0, true});
      }
    }
    rows.resize(kept);
  }
  for (const NominatedRows::Found& n : rows) candidates->Insert(n.row);
  for (Row row : one_by_one) FilterRow(pod, checks, row, candidates, out);
}

Filtered Filtering::All(const api::PodPtr& pod, Checks& checks) {
  Filtered out;
  RowSet candidates = cache_->listed();
  candidates.Resize(cache_->row_count());
  if (checks.names_nodes) {
    candidates.IntersectWith(checks.only);
    // The nominated node was tried before all others (TryNominatedNode). If it failed, its reasons are reported even
    // though the rules name only other nodes.
    const Row row =
        config_->release->tries_nominated_node_first ? cache_->FindRow(pod->nominated_node_name) : Row{kNoRow};
    Why why;
    if (row != kNoRow && cache_->listed().Has(row) && !checks.only.Has(row) &&
        CheckRowWithNominated(*pod, checks, row, false, &why) == Verdict::kFails) {
      out.explained.emplace_back(row, std::move(why));
    }
  }
  nominated_rows_.For(*pod, &beside_);
  std::erase_if(beside_, [&](const NominatedRows::Found& n) { return !candidates.Has(n.row); });
  for (const NominatedRows::Found& n : beside_) candidates.Erase(n.row);
  out.failed.reserve(cache_->node_count());
  if (config_->always_check_all_predicates) {
    FilterColumnsByAll(checks, &candidates, &out);
    for (const NominatedRows::Found& n : beside_) FilterRow(*pod, checks, n.row, &candidates, &out);
  } else {
    FilterColumns(checks, &candidates, &out);
    if (!beside_.empty()) FilterNominated(*pod, checks, &candidates, &out);
  }
  candidates.ForEach([&](Row r) { out.feasible.push_back(r); });
  return out;
}

// Filters nodes one by one in the order of the sampler until enough of them fit. Rows are in that order in the result.
Filtered Filtering::Sample(const api::PodPtr& pod, Checks& checks) const {
  Filtered out;
  RowSet fits;
  fits.Resize(cache_->row_count());
  out.evaluated = config_->sampler->Walk(
      checks.names_nodes ? &checks.only : nullptr, config_->enough_nodes,
      [&](Row row) {
        fits.Erase(row);
        FilterRow(*pod, checks, row, &fits, &out);
        return fits.Has(row);
      },
      [&](Row row) { out.feasible.push_back(row); });
  return out;
}

}  // namespace berth::scheduler
