// Preemption as releases 1.19 and 1.29 do it (plugin DefaultPreemption), except that every node is looked at and not
// only a sample of the candidates. PreemptionByImportance says how they differ.
//
// Like in 1.10 all pods of lower priority are removed and given back as long as the pod fits. Unlike in 1.10, pods of
// equal priority are ordered by their start, each victim uses up its disruption budgets, and extenders may change the
// victims. What makes preemption.cc fast makes this fast, too: amounts instead of simulations where nothing else
// matters, and what a trial on a row came to is kept until the row changes.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <map>

#include "pkg/api/decode.h"
#include "pkg/scheduler/core/freed_amounts.h"
#include "pkg/scheduler/core/preemptor.h"
#include "pkg/util/contract.h"
#include "pkg/util/log_line.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
constexpr std::string_view kNoCandidate = "no candidate node for preemption";
constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";

// Returns when the pod started, in seconds of Unix time. Pods without a start time count as started after all others,
// and at the same time.
int64_t StartOf(const api::Pod& pod) {
  return pod.start_seconds.value_or(std::numeric_limits<int64_t>::max());
}
// Of two pods, the one with the higher priority is more important; with equal priorities, the one that started earlier.
bool MoreImportant(const PlacedPod& a, const PlacedPod& b) {
  if (a.info->priority != b.info->priority) return a.info->priority > b.info->priority;
  return StartOf(*a.pod) < StartOf(*b.pod);
}

// Moves the pods whose eviction violates a budget to the front and returns their number; the order within both parts
// stays. A pod uses up one disruption of every budget that matches it, even when another budget is violated.
size_t PartByBudgets(const Listers& listers, std::vector<PlacedPod>* victims) {
  if (listers.budgets.empty()) return 0;
  std::map<const api::PodDisruptionBudget*, int64_t> left;
  auto forbidden = [&](const PlacedPod& p) {
    const api::PodTemplate& t = *p.info->tmpl;
    if (t.labels.empty()) return false;
    bool out = false;
    for (const auto& budget : listers.budgets.Matching(t.ns, t.labels)) {
      if (!budget->selector.ok() || budget->selector.selector.Empty()) continue;
      const auto& gone = budget->disrupted_pods;
      if (std::binary_search(gone.begin(), gone.end(), p.pod->meta.name)) continue;
      int64_t& allowed = left.try_emplace(budget.get(), budget->disruptions_allowed).first->second;
      if (--allowed < 0) out = true;
    }
    return out;
  };
  std::vector<PlacedPod> violating, others;
  for (PlacedPod& p : *victims) {
    const bool forbids = forbidden(p);
    (forbids ? violating : others).push_back(std::move(p));
  }
  const size_t n = violating.size();
  *victims = std::move(violating);
  victims->insert(victims->end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return n;
}

bool Unresolvable(const std::vector<FailureReason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(), [](const FailureReason& r) { return r.unresolvable; });
}

// Returns why the pod must not preempt now, or an empty text when it may.
std::string WhyNotEligible(const Cache& cache, const api::Pod& pod, const NodeFailures& failures, bool any_leaving) {
  if (pod.tmpl->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  if (pod.nominated_node_name.empty()) return {};
  const auto* reasons = failures.Find(pod.nominated_node_name);
  if (reasons != nullptr && Unresolvable(*reasons)) return {};
  const Row row = cache.FindRow(pod.nominated_node_name);
  if (row == kNoRow || !cache.listed().Has(row)) return {};
  const auto& pods = cache.row(row).pods;
  const bool leaving = std::any_of(pods.begin(), pods.end(), [&](const PlacedPod& p) {
    return p.info->priority < pod.Priority() && p.pod->meta.deleting() &&
           (any_leaving || p.pod->preempted_by_scheduler);
  });
  return leaving ? "not eligible due to a terminating pod on the nominated node." : "";
}

// Returns what the simulation finds if no pod anywhere has a lower priority: a status for each of the `nodes` of the
// cluster, of which nobody needs to know the name.
NodeFailures WithoutVictims(const NodeFailures& failures, size_t nodes) {
  int64_t resolvable = 0;
  failures.ForEachList([&](const std::vector<FailureReason>& reasons, int64_t n) {
    if (!Unresolvable(reasons)) resolvable += n;
  });
  NodeFailures statuses;
  statuses.CountUnnamed({{Symbol(kNoVictims), true}}, resolvable);
  statuses.CountUnnamed({{Symbol(kNotHelpful), true}}, static_cast<int64_t>(nodes) - resolvable);
  return statuses;
}

}  // namespace

