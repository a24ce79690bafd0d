// How one decision is made. Schedule first does what needs no filtering of nodes: the checks of the pod's claims (1.10)
// and the nominated node (1.29). Then the incremental scheduler decides. Where it cannot, or where it finds that no
// node fits and the reasons are needed, the reference scheduler decides: filter (filtering.cc), extenders, scoring,
// selection. Both use one round-robin counter, so a sequence of decisions does not depend on which of them decides.
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/algorithm/reasons.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/scheduler/core/parts.h"
#include "pkg/util/contract.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {
namespace {

constexpr std::string_view kNoNodes = "no nodes available to schedule pods";

// Returns what is wrong with the pod's claims, or an empty text. 1.10 requires before anything else that they exist and
// are not being deleted (podPassesBasicChecks).
RuleError ClaimProblem(const api::Pod& pod, const Listers& listers) {
  for (const api::Volume& v : pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    auto claim = listers.claims.Get(pod.meta.ns, v.id);
    if (claim == nullptr) {
      return {absl::StrCat("persistentvolumeclaim \"", v.id, "\" not found"), reasons::kNoClaim};
    }
    if (claim->meta.deleting()) {
      return {absl::StrCat("persistentvolumeclaim \"", v.id, "\" is being deleted"), reasons::kClaimIsDeleted};
    }
  }
  return {};
}

// Returns whether the pod's node affinity may name the only nodes where it can go (PreFilterResult::only_nodes).
bool NamesNodes(const api::Pod& pod) {
  const auto& affinity = pod.tmpl->affinity.node;
  return affinity && affinity->required &&
         std::any_of(affinity->required->terms.begin(), affinity->required->terms.end(),
                     [](const auto& term) { return !term.fields.empty(); });
}

// Puts rows, each of which is listed, into the order of the walk.
void PutIntoOrderOf(const Cache& cache, const SampledWalk& walk, std::vector<Row>* rows) {
  RowSet set;
  set.Resize(cache.row_count());
  for (Row r : *rows) set.Insert(r);
  rows->clear();
  const std::vector<Row>& all = cache.in_tree_order();
  for (size_t i = 0; i < all.size(); ++i) {
    if (const Row r = all[(walk.start + i) % all.size()]; set.Has(r)) rows->push_back(r);
  }
}

}  // namespace

GenericScheduler::GenericScheduler(Cache* cache, AlgorithmConfig config, const NominatedPods* nominated,
                                   const util::Clock* clock)
    : cache_(cache),
      config_(std::move(config)),
      clock_(clock),
      parts_(std::make_unique<Parts>(cache_, &config_, config_.release->counts_nominated ? nominated : nullptr)) {}
GenericScheduler::~GenericScheduler() = default;

size_t GenericScheduler::kept_answers_bytes() const {
  return parts_->incremental.bytes();
}
size_t GenericScheduler::kept_answers_limit() const {
  return parts_->incremental.limit();
}
void GenericScheduler::LimitKeptAnswers(size_t bytes, size_t schedulers) {
  BERTH_REQUIRES(schedulers > 0);
  parts_->incremental.Limit(bytes, schedulers);
}
uint64_t GenericScheduler::failures_said_again() const {
  return parts_->failures.again();
}

Preemption GenericScheduler::Preempt(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at) {
  if (const Preemption* known = parts_->failures.InVain(*pod, failures)) return *known;
  Preemption found = parts_->preemptor.Preempt(pod, failures, decided_at);
  parts_->failures.KeepInVain(*pod, failures, found);
  return found;
}

// Places the pod on its nominated node when it fits there. Returns nothing when it does not fit, when the pod has no
// nominated node, or when the release does not try that node first.
std::optional<Decision> GenericScheduler::TryNominatedNode(const api::PodPtr& pod, DecisionTrace* trace) const {
  if (!config_.release->tries_nominated_node_first || pod->nominated_node_name.empty()) return std::nullopt;
  return TryNode(pod, pod->nominated_node_name, trace);
}

