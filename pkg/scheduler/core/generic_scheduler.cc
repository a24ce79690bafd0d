#include "pkg/scheduler/core/generic_scheduler.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/core/checks.h"
#include "pkg/scheduler/core/incremental/incremental_scheduler.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

constexpr std::string_view kNoNodes = "no nodes available to schedule pods";

// What 1.10 checks before anything else: the pod's claims are there and not being deleted.
std::string ClaimProblem(const api::Pod& pod, const Listers& listers) {
  for (const api::Volume& v : pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    auto claim = listers.claims.Get(pod.meta.ns, v.id);
    if (claim == nullptr) return absl::StrCat("persistentvolumeclaim \"", v.id, "\" not found");
    if (claim->meta.deleting()) return absl::StrCat("persistentvolumeclaim \"", v.id, "\" is being deleted");
  }
  return {};
}

// Equal messages are counted; several are joined, sorted.
std::string JoinCounted(const std::map<std::string, int64_t>& messages) {
  std::vector<std::string> parts;
  for (const auto& [text, n] : messages) {
    parts.push_back(n == 1 ? text : absl::StrCat(text, " (repeated ", n, " times)"));
  }
  return parts.size() == 1 ? parts[0] : absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

std::vector<api::NodePtr> NodesOf(const Cache& cache, const std::vector<Row>& rows) {
  std::vector<api::NodePtr> nodes;
  nodes.reserve(rows.size());
  for (Row r : rows) nodes.push_back(cache.row(r).node);
  return nodes;
}

}  // namespace

GenericScheduler::GenericScheduler(Cache* cache, AlgorithmConfig config, const NominatedPods* nominated,
                                   const util::Clock* clock)
    : cache_(cache),
      config_(std::move(config)),
      nominated_(nominated),
      clock_(clock),
      incremental_(std::make_unique<IncrementalScheduler>(cache_, &config_)) {}
GenericScheduler::~GenericScheduler() = default;

GenericScheduler::Checks GenericScheduler::Prepare(const PodContext& ctx) const {
  PrepareNominated();
  Checks checks;
  for (const ConfiguredPredicate& p : config_.predicates) {
    checks.list.push_back(p.predicate(ctx));
    checks.rules.push_back(&p);
  }
  return checks;
}

// Without those that have nothing to say about the pod, which stays so whatever is simulated afterwards.
GenericScheduler::Checks GenericScheduler::PrepareActive(const PodContext& ctx) const {
  Checks checks = Prepare(ctx);
  size_t kept = 0;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    if (checks.list[i]->SkipsPod()) continue;
    std::swap(checks.list[kept], checks.list[i]);
    checks.rules[kept++] = checks.rules[i];
  }
  checks.list.resize(kept);
  checks.rules.resize(kept);
  for (auto& check : checks.list) {
    const std::vector<Symbol>* names = check->OnlyNodes();
    if (names == nullptr) continue;
    RowSet rows;
    for (Symbol name : *names) {
      const Row row = cache_->FindRow(name);
      if (row != kNoRow && (!checks.names_nodes || checks.only.Has(row))) rows.Insert(row);
    }
    checks.only = std::move(rows);
    checks.names_nodes = true;
  }
  return checks;
}

std::string GenericScheduler::ErrorText(const Checks& checks, size_t check, Row row) const {
  std::string text = checks.list[check]->Error(row);
  if (config_.release->error_text == nullptr) return text;
  return config_.release->error_text(Release::Step::kFilter, checks.rules[check]->name, text);
}

std::string GenericScheduler::ErrorOf(const std::map<std::string, int64_t>& errors) const {
  return config_.release->reports_first_error_only ? errors.begin()->first : JoinCounted(errors);
}

