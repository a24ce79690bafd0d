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
// In a small cluster, the templates and texts that they hold take more than that.
constexpr size_t kMostFailures = 1024;
// If more than one in this many rows has changed, going through all of them is as quick.
constexpr size_t kFewRows = 8;

// Returns whether what the rule says follows from the pod's template and from what KeptFailures::Version stands for.
bool FollowsFromTemplate(const ConfiguredPredicate& rule) {
  if (!rule.parts.empty()) return std::all_of(rule.parts.begin(), rule.parts.end(), FollowsFromTemplate);
  return rule.traits.cluster != ClusterPart::kAnything && (rule.traits.pod & kPodIdentity) == 0;
}
bool LooksAtVolumes(const ConfiguredPredicate& rule) {
  if (!rule.parts.empty()) return std::any_of(rule.parts.begin(), rule.parts.end(), LooksAtVolumes);
  return rule.traits.cluster == ClusterPart::kVolumes;
}

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

KeptFailures::KeptFailures(Cache* cache, const AlgorithmConfig* config, const NominatedPods* nominated,
                           Filtering* filtering)
    : cache_(cache), config_(config), nominated_(nominated), filtering_(filtering) {
  for (const ConfiguredPredicate& rule : config_->predicates) {
    if (!FollowsFromTemplate(rule)) {
      of_pods_.push_back(&rule);
    } else if (LooksAtVolumes(rule)) {
      of_volumes_.push_back(&rule);
    }
  }
}