// Places the pod on the node when it fits there, without a look at other nodes.
std::optional<Decision> GenericScheduler::TryNode(const api::PodPtr& pod, Symbol node, DecisionTrace* trace) const {
  const Row row = cache_->FindRow(node);
  if (row == kNoRow || !cache_->listed().Has(row)) return std::nullopt;
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = parts_->filtering.PrepareActive(ctx);
  Decision d;
  d.nodes = cache_->node_count();
  DecisionTrace unused;
  if (parts_->filtering.RejectPod(checks, &d, &unused)) return std::nullopt;
  if (parts_->filtering.CheckRowWithNominated(*pod, checks, row, false, nullptr) != Verdict::kFits) return std::nullopt;
  d.outcome = Decision::Outcome::kPlaced;
  d.host = node;
  d.feasible = d.ties = 1;
  if (trace != nullptr) {
    d.failures = trace->failures = std::make_shared<NodeFailures>();
    trace->feasible = {d.host};
  }
  return d;
}

// Lets the incremental scheduler decide. Returns nothing when the reference scheduler must decide: because the
// incremental one cannot, or because the pod fits nowhere and the reasons are needed. In the latter case *found_unfit
// is set. Nominated pods and extenders are not part of what is kept between decisions; they are applied by callbacks to
// the rows that fit.
std::optional<Decision> GenericScheduler::ScheduleIncrementally(const api::PodPtr& pod, ExtenderRound* round,
                                                                SampledWalk* walk, bool* found_unfit) {
  const absl::Duration start = Now();
  absl::Duration filtered = start;
  const bool nominated = parts_->filtering.FindNominated(*pod);
  const bool extended = parts_->extenders.AnyIsInterested(*pod);
  size_t guests_ties = 0;
  auto filter = [&](RowSet* rows) { return parts_->filtering.DropUnfit(pod, rows); };
  auto narrow = [&](RowSet* rows) {
    if (GuestFilters() && !guest_->Filter(pod, rows, nullptr)) return false;
    if (!extended) return true;
    std::vector<Row> feasible;
    rows->ForEach([&](Row r) { feasible.push_back(r); });
    if (walk != nullptr) PutIntoOrderOf(*cache_, *walk, &feasible);
    const size_t before = feasible.size();
    if (!parts_->extenders.Filter(*pod, &feasible, round)) return false;
    if (feasible.size() == before) return true;
    rows->Clear();
    for (Row r : feasible) rows->Insert(r);
    return true;
  };
  auto score = [&](std::span<const Row> rows, std::span<int64_t> totals) {
    if (extended) parts_->extenders.AddScores(*pod, rows, totals);
    if (parts_->wants_totals) parts_->NoteScored(*cache_, rows, totals);
    return !GuestChooses() || LetGuestChoose(pod, rows, totals, &guests_ties);
  };
  auto note = [&] { filtered = Now(); };
  const IncrementalScheduler::Filter filter_ref = filter, narrow_ref = narrow;
  const IncrementalScheduler::Score score_ref = score;
  absl::FunctionRef<void()> note_ref = note;
  IncrementalScheduler::Hooks hooks;
  if (nominated) hooks.filter = &filter_ref;
  if (extended || GuestFilters()) hooks.narrow = &narrow_ref;
  hooks.walk = walk;
  if (extended || GuestChooses() || parts_->wants_totals) hooks.score = &score_ref;
  if (clock_ != nullptr) hooks.on_filtered = &note_ref;
  const IncrementalScheduler::Answer answer = parts_->incremental.Place(pod, hooks, &last_node_index_);
  std::optional<Decision> made(std::in_place);  // all ways return it, so that it is made where the caller wants it
  Decision& d = *made;
  d.nodes = cache_->node_count();
  if (walk != nullptr) d.evaluated = walk->looked;
  if (!round->error.empty()) {
    d.error = round->error;
    return made;
  }
  if (guest_ != nullptr && !guest_->Error().empty()) {
    d.error = guest_->Error();
    return made;
  }
  if (found_unfit != nullptr) *found_unfit = answer.outcome == IncrementalScheduler::Answer::Outcome::kUnfit;
  if (answer.outcome != IncrementalScheduler::Answer::Outcome::kPlaced) {
    made.reset();
    return made;
  }
  d.outcome = Decision::Outcome::kPlaced;
  d.host = answer.host;
  d.feasible = answer.feasible;
  d.ties = guests_ties != 0 ? guests_ties : answer.ties;
  if (answer.feasible == 1 && config_.release->scores_single_node) ++last_node_index_;
  timing_ = {filtered - start, Now() - filtered};
  return made;
}