// Returns true, with the decision, when a rule rejects the pod before any node is looked at.
bool GenericScheduler::RejectPod(Checks& checks, Decision* d, DecisionTrace* trace) const {
  auto decided_by = [&](size_t i) {
    const std::string& name = checks.rules[i]->name;
    if (const std::string error = checks.list[i]->PodError(); !error.empty()) {
      d->error = config_.release->error_text == nullptr
                     ? error
                     : config_.release->error_text(Release::Step::kPrepare, name, error);
      return true;
    }
    const PodRejection* rejection = checks.list[i]->RejectsPod();
    if (rejection == nullptr) return false;
    auto failures = std::make_shared<NodeFailures>();
    cache_->listed().ForEach([&](Row row) {
      failures->AddNew(cache_->row(row).name, {rejection->reason});
      if (trace != nullptr) trace->rejected_by.emplace_back(cache_->row(row).name, name);
    });
    d->outcome = Decision::Outcome::kUnfit;
    d->error = config_.release->fit_error_text(*failures, d->nodes, rejection);
    d->failures = failures;
    if (trace != nullptr) trace->failures = failures;
    return true;
  };
  if (config_.preparation_order.empty()) {
    for (size_t i = 0; i < checks.list.size(); ++i) {
      if (decided_by(i)) return true;
    }
    return false;
  }
  for (const size_t place : config_.preparation_order) {
    auto it = std::find(checks.rules.begin(), checks.rules.end(), &config_.predicates[place]);
    if (it != checks.rules.end() && decided_by(static_cast<size_t>(it - checks.rules.begin()))) return true;
  }
  return false;
}

// Nothing when the pod is not nominated to a node, or does not fit there.
std::optional<Decision> GenericScheduler::TryNominatedNode(const api::PodPtr& pod, DecisionTrace* trace) const {
  if (!config_.release->tries_nominated_node_first || pod->nominated_node_name.empty()) return std::nullopt;
  const Row row = cache_->FindRow(pod->nominated_node_name);
  if (row == kNoRow || !cache_->listed().Has(row)) return std::nullopt;
  const PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  Checks checks = PrepareActive(ctx);
  Decision d;
  d.nodes = cache_->node_count();
  DecisionTrace unused;
  if (RejectPod(checks, &d, &unused)) return std::nullopt;
  if (CheckRowWithNominated(*pod, checks, row, false, nullptr) != Verdict::kFits) return std::nullopt;
  d.outcome = Decision::Outcome::kPlaced;
  d.host = pod->nominated_node_name;
  d.feasible = d.ties = 1;
  if (trace != nullptr) {
    d.failures = trace->failures = std::make_shared<NodeFailures>();
    trace->feasible = {d.host};
  }
  return d;
}

// Templates of nominated pods are known to the cache before anything is prepared, so that simulating one of them adds
// no new affinity terms.
void GenericScheduler::PrepareNominated() const {
  if (nominated_ == nullptr) return;
  for (const auto& [node, pods] : nominated_->nodes()) {
    for (const api::PodPtr& p : pods) cache_->Info(p->tmpl);
  }
}

// Returns nothing when only the reference scheduler can decide, or say why the pod fits nowhere; in the latter case
// *found_unfit is set.
std::optional<Decision> GenericScheduler::ScheduleIncrementally(const api::PodPtr& pod, bool* found_unfit) {
  const bool extended = std::any_of(config_.extenders.begin(), config_.extenders.end(),
                                    [&](const auto& e) { return e->IsInterested(*pod); });
  if (extended) return std::nullopt;
  const absl::Duration start = Now();
  absl::Duration filtered = start;
  PrepareNominated();
  const std::vector<Row> nominated = RowsWithNominated(*pod);
  auto drop = [&](RowSet* rows) { return DropUnfit(pod, nominated, rows); };
  auto note = [&] { filtered = Now(); };
  const IncrementalScheduler::Nominated drop_ref = drop;
  absl::FunctionRef<void()> note_ref = note;
  const IncrementalScheduler::Answer answer = incremental_->Place(
      pod, nominated.empty() ? nullptr : &drop_ref, &last_node_index_, clock_ == nullptr ? nullptr : &note_ref);
  if (found_unfit != nullptr) *found_unfit = answer.outcome == IncrementalScheduler::Answer::Outcome::kUnfit;
  if (answer.outcome != IncrementalScheduler::Answer::Outcome::kPlaced) return std::nullopt;
  Decision d;
  d.nodes = cache_->node_count();
  d.outcome = Decision::Outcome::kPlaced;
  d.host = answer.host;
  d.feasible = answer.feasible;
  d.ties = answer.ties;
  timing_ = {filtered - start, Now() - filtered};
  return d;
}