KeptFailures::FailedRows::FailedRows(const std::vector<Filtered::Failed>& failed, bool by_all_checks)
    : rows_(failed.size()) {
  const size_t size = failed.size();
  for (size_t i = 0; i < size; ++i) rows_[i] = failed[i].row;
  if (by_all_checks) return;
  for (size_t i = 0; i < size; ++i) {
    const bool last = i + 1 == size || failed[i + 1].check != failed[i].check;
    if (last) checks_.push_back({failed[i].check, i + 1});
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

std::optional<size_t> KeptFailures::FailedRows::Find(uint32_t check, Row row) const {
  size_t begin = 0, end = rows_.size();
  for (const OfCheck& of : checks_) {
    end = of.end;
    if (of.check == check) break;
    begin = end;
  }
  const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(end);
  const auto it = std::lower_bound(rows_.begin() + static_cast<std::ptrdiff_t>(begin), last, row);
  if (it == last || *it != row) return std::nullopt;
  return static_cast<size_t>(it - rows_.begin());
}

KeptFailures::Version KeptFailures::VersionNow() const {
  Version v = {.generation = cache_->generation()};
  api::StoredKinds::ForEach([&]<typename T>() { v.objects += cache_->listers().template Of<T>().version(); });
  if (nominated_ != nullptr) v.nominated = nominated_->version();
  return v;
}

// Returns whether the rule says about the pod what it said about the one for which the failure was kept: that it does
// not count, or that it passes every row.
bool KeptFailures::SaysTheSame(const ConfiguredPredicate& rule, const PodContext& ctx, const Failure& kept) const {
  const bool counted = std::find(kept.rules.begin(), kept.rules.end(), &rule) != kept.rules.end();
  const std::unique_ptr<FitCheck> check = rule.predicate(ctx);
  const PreFilterResult result = check->PreFilter();
  if (result.skip || !counted) return result.skip && !counted;
  return result.error.empty() && result.rejection == nullptr && result.only_nodes == nullptr && PassesAll(*check);
}

// Returns whether nothing that matters has changed since a pod of the same template failed, which has the same rules.
bool KeptFailures::AreAsKept(const api::Pod& pod, const Failure& kept) const {
  if (!pod.node_name.empty() || kept.version != VersionNow()) return false;
  const bool has_volumes = !pod.tmpl->volumes.empty();
  if (of_pods_.empty() && !has_volumes) return true;
  const PodContext ctx{pod, *cache_->Info(pod), *cache_};
  const auto same = [&](const ConfiguredPredicate* rule) { return SaysTheSame(*rule, ctx, kept); };
  return std::all_of(of_pods_.begin(), of_pods_.end(), same) &&
         (!has_volumes || std::all_of(of_volumes_.begin(), of_volumes_.end(), same));
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
  if (config_->always_check_all_predicates) return RenewByAllChecks(checks, rows, kept);
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
  kept->failed = FailedRows(filtered.failed, /*by_all_checks=*/false);
  Replace(filtering_->Explain(pod, checks, filtered, nullptr), kept);
  return true;
}

// Does the same where all checks are evaluated: a row keeps its place among the others.
bool KeptFailures::RenewByAllChecks(Checks& checks, const std::vector<Row>& rows, Failure* kept) const {
  absl::flat_hash_map<Row, std::vector<FailureReason>> changed;
  for (const Row row : rows) {
    if (!cache_->listed().Has(row)) continue;
    Why why;
    if (filtering_->CheckRow(checks, row, true, &why) != Verdict::kFails) return false;
    changed[row] = std::move(why.reasons);
  }
  auto failures = std::make_shared<NodeFailures>();
  failures->Reserve(kept->failures->size());
  size_t i = 0;
  kept->failures->ForEach([&](Symbol node, const std::vector<FailureReason>& before) {
    const auto it = changed.find(kept->failed[i++]);
    failures->AddNew(node, it == changed.end() ? before : it->second);
  });
  Replace(std::move(failures), kept);
  return true;
}

// Keeps these failures instead of the ones before.
void KeptFailures::Replace(std::shared_ptr<const NodeFailures> failures, Failure* kept) const {
  kept->texts = TextsOf(*failures);
  kept->error = config_->release->fit_error_text(*failures, cache_->node_count(), nullptr);
  kept->rejected_by = failures->Rules();
  kept->failures = std::move(failures);
}

// Returns whether the rows, of which no node object has changed, fail for the reasons for which they failed before.
bool KeptFailures::FailAsBefore(Checks& checks, const std::vector<Row>& rows, const Failure& kept) const {
  const bool all = config_->always_check_all_predicates;
  Why why;
  return std::all_of(rows.begin(), rows.end(), [&](Row row) {
    if (!cache_->listed().Has(row)) return true;
    why.reasons.clear();
    if (filtering_->CheckRow(checks, row, all, &why) != Verdict::kFails) return false;
    const std::optional<size_t> place = kept.failed.Find(static_cast<uint32_t>(why.check), row);
    return place && kept.failures->ReasonsAt(*place) == why.reasons;
  });
}

// Brings what is kept up to date for a pod of its template. Returns whether the pod fails by it, or nothing if that is
// not known. If a rule rejects the pod before any node is looked at, `rejected` is the decision.
std::optional<bool> KeptFailures::BringUpToDate(const api::PodPtr& pod, Failure* kept, Decision* rejected) {
  std::vector<Row> rows;
  bool nodes_changed = false;
  const bool known = cache_->ChangesSince(kept->version.generation, [&](Row row, bool node_changed) {
    rows.push_back(row);
    nodes_changed |= node_changed;
  });
  if (!known || nodes_changed || rows.size() * kFewRows > cache_->node_count()) return std::nullopt;
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = filtering_->PrepareActive(ctx);
  if (filtering_->FindNominated(*pod) || checks.rules != kept->rules || !RowsDecide(checks)) return std::nullopt;
  rejected->nodes = cache_->node_count();
  if (filtering_->RejectPod(checks, rejected, nullptr)) return true;
  if (!rows.empty() && !FailAsBefore(checks, rows, *kept) && !Renew(*pod, checks, rows, kept)) return false;
  kept->version = VersionNow();
  return true;
}

std::optional<Decision> KeptFailures::AgainUnnoted(const api::PodPtr& pod) {
  auto it = failures_.find(pod->tmpl.get());
  if (it == failures_.end()) return std::nullopt;
  Failure& kept = it->second;
  Decision d;
  if (!AreAsKept(*pod, kept) || filtering_->FindNominated(*pod)) {
    const std::optional<bool> fails = BringUpToDate(pod, &kept, &d);
    if (!fails) return std::nullopt;
    if (!*fails) {
      failures_.erase(it);
      return std::nullopt;
    }
    if (!d.error.empty() || d.failures != nullptr) return d;
  }
  kept.used = ++used_;
  ++again_;
  d.nodes = cache_->node_count();
  d.outcome = Decision::Outcome::kUnfit;
  d.failures = kept.failures;
  d.error = kept.error;
  d.rejected_by = kept.rejected_by;
  if (config_->sampler != nullptr) d.evaluated = d.nodes;
  return d;
}

std::optional<Decision> KeptFailures::Again(const api::PodPtr& pod) {
  std::optional<Decision> d = AgainUnnoted(pod);
  if (d && d->evaluated != 0) config_->sampler->MadeInVain();
  return d;
}

// Returns whether what preemption finds for the pod, if that is nothing, it finds for all pods of the template.
bool KeptFailures::PreemptsInVain(const api::Pod& pod) const {
  return config_->extenders.empty() && pod.nominated_node_name.empty() &&
         (nominated_ == nullptr || nominated_->empty());
}

const Preemption* KeptFailures::InVain(const api::Pod& pod, const NodeFailures& failures) const {
  const auto it = failures_.find(pod.tmpl.get());
  if (it == failures_.end() || it->second.failures.get() != &failures || !it->second.in_vain) return nullptr;
  const Failure& kept = it->second;
  if (!PreemptsInVain(pod)) return nullptr;
  const Version now = VersionNow();
  const bool by_failures =
      kept.in_vain_by_failures && kept.version == now && cache_->least_priority() >= pod.Priority();
  return by_failures || kept.in_vain_at == now ? &*kept.in_vain : nullptr;
}

void KeptFailures::KeepInVain(const api::Pod& pod, const NodeFailures& failures, const Preemption& found) {
  const auto it = failures_.find(pod.tmpl.get());
  if (it == failures_.end() || it->second.failures.get() != &failures || !PreemptsInVain(pod)) return;
  Failure& kept = it->second;
  kept.in_vain.reset();
  const Version now = VersionNow();
  const bool found_nothing = found.outcome != Preemption::Outcome::kChosen && found.nominated_to_clear.empty();
  if (!found_nothing || kept.version != now) return;
  kept.in_vain = found;
  kept.in_vain_at = now;
  kept.in_vain_by_failures =
      config_->release->preemption == PreemptionStyle::kByImportance && cache_->least_priority() >= pod.Priority();
}

void KeptFailures::Keep(const api::PodPtr& pod, const Checks& checks, const Filtered& filtered, const Decision& d) {
  if (!filtered.explained.empty() || filtering_->any_nominated() || !RowsDecide(checks)) return;
  const size_t bytes = std::max<size_t>(1, cache_->node_count() * kBytesOfFailedNode);
  while (failures_.size() >= std::clamp<size_t>(kMostBytesOfFailures / bytes, 1, kMostFailures)) {
    failures_.erase(std::min_element(failures_.begin(), failures_.end(),
                                     [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
  Failure& kept = failures_[pod->tmpl.get()];
  kept = {.tmpl = pod->tmpl,
          .rules = checks.rules,
          .version = VersionNow(),
          .failed = FailedRows(filtered.failed, config_->always_check_all_predicates),
          .failures = d.failures,
          .texts = TextsOf(*d.failures),
          .error = d.error,
          .rejected_by = d.rejected_by,
          .used = ++used_,
          .in_vain = {},
          .in_vain_at = {}};
}

}  // namespace berth::scheduler
