// Filtering by the reference scheduler: finds the nodes that a pod fits, and the reasons why it does not fit the
// others.
//
// Rows without nominated pods are filtered check by check: each check looks at all rows that are left, which lets it
// work on whole columns. The first check that fails decides about a row. Reasons are not built here: a row is entered
// with the check and a number that stands for its reasons, and Explain builds each list of reasons once for all rows
// with the same number.
//
// Rows with nominated pods have to fit with and without these pods (CheckRowWithNominated). That takes a simulation for
// each row, which is avoided where adding the pods' amounts gives the same result (AmountsDecide).
#include <absl/container/node_hash_map.h>

#include <algorithm>
#include <array>
#include <bit>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/core/filtering.h"
#include "pkg/scheduler/core/node_sampler.h"

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
    const uint32_t number = ReasonBits(check) == 1 ? 1 : 0;
    const bool any_errors = !errors.empty();
    for (size_t w = 0; w < before.words().size(); ++w) {
      for (uint64_t gone = before.words()[w] & ~candidates->words()[w]; gone != 0; gone &= gone - 1) {
        Row r = static_cast<Row>(w * 64 + static_cast<size_t>(std::countr_zero(gone)));
        if (any_errors && errors.Has(r)) {
          out->errors.Add(ErrorOfCheck(checks, i, r));
          errors.Erase(r);
        } else {
          out->failed.emplace_back(r, place, number, false);
        }
      }
    }
  }
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
  if (config_->always_check_all_predicates) {
    std::vector<Row> all;
    candidates.ForEach([&](Row r) { all.push_back(r); });
    candidates.Clear();
    for (Row r : all) FilterRow(*pod, checks, r, &candidates, &out);
  } else {
    nominated_rows_.For(*pod, &beside_);
    std::erase_if(beside_, [&](const NominatedRows::Found& n) { return !candidates.Has(n.row); });
    for (const NominatedRows::Found& n : beside_) candidates.Erase(n.row);
    out.failed.reserve(cache_->node_count());
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

namespace {

// Finds the list of reasons of a check and a number. The pairs that were looked up most recently are in a small table,
// which saves most lookups in the map, of which there would be one for each row.
class KnownLists {
 public:
  // Returns where the index of the list is, and whether the pair was not known yet. Valid until the next call. If the
  // pair is new, the caller must set the index.
  std::pair<uint32_t*, bool> Find(uint32_t check, uint32_t number) {
    const std::pair key(check, number);
    Recent& recent = recent_[(check * 31 + number + (number >> 6)) % recent_.size()];
    if (recent.list != nullptr && recent.key == key) return {recent.list, false};
    auto [it, fresh] = lists_.try_emplace(key);
    recent = {key, &it->second};
    return {recent.list, fresh};
  }

 private:
  struct Recent {
    std::pair<uint32_t, uint32_t> key;
    uint32_t* list = nullptr;  // the value of the key in lists_; null: none
  };
  std::array<Recent, 64> recent_;
  absl::node_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> lists_;
};

}  // namespace

// Builds the failures of all rows: once for all rows with the same check and number of reasons. Rows with number 0 may
// have different reasons, so each of them is explained by itself.
std::shared_ptr<NodeFailures> Filtering::Explain(const api::Pod& pod, Checks& checks, const Filtered& filtered,
                                                 DecisionTrace* trace) const {
  auto failures = std::make_shared<NodeFailures>();
  failures->Reserve(filtered.failed.size() + filtered.explained.size());
  const std::vector<Symbol>& names = cache_->columns().name;
  std::vector<FailureReason> reasons;
  KnownLists lists;
  // Most rows have the list of the row before.
  uint32_t last_check = 0, last_number = 0, last_list = 0;
  failures->AddNew(filtered.failed.size(), [&, failed = filtered.failed.data(), name_of = names.data()](size_t i) {
    const Filtered::Failed& f = failed[i];
    if (f.number != 0 && f.number == last_number && f.check == last_check) return std::pair(name_of[f.row], last_list);
    auto [list, fresh] = lists.Find(f.check, f.number);
    if (fresh || f.number == 0) {
      reasons.clear();
      std::optional<Cache::Simulation> simulation;
      if (f.beside) AddNominated(pod, f.row, &simulation.emplace(cache_, f.row));
      AppendReasons(checks, f.check, f.row, &reasons);
      *list = failures->ListOf(reasons);
    }
    last_check = f.check;
    last_number = f.number;
    last_list = *list;
    return std::pair(names[f.row], last_list);
  });
  if (trace != nullptr) {
    for (const Filtered::Failed& f : filtered.failed) {
      trace->rejected_by.emplace_back(names[f.row], checks.rules[f.check]->name);
    }
  }
  for (const auto& [row, why] : filtered.explained) {
    failures->AddNew(names[row], why.reasons);
    if (trace == nullptr) continue;
    trace->rejected_by.emplace_back(names[row], checks.rules[why.check]->name);
    for (const auto& [check, unresolvable] : why.all) {
      trace->rejections.push_back({names[row], checks.rules[check]->name, unresolvable});
    }
  }
  return failures;
}

}  // namespace berth::scheduler