std::string DifferenceOf(const Decision* incremental, const Decision& reference) {
  auto described = [](const Decision& d) {
    switch (d.outcome) {
      case Decision::Outcome::kPlaced:
        return absl::StrCat("places it on node ", d.host.string(), " (", d.feasible, " nodes fit, ", d.ties,
                            " share the best score)");
      case Decision::Outcome::kUnfit:
        return std::string("finds no node where it fits");
      case Decision::Outcome::kError:
        break;
    }
    return absl::StrCat("reports the error \"", d.error, "\"");
  };
  Decision unfit;
  unfit.outcome = Decision::Outcome::kUnfit;
  const Decision& d = incremental != nullptr ? *incremental : unfit;
  // A release may leave the ties of a single feasible node open.
  const bool same =
      d.outcome == reference.outcome &&
      (d.outcome != Decision::Outcome::kPlaced ||
       (d.host == reference.host && d.feasible == reference.feasible && (d.feasible == 1 || d.ties == reference.ties)));
  if (same) return {};
  return absl::StrCat("the incremental scheduler ", described(d), "; the reference scheduler ", described(reference));
}

Decision GenericScheduler::Schedule(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace) {
  Decision d;
  timing_ = {};
  d.nodes = cache_->node_count();
  if (config_.release->checks_claims_first) d.error = ClaimProblem(*pod, cache_->listers());
  if (!d.error.empty()) return d;
  if (d.nodes == 0) {
    d.error = kNoNodes;
    return d;
  }
  if (std::optional<Decision> placed = TryNominatedNode(pod, trace)) return *placed;
  if (mode == DecisionMode::kBoth) return ScheduleBothWays(pod, trace);
  if (mode == DecisionMode::kIncremental) {
    if (std::optional<Decision> placed = ScheduleIncrementally(pod)) return *placed;
  }
  return ScheduleByReference(pod, trace);
}

Decision GenericScheduler::ScheduleBothWays(const api::PodPtr& pod, DecisionTrace* trace) {
  const uint64_t turn = last_node_index_;
  bool found_unfit = false;
  const std::optional<Decision> incremental = ScheduleIncrementally(pod, &found_unfit);
  last_node_index_ = turn;  // so that both choose the same of several best nodes
  Decision d = ScheduleByReference(pod, trace);
  if (incremental || found_unfit) d.difference = DifferenceOf(incremental ? &*incremental : nullptr, d);
  return d;
}

Decision GenericScheduler::ScheduleByReference(const api::PodPtr& pod, DecisionTrace* trace) {
  Decision d;
  d.nodes = cache_->node_count();
  const absl::Duration start = Now();
  PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  Checks checks = PrepareActive(ctx);
  if (RejectPod(checks, &d, trace)) return d;
  Filtered filtered = Filter(pod, checks);
  if (!filtered.errors.empty()) {
    d.error = ErrorOf(filtered.errors);
    return d;
  }
  std::shared_ptr<NodeFailures> failures;
  if (trace != nullptr || filtered.feasible.empty() || !config_.extenders.empty()) {
    failures = Explain(checks, filtered, trace);
  }
  if (!AskExtenders(pod, &filtered, failures.get(), &d.error)) return d;
  const absl::Duration scoring = Now();
  timing_.predicates = scoring - start;
  d.feasible = filtered.feasible.size();
  d.failures = failures;
  if (trace != nullptr) trace->failures = failures;
  if (filtered.feasible.empty()) {
    d.outcome = Decision::Outcome::kUnfit;
    d.error = config_.release->fit_error_text(*failures, d.nodes, nullptr);
    return d;
  }
  absl::StatusOr<Symbol> host = SelectHost(pod, ctx, filtered.feasible, trace, &d.ties);
  timing_.priorities = Now() - scoring;
  if (!host.ok()) {
    d.error = util::Message(host.status());
    return d;
  }
  d.outcome = Decision::Outcome::kPlaced;
  d.host = *host;
  return d;
}