std::string DifferenceOf(const Decision* incremental, const Decision& reference) {
  auto described = [](const Decision& d) {
    switch (d.outcome) {
      case Decision::Outcome::kPlaced:
        return absl::StrCat("places it on node ", d.host.string(), " (", d.feasible, " nodes fit, ", d.ties,
                            " share the best score",
                            d.evaluated == 0 ? "" : absl::StrCat(" after a look at ", d.evaluated), ")");
      case Decision::Outcome::kUnfit:
        return std::string("finds no node where it fits");
      case Decision::Outcome::kNoNodes:
      case Decision::Outcome::kError:
        break;
    }
    return absl::StrCat("reports the error \"", d.error, "\"");
  };
  Decision unfit;
  unfit.outcome = Decision::Outcome::kUnfit;
  const Decision& d = incremental != nullptr ? *incremental : unfit;
  // With a single feasible node there is nothing to choose, and the number of ties means nothing.
  const bool same = d.outcome == reference.outcome &&
                    (d.outcome != Decision::Outcome::kPlaced ||
                     (d.host == reference.host && d.feasible == reference.feasible &&
                      d.evaluated == reference.evaluated && (d.feasible == 1 || d.ties == reference.ties)));
  if (same) return {};
  return absl::StrCat("the incremental scheduler ", described(d), "; the reference scheduler ", described(reference));
}

Decision GenericScheduler::Schedule(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace) {
  BERTH_REQUIRES(mode != DecisionMode::kIncremental || trace == nullptr);
  Decision d;
  timing_ = {};
  d.nodes = cache_->node_count();
  if (config_.release->checks_claims_first) d.SetError(ClaimProblem(*pod, cache_->listers()));
  if (!d.error.empty()) return d;
  if (d.nodes == 0) {
    d.outcome = Decision::Outcome::kNoNodes;
    d.error = kNoNodes;
    return d;
  }
  ++cycle_;
  if (guest_ != nullptr) {
    guest_->Begin();
    return DecideAmongAll(pod, mode, trace);
  }
  if (config_.batch) return ScheduleInBatch(pod, mode, trace);
  return ScheduleWithoutBatch(pod, mode, trace);
}

Decision GenericScheduler::DecideAmongAll(const api::PodPtr& pod, DecisionMode mode, DecisionTrace* trace) {
  std::optional<SampledWalk> walk;
  if (config_.sampler != nullptr && !NamesNodes(*pod)) walk = config_.sampler->NextWalk(config_.enough_nodes);
  // Predicates are not called in their order for what is kept between decisions. A sampler may go in an order that only
  // it knows, or among few nodes.
  const bool by_reference = config_.always_in_order || (config_.sampler != nullptr && !walk);
  SampledWalk* const sampled = walk ? &*walk : nullptr;
  if (mode == DecisionMode::kBoth && !by_reference) return ScheduleBothWays(pod, sampled, trace);
  ExtenderRound round;
  if (by_reference) return ScheduleByReference(pod, &round, trace);
  if (trace == nullptr && guest_ == nullptr && (mode == DecisionMode::kIncremental || parts_->wants_totals)) {
    const absl::Duration start = Now();
    if (std::optional<Decision> failed = parts_->failures.Again(pod)) {
      timing_.predicates = Now() - start;
      return std::move(*failed);
    }
  }
  bool fits_nowhere = false;
  if (mode == DecisionMode::kIncremental) {
    if (config_.sampler == nullptr && guest_ == nullptr && config_.extenders.empty() &&
        parts_->incremental.ExpectsUnfit(pod)) {
      const absl::Duration start = Now();
      if (std::optional<Decision> unfit = parts_->FindUnfit(*cache_, config_, pod)) {
        timing_.predicates = Now() - start;
        return std::move(*unfit);
      }
    }
    if (std::optional<Decision> made = ScheduleIncrementally(pod, &round, sampled, &fits_nowhere)) {
      if (walk && walk->walked) config_.sampler->Made(*walk);
      return std::move(*made);
    }
    fits_nowhere = fits_nowhere && walk && walk->walked && walk->found == 0;
  }
  return ScheduleByReference(pod, &round, trace, fits_nowhere);
}

namespace {

// Returns whether the two decisions say the same about a pod that fits nowhere.
bool FailsAlike(const Decision& a, const Decision& b) {
  return a.outcome == b.outcome && a.error == b.error && a.rejected_by == b.rejected_by;
}

}  // namespace