// A node where evictions make the pod fit.
struct Preemptor::Candidate {
  Row row = kNoRow;
  std::vector<PlacedPod> victims;  // the most important first, unless an extender or budgets decide the order
  int64_t violations = 0;

  // Upstream crashes when one of several candidates has no victims (fixed).
  Preemptor::Rank Rank() const {
    if (victims.empty()) return {violations, std::numeric_limits<int64_t>::min(), 0, 0, 0};
    int64_t sum = 0, earliest = std::numeric_limits<int64_t>::max();
    int32_t highest = std::numeric_limits<int32_t>::min();
    for (const PlacedPod& v : victims) {
      sum += int64_t{v.info->priority} + (int64_t{1} << 31);
      highest = std::max(highest, v.info->priority);
    }
    for (const PlacedPod& v : victims) {
      if (v.info->priority == highest) earliest = std::min(earliest, StartOf(*v.pod));
    }
    return {violations, victims[0].info->priority, sum, victims.size(), -earliest};
  }
};

// Takes all pods of lower priority from the row and gives back as many as fit, the most important first: by amounts, or
// in a simulation where these do not decide or do not suffice. Returns true and fills in the candidate, or returns
// false with the reasons or an error. `changed` says whether the row has changed since the pod was found to fit
// nowhere.
bool Preemptor::DryRun(const api::Pod& pod, Checks& checks, Row row, bool changed, Candidate* candidate,
                       Why* why) const {
  const PreemptionByImportance& style = config_->release->by_importance;
  std::vector<PlacedPod> potential;
  FreedAmounts freed;
  for (const PlacedPod& p : cache_->row(row).pods) {
    if (p.info->priority >= pod.Priority()) continue;
    potential.push_back(p);
    freed.Add(p.info->used, +1);
  }
  if (potential.empty() && !(changed && style.takes_nodes_without_victims)) {
    why->reasons.push_back({Symbol(kNoVictims), true});
    return false;
  }
  size_t violating = 0;
  const auto give_back = [&](auto fits_with) {
    std::stable_sort(potential.begin(), potential.end(), MoreImportant);
    violating = PartByBudgets(cache_->listers(), &potential);
    for (size_t i = 0; i < potential.size(); ++i) {
      if (fits_with(potential[i])) continue;
      candidate->victims.push_back(potential[i]);
      if (i < violating) ++candidate->violations;
    }
  };
  const std::optional<FreedNeed> need = NeedOf(pod, checks, row);
  if (need && need->possible && freed.Covers(*need)) {
    give_back([&](const PlacedPod& p) {
      freed.Add(p.info->used, -1);
      if (freed.Covers(*need)) return true;
      freed.Add(p.info->used, +1);
      return false;
    });
  } else {
    Cache::Simulation simulation(cache_, row);
    for (const PlacedPod& p : potential) simulation.Remove(p);
    if (filtering_->CheckRowWithNominated(pod, checks, row, false, why) != Verdict::kFits) return false;
    give_back([&](const PlacedPod& p) {
      simulation.Restore(p);
      if (filtering_->CheckRowWithNominated(pod, checks, row, false, nullptr) == Verdict::kFits) return true;
      simulation.Remove(p);
      return false;
    });
  }
  candidate->row = row;
  if (candidate->victims.empty()) {
    if (style.takes_nodes_without_victims) return true;
    why->error = "expected at least one victim pod on node " + api::GoQuoted(cache_->row(row).name.str());
    return false;
  }
  if (violating > 0 && violating < potential.size() && !style.violating_victims_first) {
    std::stable_sort(candidate->victims.begin(), candidate->victims.end(), MoreImportant);
  }
  return true;
}

// Returns what a DryRun comes to, without the victims.
Preemptor::Trial Preemptor::Try(const api::Pod& pod, Checks& checks, Row row, bool changed) const {
  Candidate candidate;
  Why why;
  if (DryRun(pod, checks, row, changed, &candidate, &why)) return {.fits = true, .rank = candidate.Rank()};
  if (!why.error.empty()) return {.error = std::move(why.error.text)};
  util::SymbolKeeper keeper;
  for (const FailureReason& r : why.reasons) {
    keeper.Keep(r.text);
    keeper.Keep(r.kind);
  }
  return {.reasons = std::move(why.reasons), .texts = keeper.Take()};
}

