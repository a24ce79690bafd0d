#include "pkg/scheduler/core/kept_failures.h"

#include <algorithm>
#include <optional>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/core/node_sampler.h"

namespace berth::scheduler {
namespace {

// What all kept failures may take, and what one takes for each node: 12 bytes, and as much again where preemption has
// looked for nodes by their names.
constexpr size_t kMostBytesOfFailures = size_t{64} << 20, kBytesOfFailedNode = 24;
// If more than one in this many rows has changed, going through all of them is as quick.
constexpr size_t kFewRows = 8;

bool LooksAtRowAlone(const ConfiguredPredicate& rule) {
  if (!rule.parts.empty()) return std::all_of(rule.parts.begin(), rule.parts.end(), LooksAtRowAlone);
  return rule.traits.cluster == ClusterPart::kNode || rule.traits.cluster == ClusterPart::kNodePods;
}

// Returns whether the check has nothing to look at now, and passes every row.
bool PassesAll(const FitCheck& check) {
  if (check.FitsAlways()) return true;
  const auto* domains = dynamic_cast<const DomainCheck*>(&check);
  return domains != nullptr && domains->usable() && domains->channels().empty();
}

// Gives the reasons the numbers of these checks. Those that other checks of the rules have given may mean something
// else: a check of taints counts the taints that it has met. REQUIRES: the failures are sorted by check.
void NumberAnew(Checks& checks, std::vector<Filtered::Failed>* failed) {
  std::vector<Row> rows;
  std::vector<uint32_t> numbers;
  for (auto begin = failed->begin(), end = begin; begin != failed->end(); begin = end) {
    end = std::find_if(begin, failed->end(), [&](const Filtered::Failed& f) { return f.check != begin->check; });
    FitCheck& check = *checks.list[begin->check];
    if (ReasonBits(check) <= 1) continue;
    rows.clear();
    for (auto it = begin; it != end; ++it) rows.push_back(it->row);
    numbers.assign(rows.size(), 0);
    NumberReasons(check, rows, nullptr, numbers);
    for (size_t i = 0; i < rows.size(); ++i) (begin + static_cast<std::ptrdiff_t>(i))->number = numbers[i];
  }
}

// Returns references to the texts of the reasons, which are held for a short time only otherwise.
util::KeptTexts TextsOf(const NodeFailures& failures) {
  util::SymbolKeeper keeper;
  failures.ForEachList([&](const std::vector<FailureReason>& list, int64_t) {
    for (const FailureReason& r : list) {
      keeper.Keep(r.text);
      keeper.Keep(r.kind);
    }
  });
  return keeper.Take();
}

}  // namespace

KeptFailures::FailedRows::FailedRows(const std::vector<Filtered::Failed>& failed) {
  rows_.reserve(failed.size());
  for (const Filtered::Failed& f : failed) {
    if (checks_.empty() || checks_.back().check != f.check) checks_.push_back({f.check, 0});
    rows_.push_back(f.row);
    checks_.back().end = rows_.size();
  }
}

std::vector<Filtered::Failed> KeptFailures::FailedRows::List(const Checks& checks) const {
  std::vector<Filtered::Failed> failed;
  failed.reserve(rows_.size());
  for (const OfCheck& of : checks_) {
    const uint32_t number = ReasonBits(*checks.list[of.check]) == 1 ? 1 : 0;  // as in FilterColumns
    while (failed.size() < of.end) failed.emplace_back(rows_[failed.size()], of.check, number, false);
  }
  return failed;
}

// Returns whether nothing but the node and the pods on it decides whether the pod fits on a row.
bool KeptFailures::RowsDecide(const Checks& checks) const {
  if (checks.names_nodes || !checks.pod->node_name.empty()) return false;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    if (PassesAll(*checks.list[i])) continue;
    if (checks.list[i]->MayError() || !LooksAtRowAlone(*checks.rules[i])) return false;
  }
  return true;
}