bool GenericScheduler::PassesNodePredicates(const api::Pod& pod, Symbol node) const {
  const Row row = cache_->FindRow(node);
  if (row == kNoRow) return true;
  const PodContext ctx{pod, *cache_->Info(pod.tmpl), *cache_};
  return std::all_of(config_.predicates.begin(), config_.predicates.end(), [&](const ConfiguredPredicate& p) {
    if (p.traits.cluster != ClusterPart::kNode && p.traits.cluster != ClusterPart::kNodePods) return true;
    return p.predicate(ctx)->Check(row) != Verdict::kFails;
  });
}

// ---- filtering ----------------------------------------------------------------------------------

bool GenericScheduler::HasNominated(const api::Pod& pod, Symbol node) const {
  const auto& pods = nominated_->For(node);
  return std::any_of(pods.begin(), pods.end(), [&](const api::PodPtr& p) {
    return p->Priority() >= pod.Priority() && p->meta.uid != pod.meta.uid;
  });
}

Verdict GenericScheduler::CheckRow(Checks& checks, Row row, bool check_all, Why* why) const {
  Verdict verdict = Verdict::kFits;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    switch (checks.list[i]->Check(row)) {
      case Verdict::kFits:
        break;
      case Verdict::kError:
        if (why != nullptr) why->error = ErrorText(checks, i, row);
        return Verdict::kError;
      case Verdict::kFails:
        if (why != nullptr) {
          if (verdict == Verdict::kFits) why->check = i;
          checks.list[i]->Explain(row, &why->reasons);
        }
        if (!check_all) return Verdict::kFails;
        verdict = Verdict::kFails;
    }
  }
  return verdict;
}

// Listed rows with nominated pods that are as important as this one.
std::vector<Row> GenericScheduler::RowsWithNominated(const api::Pod& pod) const {
  std::vector<Row> rows;
  if (nominated_ == nullptr) return rows;
  for (const auto& [node, pods] : nominated_->nodes()) {
    Row r = cache_->FindRow(node);
    if (r != kNoRow && cache_->listed().Has(r) && HasNominated(pod, node)) rows.push_back(r);
  }
  return rows;
}

// Erases those of the rows with nominated pods where the pod does not fit beside them. False: one has an error to tell.
bool GenericScheduler::DropUnfit(const api::PodPtr& pod, const std::vector<Row>& nominated, RowSet* rows) const {
  const PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  std::optional<Checks> checks;
  for (Row r : nominated) {
    if (!rows->Has(r)) continue;
    if (!checks) checks = PrepareActive(ctx);
    switch (CheckRowWithNominated(*pod, *checks, r, false, nullptr)) {
      case Verdict::kFits:
        break;
      case Verdict::kFails:
        rows->Erase(r);
        break;
      case Verdict::kError:
        return false;
    }
  }
  return true;
}

// Once with the pods nominated to the node that are as important as this one, once without: it must fit both ways.
Verdict GenericScheduler::CheckRowWithNominated(const api::Pod& pod, Checks& checks, Row row, bool check_all,
                                                Why* why) const {
  Symbol node = cache_->row(row).name;
  if (nominated_ != nullptr && HasNominated(pod, node)) {
    Cache::Simulation simulation(cache_, row);
    for (const api::PodPtr& p : nominated_->For(node)) {
      if (p->Priority() >= pod.Priority() && p->meta.uid != pod.meta.uid) simulation.AddNominated(p);
    }
    if (Verdict v = CheckRow(checks, row, check_all, why); v != Verdict::kFits) return v;
  }
  return CheckRow(checks, row, check_all, why);
}