// Tries all rows that have a resolvable failure.
Preemptor::Trials Preemptor::TryAll(const api::Pod& pod, Checks& checks, const NodeFailures& failures,
                                    uint64_t decided_at) {
  auto* const kept = RowsDecideVictims(checks) ? &trials_.For(pod, *cache_) : nullptr;
  const bool any_nominated = nominated_ != nullptr && !nominated_->empty();
  Trials out;
  const std::vector<Row>& rows = cache_->by_name_descending();
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    const NodeRow& r = cache_->row(*it);
    const auto* reasons = failures.Find(r.name);
    if (reasons == nullptr || Unresolvable(*reasons)) continue;
    const bool changed = r.generation > decided_at;
    if (kept == nullptr || changed || (any_nominated && !nominated_->For(r.name).empty())) {
      out.of_rows.emplace_back(*it, &out.not_kept.emplace_back(Try(pod, checks, *it, changed)));
      continue;
    }
    auto& known = kept->rows[*it];
    if (known.generation != r.generation) {
      known.cost = Try(pod, checks, *it, /*changed=*/false);
      known.generation = r.generation;
    }
    out.of_rows.emplace_back(*it, &*known.cost);
  }
  return out;
}

// Returns a status for each node, and the first error of a trial. REQUIRES: evictions help on no node.
NodeFailures Preemptor::StatusesOf(const Trials& trials, std::string* error) const {
  NodeFailures statuses;
  auto next = trials.of_rows.begin();
  const std::vector<Row>& rows = cache_->by_name_descending();
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    const bool tried = next != trials.of_rows.end() && next->first == *it;
    const Trial* const trial = tried ? (next++)->second : nullptr;
    if (trial == nullptr) {
      statuses.AddNew(cache_->row(*it).name, {{Symbol(kNotHelpful), true}});
    } else if (!trial->error.empty()) {
      if (error->empty()) *error = trial->error;
    } else {
      statuses.AddNew(cache_->row(*it).name, trial->reasons);
    }
  }
  return statuses;
}

// Returns the best candidate or, when extenders have a say, all of them.
std::vector<Preemptor::Candidate> Preemptor::Candidates(const api::Pod& pod, Checks& checks, const Trials& trials,
                                                        uint64_t decided_at) const {
  std::vector<Row> rows;
  const bool all = std::any_of(config_->extenders.begin(), config_->extenders.end(),
                               [&](const auto& e) { return e->SupportsPreemption() && e->IsInterested(pod); });
  const Trial* best = nullptr;
  for (const auto& [row, trial] : trials.of_rows) {
    if (!trial->fits) continue;
    if (!all && best != nullptr && !(trial->rank < best->rank)) continue;
    if (!all) rows.clear();
    rows.push_back(row);
    best = trial;
  }
  std::vector<Candidate> candidates;
  for (Row row : rows) {
    Why unused;
    const bool changed = cache_->row(row).generation > decided_at;
    const bool fits = DryRun(pod, checks, row, changed, &candidates.emplace_back(), &unused);
    BERTH_REQUIRES(fits);
  }
  return candidates;
}

// Replaces the candidates by those in an extender's answer. Returns what is wrong with the answer, or an empty text.
std::string Preemptor::TakeAgreed(const Extender& extender, const std::vector<Extender::AgreedEviction>& agreed,
                                  std::vector<Candidate>* candidates) const {
  candidates->clear();
  for (const Extender::AgreedEviction& e : agreed) {
    Candidate candidate;
    candidate.row = cache_->FindRow(e.node);
    candidate.violations = e.violations;
    if (candidate.row == kNoRow || !cache_->listed().Has(candidate.row)) {
      return "nodeinfo not found for node name " + api::GoQuoted(e.node.str());
    }
    const std::vector<PlacedPod>& pods = cache_->row(candidate.row).pods;
    for (const std::string& uid : e.uids) {
      auto has_uid = [&](const PlacedPod& p) { return p.pod->meta.uid == uid; };
      const auto found = std::find_if(pods.begin(), pods.end(), has_uid);
      if (found == pods.end()) {
        return absl::StrCat("extender: ", extender.name(), " claims to preempt pod (UID: ", uid,
                            ") on node: ", e.node.string(), ", but the pod is not found on that node");
      }
      // The answer may name a pod twice; it is evicted once.
      if (std::none_of(candidate.victims.begin(), candidate.victims.end(), has_uid)) {
        candidate.victims.push_back(*found);
      }
    }
    if (!candidate.victims.empty()) {
      candidates->push_back(std::move(candidate));
    } else if (!extender.IsIgnorable()) {
      return "expected at least one victim pod on node " + api::GoQuoted(e.node.str());
    }
  }
  return {};
}