// Both decisions start from the same round-robin counter and use the same answers of extenders, so that they differ
// only if the schedulers do.
Decision GenericScheduler::ScheduleBothWays(const api::PodPtr& pod, SampledWalk* walk, DecisionTrace* trace) {
  const uint64_t turn = last_node_index_;
  bool found_unfit = false;
  ExtenderRound round;
  std::optional<Decision> kept;
  if (trace == nullptr && guest_ == nullptr) kept = parts_->failures.AgainUnnoted(pod);
  const std::optional<Decision> incremental = ScheduleIncrementally(pod, &round, walk, &found_unfit);
  if (!round.error.empty()) {  // an extender failed, and is not called again in this attempt
    if (walk != nullptr && walk->walked) config_.sampler->Made(*walk);
    return *incremental;
  }
  last_node_index_ = turn;  // both must choose the same one of several best nodes
  const ScoredRows scored = std::exchange(parts_->scored, {});
  Decision d = ScheduleByReference(pod, &round, trace);
  if (incremental || found_unfit) d.difference = DifferenceOf(incremental ? &*incremental : nullptr, d);
  if (kept && d.difference.empty() && !FailsAlike(*kept, d)) {
    d.difference = absl::StrCat("what is kept of another pod says \"", kept->error, "\"; the reference scheduler \"",
                                d.error.empty() ? "it fits" : d.error, "\"");
  }
  if (d.difference.empty() && incremental && !SameOrder(scored, parts_->scored)) {
    d.difference = "the incremental scheduler leaves the other nodes in another order for the pods that are alike";
  }
  return d;
}

void GenericScheduler::Parts::SayUnfit(const Release& release, const std::shared_ptr<NodeFailures>& why,
                                       Decision* d) const {
  d->outcome = Decision::Outcome::kUnfit;
  d->failures = why;
  d->error = release.fit_error_text(*why, d->nodes, nullptr);
  d->rejected_by = why->Rules();
}

// Makes the decision that ScheduleByReference would make after the incremental scheduler has found no node, so that
// nodes are gone through once and not twice.
std::optional<Decision> GenericScheduler::Parts::FindUnfit(Cache& cache, const AlgorithmConfig& config,
                                                           const api::PodPtr& pod) {
  BERTH_REQUIRES(config.extenders.empty());
  Decision d;
  d.nodes = cache.node_count();
  filtering.FindNominated(*pod);
  const PodContext ctx{*pod, *cache.Info(*pod), cache};
  Checks checks = filtering.PrepareActive(ctx);
  if (filtering.RejectPod(checks, &d, nullptr)) return d;
  const Filtered filtered = filtering.All(pod, checks);
  if (!filtered.feasible.empty() || !filtered.errors.empty()) return std::nullopt;
  SayUnfit(*config.release, filtering.Explain(*pod, checks, filtered, nullptr), &d);
  failures.Keep(pod, checks, filtered, d);
  incremental.NoteUnfit(pod);
  return d;
}