GenericScheduler::Filtered GenericScheduler::Filter(const api::PodPtr& pod, Checks& checks) const {
  Filtered out;
  RowSet candidates = cache_->listed();
  candidates.Resize(cache_->row_count());
  if (checks.names_nodes) {
    for (size_t w = 0; w < candidates.words().size(); ++w) {
      candidates.words()[w] &= w < checks.only.words().size() ? checks.only.words()[w] : 0;
    }
  }
  std::vector<Row> one_by_one;
  if (config_.always_check_all_predicates) {
    candidates.ForEach([&](Row r) { one_by_one.push_back(r); });
  } else {
    one_by_one = RowsWithNominated(*pod);
    std::erase_if(one_by_one, [&](Row r) { return !candidates.Has(r); });
  }
  for (Row r : one_by_one) candidates.Erase(r);
  // The nominated node was looked at before the others; that it cannot do is known even where rules name others.
  if (config_.release->tries_nominated_node_first && checks.names_nodes) {
    const Row row = cache_->FindRow(pod->nominated_node_name);
    Why why;
    if (row != kNoRow && cache_->listed().Has(row) && !checks.only.Has(row) &&
        CheckRowWithNominated(*pod, checks, row, false, &why) == Verdict::kFails) {
      out.explained.emplace_back(row, std::move(why));
    }
  }

  RowSet before, errors;
  for (size_t i = 0; i < checks.list.size() && !candidates.empty(); ++i) {
    before = candidates;
    checks.list[i]->Filter(&candidates, &errors);
    for (size_t w = 0; w < before.words().size(); ++w) {
      for (uint64_t gone = before.words()[w] & ~candidates.words()[w]; gone != 0; gone &= gone - 1) {
        Row r = static_cast<Row>(w * 64 + static_cast<size_t>(std::countr_zero(gone)));
        if (errors.Has(r)) {
          ++out.errors[ErrorText(checks, i, r)];
          errors.Erase(r);
        } else {
          out.failed.push_back({r, static_cast<uint32_t>(i)});
        }
      }
    }
  }
  for (Row r : one_by_one) {
    Why why;
    switch (CheckRowWithNominated(*pod, checks, r, config_.always_check_all_predicates, &why)) {
      case Verdict::kFits:
        candidates.Insert(r);
        break;
      case Verdict::kError:
        ++out.errors[why.error];
        break;
      case Verdict::kFails:
        out.explained.emplace_back(r, std::move(why));
        break;
    }
  }
  candidates.ForEach([&](Row r) { out.feasible.push_back(r); });
  return out;
}

std::shared_ptr<NodeFailures> GenericScheduler::Explain(Checks& checks, const Filtered& filtered,
                                                        DecisionTrace* trace) const {
  auto failures = std::make_shared<NodeFailures>();
  failures->Reserve(filtered.failed.size() + filtered.explained.size());
  std::vector<FailureReason> reasons;
  for (const auto& [row, check] : filtered.failed) {
    reasons.clear();
    checks.list[check]->Explain(row, &reasons);
    failures->AddNew(cache_->row(row).name, reasons);
    if (trace != nullptr) trace->rejected_by.emplace_back(cache_->row(row).name, checks.rules[check]->name);
  }
  for (const auto& [row, why] : filtered.explained) {
    failures->AddNew(cache_->row(row).name, why.reasons);
    if (trace != nullptr) trace->rejected_by.emplace_back(cache_->row(row).name, checks.rules[why.check]->name);
  }
  return failures;
}

bool GenericScheduler::AskExtenders(const api::PodPtr& pod, Filtered* filtered, NodeFailures* failures,
                                    std::string* error) {
  for (const auto& extender : config_.extenders) {
    if (filtered->feasible.empty()) break;
    if (!extender->IsInterested(*pod)) continue;
    auto result = extender->Filter(*pod, NodesOf(*cache_, filtered->feasible));
    if (!result.ok()) {
      *error = util::Message(result.status());
      return false;
    }
    RowSet kept;
    for (Symbol node : result->nodes) {
      if (Row r = cache_->FindRow(node); r != kNoRow) kept.Insert(r);
    }
    std::erase_if(filtered->feasible, [&](Row r) { return !kept.Has(r); });
    for (const auto& [node, text] : result->failed) failures->Add(node, {{Symbol(text), false}});
  }
  return true;
}

// ---- scoring ------------------------------------------------------------------------------------