// Checks the rows again, of which no node object has changed. Returns false if the pod fits on one of them.
bool KeptFailures::Renew(const api::Pod& pod, Checks& checks, const std::vector<Row>& rows, Failure* kept) const {
  RowSet changed;
  std::vector<Filtered::Failed> now;
  for (const Row row : rows) {
    if (!cache_->listed().Has(row) || changed.Has(row)) continue;
    changed.Insert(row);
    const size_t before = now.size();
    for (size_t i = 0; i < checks.list.size() && now.size() == before; ++i) {
      FitCheck& check = *checks.list[i];
      if (check.FitsAlways()) continue;
      const auto place = static_cast<uint32_t>(i);
      // As in FilterColumns.
      if (ReasonBits(check) > 1) {
        uint32_t number = 0;
        NumberReasons(check, {&row, 1}, nullptr, {&number, 1});
        if (number != 0) now.emplace_back(row, place, number, false);
      } else if (check.Check(row) != Verdict::kFits) {
        now.emplace_back(row, place, ReasonBits(check) == 1 ? 1 : 0, false);
      }
    }
    if (now.size() == before) return false;
  }
  const auto less = [](const Filtered::Failed& a, const Filtered::Failed& b) {
    return std::pair(a.check, a.row) < std::pair(b.check, b.row);
  };
  std::sort(now.begin(), now.end(), less);
  std::vector<Filtered::Failed> before = kept->failed.List(checks);
  std::erase_if(before, [&](const Filtered::Failed& f) { return changed.Has(f.row); });
  Filtered filtered;
  filtered.failed.resize(before.size() + now.size());
  std::merge(before.begin(), before.end(), now.begin(), now.end(), filtered.failed.begin(), less);
  NumberAnew(checks, &filtered.failed);
  kept->failures = filtering_->Explain(pod, checks, filtered, nullptr);
  kept->failed = FailedRows(filtered.failed);
  kept->texts = TextsOf(*kept->failures);
  kept->error = config_->release->fit_error_text(*kept->failures, cache_->node_count(), nullptr);
  kept->rejected_by = kept->failures->Rules();
  return true;
}

std::optional<Decision> KeptFailures::Again(const api::PodPtr& pod) {
  auto it = failures_.find(pod->tmpl.get());
  if (it == failures_.end()) return std::nullopt;
  Failure& kept = it->second;
  std::vector<Row> rows;
  bool nodes_changed = false;
  const bool known = cache_->ChangesSince(kept.generation, [&](Row row, bool node_changed) {
    rows.push_back(row);
    nodes_changed |= node_changed;
  });
  if (!known || nodes_changed || rows.size() * kFewRows > cache_->node_count()) return std::nullopt;
  const PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  Checks checks = filtering_->PrepareActive(ctx);
  if (filtering_->FindNominated(*pod) || checks.rules != kept.rules || !RowsDecide(checks)) return std::nullopt;
  Decision d;
  d.nodes = cache_->node_count();
  if (filtering_->RejectPod(checks, &d, nullptr)) return d;
  if (!rows.empty() && !Renew(*pod, checks, rows, &kept)) {
    failures_.erase(it);
    return std::nullopt;
  }
  kept.generation = cache_->generation();
  kept.used = ++used_;
  ++again_;
  d.outcome = Decision::Outcome::kUnfit;
  d.failures = kept.failures;
  d.error = kept.error;
  d.rejected_by = kept.rejected_by;
  if (config_->sampler != nullptr) {
    d.evaluated = d.nodes;
    config_->sampler->MadeInVain();
  }
  return d;
}

void KeptFailures::Keep(const api::PodPtr& pod, const Checks& checks, const Filtered& filtered, const Decision& d) {
  if (config_->always_check_all_predicates) return;
  if (!filtered.explained.empty() || filtering_->any_nominated() || !RowsDecide(checks)) return;
  const size_t bytes = std::max<size_t>(1, cache_->node_count() * kBytesOfFailedNode);
  while (failures_.size() >= std::max<size_t>(1, kMostBytesOfFailures / bytes)) {
    failures_.erase(std::min_element(failures_.begin(), failures_.end(),
                                     [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
  Failure& kept = failures_[pod->tmpl.get()];
  kept = {.tmpl = pod->tmpl,
          .rules = checks.rules,
          .generation = cache_->generation(),
          .failed = FailedRows(filtered.failed),
          .failures = d.failures,
          .texts = TextsOf(*d.failures),
          .error = d.error,
          .rejected_by = d.rejected_by,
          .used = ++used_};
}

}  // namespace berth::scheduler