// Decides by calling every rule for every node. Failures are built only if they are read: for a trace, and when no node
// fits. `fits_nowhere`: it is known already that the walk of the sampler finds no node, so that it goes through all.
Decision GenericScheduler::ScheduleByReference(const api::PodPtr& pod, ExtenderRound* round, DecisionTrace* trace,
                                               bool fits_nowhere) {
  Decision d;
  d.nodes = cache_->node_count();
  const absl::Duration start = Now();
  PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = parts_->filtering.PrepareActive(ctx);
  if (parts_->filtering.RejectPod(checks, &d, trace)) return d;
  Filtered filtered = config_.sampler == nullptr || fits_nowhere ? parts_->filtering.All(pod, checks)
                                                                 : parts_->filtering.Sample(pod, checks);
  if (fits_nowhere) {
    filtered.evaluated = d.nodes;
    config_.sampler->MadeInVain();
  }
  d.evaluated = filtered.evaluated;
  if (!filtered.errors.empty()) {
    d.SetError(parts_->filtering.ErrorOf(filtered.errors));
    return d;
  }
  std::vector<Guest::Rejected> rejected;
  if (!AskGuest(pod, &filtered.feasible, &rejected, &d)) return d;
  const size_t fitting = filtered.feasible.size();
  if (!parts_->extenders.Filter(*pod, &filtered.feasible, round)) {
    d.error = round->error;
    return d;
  }
  const Symbol extender(kExtenderRule);
  std::shared_ptr<NodeFailures> failures;
  if (trace != nullptr || filtered.feasible.empty()) {
    failures = parts_->filtering.Explain(*pod, checks, filtered, trace);
    for (const auto& [row, rule] : rejected) {
      const Symbol text = Symbol::InternBriefly(absl::StrCat("node(s) didn't pass ", util::ToAbsl(rule.str())));
      failures->Add(cache_->row(row).name, {{text, false, {}, rule}});
    }
    for (const auto& [node, text] : round->unresolvable)
      failures->Add(node, {{Symbol::InternBriefly(text), true, {}, extender}});
    for (const auto& [node, text] : round->failed)
      failures->Add(node, {{Symbol::InternBriefly(text), false, {}, extender}});
  }
  const absl::Duration scoring = Now();
  timing_.predicates = scoring - start;
  d.feasible = filtered.feasible.size();
  d.failures = failures;
  if (trace != nullptr) trace->failures = failures;
  if (filtered.feasible.empty()) {
    parts_->SayUnfit(*config_.release, failures, &d);
    // An extender may drop nodes without a reason.
    if (fitting > 0 && std::find(d.rejected_by.begin(), d.rejected_by.end(), extender) == d.rejected_by.end()) {
      d.rejected_by.push_back(extender);
    }
    if (trace == nullptr && guest_ == nullptr && fitting == 0 && (config_.sampler == nullptr || fits_nowhere)) {
      parts_->failures.Keep(pod, checks, filtered, d);
    }
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

// Predicates about topology domains, volumes and anything else are not called, because a change of other objects may
// change what they return.
bool GenericScheduler::PassesNodePredicates(const api::Pod& pod, Symbol node) const {
  const Row row = cache_->FindRow(node);
  if (row == kNoRow) return true;
  const PodContext ctx{pod, *cache_->Info(pod), *cache_};
  return std::all_of(config_.predicates.begin(), config_.predicates.end(), [&](const ConfiguredPredicate& p) {
    if (p.traits.cluster != ClusterPart::kNode && p.traits.cluster != ClusterPart::kNodePods) return true;
    return p.predicate(ctx)->Check(row) != Verdict::kFails;
  });
}

bool GenericScheduler::MayHelp(Symbol rule, const api::Pod& pod, const ClusterEvent& event) const {
  const auto hint = config_.hints.find(rule);
  return hint == config_.hints.end() || hint->second(pod, event);
}

// ---- scoring ------------------------------------------------------------------------------------

// Returns the weighted sum of all scores for each row. Without priorities and extenders every node gets 1, as in 1.10.
absl::StatusOr<std::vector<int64_t>> GenericScheduler::Prioritize(const api::PodPtr& pod, const PodContext& ctx,
                                                                  const std::vector<Row>& rows, DecisionTrace* trace) {
  std::vector<int64_t> totals, scores;
  BERTH_RETURN_IF_ERROR(AddScores(pod, ctx, rows, trace, &totals, &scores));
  return totals;
}

// Writes the totals of the rows; `of_rule` is memory for the scores of one rule.
absl::Status GenericScheduler::AddScores(const api::PodPtr& pod, const PodContext& ctx, const std::vector<Row>& rows,
                                         DecisionTrace* trace, std::vector<int64_t>* into,
                                         std::vector<int64_t>* of_rule) const {
  if (config_.priorities.empty() && config_.extenders.empty()) {
    into->assign(rows.size(), 1);
    return absl::OkStatus();
  }
  into->assign(rows.size(), 0);
  of_rule->assign(rows.size(), 0);
  const std::span<int64_t> totals(*into), scores(*of_rule);
  std::vector<std::string> errors;
  bool a_row_failed = false;
  for (const ConfiguredPriority& p : config_.priorities) {
    std::unique_ptr<Scoring> scoring = p.function(ctx);
    if (scoring->Skips(rows)) continue;
    absl::Status status = scoring->Map(rows, scores);
    if (status.ok()) status = scoring->Reduce(rows, scores);
    if (!status.ok()) {
      std::string text = util::Message(status);
      if (config_.release->error_text != nullptr) {
        text = config_.release->error_text(Release::Step::kScore, *pod, p.name, text);
      }
      // 1.10 maps the nodes one by one, stops at the first error of a node, and reports the error of each node.
      if (scoring->OnePass()) {
        errors.push_back(std::move(text));
      } else if (!a_row_failed) {
        errors.insert(errors.end(), rows.size(), text);
        a_row_failed = true;
      }
      if (config_.release->reports_first_error_only) break;
      continue;
    }
    util::RunLoops([&]() BERTH_LOOPS {
      int64_t* const sums = into->data();
      const int64_t* const of = of_rule->data();
      const size_t size = rows.size();
      const int64_t weight = p.weight;
      if (weight == 1) {
        for (size_t i = 0; i < size; ++i) sums[i] += of[i];
      } else {
        for (size_t i = 0; i < size; ++i) sums[i] += of[i] * weight;
      }
    });
    if (trace != nullptr) trace->priorities.push_back({p.name, p.weight, *of_rule});
  }
  if (!errors.empty()) {
    return util::InvalidArgument(errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]"));
  }
  if (!config_.extenders.empty()) parts_->extenders.AddScores(*pod, rows, totals);
  return absl::OkStatus();
}

// Puts the rows with the best total into the order of Cache::in_order() and lets the round-robin counter choose among
// them. A sample of a release that numbers nodes as it walks them is in the right order already. REQUIRES: there is at
// least one.
Row GenericScheduler::ChooseAmongTies(std::vector<Row>* ties, DecisionTrace* trace) {
  BERTH_REQUIRES(!ties->empty());
  auto before = [&](Row a, Row b) { return cache_->Rank(a) < cache_->Rank(b); };
  const auto chosen = ties->begin() + static_cast<ptrdiff_t>(last_node_index_ % ties->size());
  if (config_.sampler == nullptr || config_.release->cache.order == NodeOrder::kNameDescending) {
    if (trace != nullptr) {
      std::sort(ties->begin(), ties->end(), before);
    } else {
      std::nth_element(ties->begin(), chosen, ties->end(), before);
    }
  }
  if (trace != nullptr) {
    for (Row r : *ties) trace->tied.push_back(cache_->row(r).name);
    trace->ties = ties->size();
    trace->order = config_.release->cache.order;
    trace->round_robin = last_node_index_;
  }
  ++last_node_index_;
  return *chosen;
}

// Scores the rows and returns the name of one with the best total. A single row is not scored and does not advance the
// counter, unless the release scores it like several. A trace has the nodes in ascending order of names, so the rows
// are sorted for it.
absl::StatusOr<Symbol> GenericScheduler::SelectHost(const api::PodPtr& pod, const PodContext& ctx,
                                                    const std::vector<Row>& rows, DecisionTrace* trace,
                                                    size_t* ties_out) {
  *ties_out = 1;
  std::vector<size_t> by_name;  // indexes in `rows`
  if (trace != nullptr) {
    for (size_t i = 0; i < rows.size(); ++i) by_name.push_back(i);
    auto name = [&](size_t i) { return cache_->row(rows[i]).name.str(); };
    std::sort(by_name.begin(), by_name.end(), [&](size_t a, size_t b) { return name(a) < name(b); });
    for (size_t i : by_name) trace->feasible.push_back(cache_->row(rows[i]).name);
  }
  if (rows.size() == 1 && !config_.release->scores_single_node) return cache_->row(rows[0]).name;
  absl::StatusOr<std::vector<int64_t>> totals = Prioritize(pod, ctx, rows, trace);
  if (!totals.ok()) return totals.status();
  size_t guests_ties = 0;
  std::vector<int64_t> by_rules;  // what the trace shows
  if (GuestChooses()) {
    by_rules = *totals;
    if (!LetGuestChoose(pod, rows, std::span<int64_t>(*totals), &guests_ties)) {
      return util::InvalidArgument(guest_->Error());
    }
  }
  const int64_t best = *std::max_element(totals->begin(), totals->end());
  std::vector<Row> ties;
  for (size_t i = 0; i < rows.size(); ++i) {
    if ((*totals)[i] == best) ties.push_back(rows[i]);
  }
  if (parts_->wants_totals) parts_->NoteScored(*cache_, rows, *totals);
  *ties_out = guests_ties != 0 ? guests_ties : ties.size();
  if (!by_rules.empty()) *totals = std::move(by_rules);
  if (trace != nullptr) {
    for (auto& p : trace->priorities) {
      const std::vector<int64_t> scores = p.scores;
      for (size_t i = 0; i < by_name.size(); ++i) p.scores[i] = scores[by_name[i]];
    }
    trace->totals.clear();
    for (size_t i : by_name) trace->totals.push_back((*totals)[i]);
  }
  return cache_->row(ChooseAmongTies(&ties, trace)).name;
}

}  // namespace berth::scheduler