// Lets each extender that supports preemption drop candidates and change their victims. Returns an error, or an empty
// text. The answer of an ignorable extender is not used when it is wrong.
std::string Preemptor::AskExtendersToPreempt(const api::Pod& pod, std::vector<Candidate>* candidates) const {
  for (const auto& extender : config_->extenders) {
    if (candidates->empty()) break;
    if (!extender->SupportsPreemption() || !extender->IsInterested(pod)) continue;
    std::vector<Extender::Eviction> evictions;
    for (const Candidate& c : *candidates) {
      Extender::Eviction& e = evictions.emplace_back();
      e.node = cache_->row(c.row).name;
      e.violations = c.violations;
      for (const PlacedPod& v : c.victims) e.victims.push_back(v.pod);
    }
    const auto agreed = extender->ProcessPreemption(pod, evictions);
    std::vector<Candidate> taken;
    const std::string mistake = agreed.ok() ? TakeAgreed(*extender, *agreed, &taken) : util::Message(agreed.status());
    if (mistake.empty()) {
      *candidates = std::move(taken);
    } else if (extender->IsIgnorable()) {
      util::LogLine("Skipping extender as it returned error and has ignorable flag set")
          .Add("extender", extender->name())
          .AddObject("pod", pod.meta.ns.str(), pod.meta.name)
          .Warning(mistake);
    } else {
      return mistake;
    }
  }
  return {};
}

// Simulates on every node that has a resolvable failure, lets extenders have a say, and takes the best candidate. If no
// node is left, the error lists why, in the form of a FitError.
Preemption Preemptor::PreemptByImportance(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at) {
  Preemption out;
  const PreemptionByImportance& style = config_->release->by_importance;
  if (const std::string reason = WhyNotEligible(*cache_, *pod, failures, style.waits_for_any_leaving_pod);
      !reason.empty()) {
    out.outcome = Preemption::Outcome::kNotEligible;
    if (style.says_why_not) out.error = "preemption: " + reason;
    return out;
  }
  const std::vector<Row>& rows = cache_->by_name_descending();
  const auto helps_nowhere = [&](const NodeFailures& statuses) {
    out.outcome = Preemption::Outcome::kHelpsNowhere;
    if (style.says_why_not) {
      out.error = "preemption: " + config_->release->fit_error_text(statuses, rows.size(), nullptr);
    }
    return out;
  };
  if (cache_->least_priority() >= pod->Priority()) return helps_nowhere(WithoutVictims(failures, rows.size()));
  const PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = filtering_->PrepareActive(ctx);
  const Trials trials = TryAll(*pod, checks, failures, decided_at);
  std::vector<Candidate> candidates = Candidates(*pod, checks, trials, decided_at);
  if (candidates.empty()) {
    std::string error;
    const NodeFailures statuses = StatusesOf(trials, &error);
    if (error.empty()) return helps_nowhere(statuses);
    out.outcome = Preemption::Outcome::kFailed;
    if (style.says_why_not) out.error = "preemption: " + error;
    return out;
  }
  if (style.asks_extenders) out.error = AskExtendersToPreempt(*pod, &candidates);
  if (out.error.empty() && candidates.empty()) out.error = kNoCandidate;
  if (!out.error.empty()) {
    out.outcome = Preemption::Outcome::kFailed;
    out.error = "preemption: " + out.error;
    return out;
  }
  const auto best = std::min_element(candidates.begin(), candidates.end(),
                                     [](const Candidate& a, const Candidate& b) { return a.Rank() < b.Rank(); });
  out.outcome = Preemption::Outcome::kChosen;
  out.node = cache_->row(best->row).name;
  for (const PlacedPod& v : best->victims) out.victims.push_back(v.pod);
  if (nominated_ == nullptr) return out;
  for (const api::PodPtr& p : nominated_->For(out.node)) {
    if (p->Priority() < pod->Priority()) out.nominated_to_clear.push_back(p);
  }
  return out;
}

}  // namespace berth::scheduler