absl::StatusOr<std::vector<int64_t>> GenericScheduler::Prioritize(const api::PodPtr& pod, const PodContext& ctx,
                                                                  const std::vector<Row>& rows, DecisionTrace* trace) {
  if (config_.priorities.empty() && config_.extenders.empty()) return std::vector<int64_t>(rows.size(), 1);
  std::vector<int64_t> totals(rows.size(), 0), scores(rows.size());
  std::vector<std::string> errors;
  bool a_row_failed = false;
  for (const ConfiguredPriority& p : config_.priorities) {
    std::unique_ptr<Scoring> scoring = p.function(ctx);
    if (scoring->Skips(rows)) continue;
    absl::Status status = scoring->Map(rows, scores);
    if (status.ok()) status = scoring->Reduce(rows, scores);
    if (!status.ok()) {
      // 1.10 stops mapping a node at its first error, and says it for each node.
      if (scoring->OnePass()) {
        errors.push_back(util::Message(status));
      } else if (!a_row_failed) {
        errors.insert(errors.end(), rows.size(), util::Message(status));
        a_row_failed = true;
      }
      if (config_.release->reports_first_error_only) break;
      continue;
    }
    for (size_t i = 0; i < rows.size(); ++i) totals[i] += scores[i] * p.weight;
    if (trace != nullptr) trace->priorities.push_back({p.name, p.weight, scores});
  }
  if (!errors.empty()) {
    return util::InvalidArgument(errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]"));
  }
  for (const auto& extender : config_.extenders) {
    if (!extender->IsInterested(*pod)) continue;
    auto result = extender->Prioritize(*pod, NodesOf(*cache_, rows));
    if (!result.ok()) {
      VLOG(2) << "Extender " << extender->name() << " could not prioritize: " << result.status().message();
      continue;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (auto it = result->find(cache_->row(rows[i]).name); it != result->end()) totals[i] += it->second;
    }
  }
  return totals;
}

absl::StatusOr<Symbol> GenericScheduler::SelectHost(const api::PodPtr& pod, const PodContext& ctx,
                                                    const std::vector<Row>& rows, DecisionTrace* trace,
                                                    size_t* ties_out) {
  std::vector<Row> by_name;
  *ties_out = 1;
  if (trace != nullptr) {
    by_name = rows;
    std::sort(by_name.begin(), by_name.end(), [&](Row a, Row b) { return cache_->NameRank(a) > cache_->NameRank(b); });
    for (Row r : by_name) trace->feasible.push_back(cache_->row(r).name);
  }
  if (rows.size() == 1) return cache_->row(rows[0]).name;
  const std::vector<Row>& order = trace != nullptr ? by_name : rows;
  absl::StatusOr<std::vector<int64_t>> totals = Prioritize(pod, ctx, order, trace);
  if (!totals.ok()) return totals.status();
  int64_t best = *std::max_element(totals->begin(), totals->end());
  std::vector<uint32_t> ties;  // ranks in descending name order
  for (size_t i = 0; i < order.size(); ++i) {
    if ((*totals)[i] == best) ties.push_back(cache_->NameRank(order[i]));
  }
  auto chosen = ties.begin() + static_cast<ptrdiff_t>(last_node_index_ % ties.size());
  std::nth_element(ties.begin(), chosen, ties.end());
  *ties_out = ties.size();
  if (trace != nullptr) {
    trace->totals = *totals;
    trace->ties = ties.size();
    trace->round_robin = last_node_index_;
  }
  ++last_node_index_;
  return cache_->row(cache_->by_name_descending()[*chosen]).name;
}

// ---- explaining ---------------------------------------------------------------------------------

std::vector<std::pair<Symbol, std::vector<GenericScheduler::Judgement>>> GenericScheduler::JudgeAll(
    const api::PodPtr& pod) {
  PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  Checks checks = Prepare(ctx);
  std::vector<std::pair<Symbol, std::vector<Judgement>>> out;
  const std::vector<Row>& rows = cache_->by_name_descending();
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    std::vector<Judgement> judgements;
    for (auto& check : checks.list) {
      Judgement j;
      if (const PodRejection* rejection = check->RejectsPod(); rejection != nullptr) {
        j.verdict = Verdict::kFails;
        j.reasons.push_back(rejection->reason);
        judgements.push_back(std::move(j));
        continue;
      }
      j.error = check->PodError();
      j.verdict = j.error.empty() ? check->Check(*it) : Verdict::kError;
      if (j.verdict == Verdict::kFails) {
        check->Explain(*it, &j.reasons);
        j.detail = check->Detail(*it);
      }
      if (j.verdict == Verdict::kError && j.error.empty()) j.error = check->Error(*it);
      judgements.push_back(std::move(j));
    }
    out.emplace_back(cache_->row(*it).name, std::move(judgements));
  }
  return out;
}

}  // namespace berth::scheduler
