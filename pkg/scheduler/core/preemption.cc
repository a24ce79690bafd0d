// Preemption as release 1.10 does it (core.genericScheduler.Preempt): finds a node where the pod fits once pods of
// lower priority are evicted.
//
// On each candidate node, all pods of lower priority are left out. If the pod then fits, they are given back one by one
// as long as it still fits, first those whose eviction violates a disruption budget, then by descending priority. The
// pods that cannot be given back are the victims. The node with the lowest VictimCost wins.
//
// Three things make this fast on large clusters. Where only amounts matter, victims are found by adding and subtracting
// instead of simulating (SelectVictimsByAmounts). Where only the row matters, costs are kept by template and row until
// the row changes (CostsByRow). And only costs are kept for all nodes: the victims are found again for the node that
// wins.
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include "pkg/scheduler/core/freed_amounts.h"
#include "pkg/scheduler/core/preemptor.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// Returns whether a pod of lower priority on the pod's nominated node is still terminating. Then the pod waits for it
// and does not preempt again.
bool StillMakingRoom(const Cache& cache, const api::Pod& pod) {
  if (pod.nominated_node_name.empty()) return false;
  Row r = cache.FindRow(pod.nominated_node_name);
  if (r == kNoRow) return false;
  const auto& pods = cache.row(r).pods;
  return std::any_of(pods.begin(), pods.end(),
                     [&](const PlacedPod& p) { return p.pod->meta.deleting() && p.pod->Priority() < pod.Priority(); });
}

// Returns whether no node need be looked at, and sets what comes of it.
bool EndsEarly(const Cache& cache, const api::Pod& pod, Preemption* out) {
  if (StillMakingRoom(cache, pod)) {
    VLOG(5) << "Pod " << pod.meta.name << " is not eligible for more preemption.";
    return true;
  }
  if (cache.node_count() > 0) return false;
  out->outcome = Preemption::Outcome::kFailed;
  out->error = "no nodes available to schedule pods";
  return true;
}

// Returns whether evicting a pod of the template violates a budget. As in 1.10, each pod is compared with the number of
// disruptions that the budget allows now, not with what earlier victims leave of it.
bool ViolatesBudget(const Listers& listers, TemplateInfo* info) {
  if (info->budgets_version == listers.budgets.version()) return info->violates_budget;
  info->budgets_version = listers.budgets.version();
  info->violates_budget = false;
  if (info->tmpl->labels.empty()) return false;
  for (const auto& budget : listers.budgets.Matching(info->tmpl->ns, info->tmpl->labels)) {
    info->violates_budget |= budget->disruptions_allowed <= 0;
  }
  return info->violates_budget;
}

// The pods of lower priority on a row in the order in which they are given back: first the `violating` pods whose
// eviction violates a budget, then the others, both by descending priority.
struct Potential {
  std::vector<const PlacedPod*> pods;
  size_t violating = 0;

  // Replaces the contents. Keeps the memory, because this is called for every candidate node.
  void Collect(const NodeRow& row, const api::Pod& pod, const Listers& listers, bool counts_budgets) {
    pods.clear();
    violating = 0;
    int32_t limit = pod.Priority();
    for (const PlacedPod& p : row.pods) {
      if (p.info->priority < limit) pods.push_back(&p);
    }
    auto more_important = [](const PlacedPod* a, const PlacedPod* b) { return a->info->priority > b->info->priority; };
    if (!std::is_sorted(pods.begin(), pods.end(), more_important)) {
      std::stable_sort(pods.begin(), pods.end(), more_important);
    }
    if (listers.budgets.empty() || !counts_budgets) return;
    auto violates = [&](const PlacedPod* p) { return ViolatesBudget(listers, p->info); };
    if (std::any_of(pods.begin(), pods.end(), violates)) {
      violating = static_cast<size_t>(std::stable_partition(pods.begin(), pods.end(), violates) - pods.begin());
    }
  }
};

// A node with the pods to evict from it.
struct Proposal {
  Row row = kNoRow;
  std::vector<const PlacedPod*> victims;

  // Returns what is compared between proposals; the smallest is best. The violations of budgets do not count, because
  // 1.13 drops them from the answers of extenders.
  std::tuple<int, int32_t, int64_t, size_t> Rank() const {
    if (victims.empty()) return {-1, std::numeric_limits<int32_t>::min(), 0, 0};
    int64_t sum = 0;
    for (const PlacedPod* v : victims) sum += int64_t{v->pod->Priority()} + (int64_t{1} << 31);
    return {0, victims[0]->pod->Priority(), sum, victims.size()};
  }
};
using Extenders = std::vector<std::unique_ptr<Extender>>;

// Returns the pods of lower priority that are nominated to the node.
std::vector<api::PodPtr> LessImportant(const NominatedPods* nominated, Symbol node, const api::Pod& pod) {
  std::vector<api::PodPtr> out;
  if (nominated == nullptr) return out;
  for (const api::PodPtr& p : nominated->For(node)) {
    if (p->Priority() < pod.Priority()) out.push_back(p);
  }
  return out;
}

// Returns whether an extender has a say in which pods are evicted for the pod.
bool AnyHasSay(const Extenders& extenders, const api::Pod& pod) {
  return std::any_of(extenders.begin(), extenders.end(),
                     [&](const auto& e) { return e->SupportsPreemption() && e->IsInterested(pod); });
}

// Replaces the proposals by those that the extender accepts. Returns what is wrong with its answer, or an empty text.
// 1.13 crashes when the answer names a node that does not exist (fixed).
std::string TakeAccepted(const Extender& extender, const std::vector<Extender::AgreedEviction>& agreed,
                         const Cache& cache, std::vector<Proposal>* proposals) {
  proposals->clear();
  for (const Extender::AgreedEviction& e : agreed) {
    Proposal p;
    p.row = cache.FindRow(e.node);
    if (p.row == kNoRow || !cache.listed().Has(p.row)) return absl::StrCat("unknown node ", e.node.string());
    const std::vector<PlacedPod>& pods = cache.row(p.row).pods;
    for (const std::string& uid : e.uids) {
      const auto found =
          std::find_if(pods.begin(), pods.end(), [&](const PlacedPod& one) { return one.pod->meta.uid == uid; });
      if (found == pods.end()) {
        return absl::StrCat("extender: ", extender.name(), " claims to preempt pod (UID: ", uid,
                            ") on node: ", e.node.string(), ", but the pod is not found on that node");
      }
      // The answer may name a pod twice; it is evicted once.
      if (std::find(p.victims.begin(), p.victims.end(), &*found) == p.victims.end()) p.victims.push_back(&*found);
    }
    proposals->push_back(std::move(p));
  }
  return {};
}

// Lets each extender that has a say drop nodes and change their victims, as 1.13 does. Returns an error, or an empty
// text. The answer of an ignorable extender is not used when it is wrong.
std::string AskAboutVictims(const Extenders& extenders, const api::Pod& pod, const Cache& cache,
                            std::vector<Proposal>* proposals) {
  for (const auto& extender : extenders) {
    if (proposals->empty()) break;
    if (!extender->SupportsPreemption() || !extender->IsInterested(pod)) continue;
    std::vector<Extender::Eviction> evictions;
    for (const Proposal& p : *proposals) {
      Extender::Eviction& e = evictions.emplace_back();
      e.node = cache.row(p.row).name;
      for (const PlacedPod* v : p.victims) e.victims.push_back(v->pod);
    }
    const auto agreed = extender->ProcessPreemption(pod, evictions);
    std::vector<Proposal> taken;
    const std::string mistake =
        agreed.ok() ? TakeAccepted(*extender, *agreed, cache, &taken) : util::Message(agreed.status());
    if (mistake.empty()) {
      *proposals = std::move(taken);
    } else if (extender->IsIgnorable()) {
      LOG(WARNING) << "Skipping extender " << extender->name() << " as it returned error " << mistake
                   << " and has ignorable flag set";
    } else {
      return mistake;
    }
  }
  return {};
}

// Returns the best of the proposals that all extenders accept; without a row if there is none, or an error.
Proposal BestForAll(const Extenders& extenders, const api::Pod& pod, const Cache& cache,
                    std::vector<Proposal> proposals, std::string* error) {
  *error = AskAboutVictims(extenders, pod, cache, &proposals);
  if (!error->empty() || proposals.empty()) return {};
  return *std::min_element(proposals.begin(), proposals.end(),
                           [](const Proposal& a, const Proposal& b) { return a.Rank() < b.Rank(); });
}

}  // namespace

// Returns how much must be given back on the row before the pod fits there, or nothing when something else than amounts
// matters. Each check says its part (FitCheck::NeedsFreed), so that no check is called again while pods are given back.
std::optional<FreedNeed> Preemptor::NeedOf(const api::Pod& pod, Checks& checks, Row row) const {
  const NodeRow& r = cache_->row(row);
  if (r.saturated || (nominated_ != nullptr && !nominated_->empty() && filtering_->HasNominated(pod, r.name))) {
    return std::nullopt;
  }
  FreedNeed need;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    const ConfiguredPredicate& rule = *checks.rules[i];
    const bool unchangeable = rule.parts.empty() && rule.traits.cluster == ClusterPart::kNode;
    need.And(unchangeable ? checks.list[i]->Unchangeable(row) : checks.list[i]->NeedsFreed(row));
  }
  if (!need.known) return std::nullopt;
  return need;
}

// SelectVictims by adding and subtracting amounts. Returns nothing when something else than amounts matters.
std::optional<bool> Preemptor::SelectVictimsByAmounts(const api::Pod& pod, Checks& checks, Row row,
                                                      Victims* out) const {
  const std::optional<FreedNeed> known = NeedOf(pod, checks, row);
  if (!known) return std::nullopt;
  const FreedNeed& need = *known;
  if (!need.possible) return false;
  thread_local Potential potential;
  potential.Collect(cache_->row(row), pod, cache_->listers(), config_->release->counts_budgets);
  FreedAmounts freed;
  for (const PlacedPod* p : potential.pods) freed.Add(p->info->used, +1);
  if (!freed.Covers(need)) return false;
  for (size_t i = 0; i < potential.pods.size(); ++i) {
    freed.Add(potential.pods[i]->info->used, -1);
    if (freed.Covers(need)) continue;
    freed.Add(potential.pods[i]->info->used, +1);
    out->pods.push_back(potential.pods[i]);
    if (i < potential.violating) ++out->budget_violations;
  }
  return true;
}

// Finds the pods to evict from the row. Returns false when the pod does not fit even without all pods of lower
// priority.
bool Preemptor::SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const {
  if (std::optional<bool> found = SelectVictimsByAmounts(pod, checks, row, out)) return *found;
  *out = {};
  // The simulation changes the order of the row's pods and restores it at the end. So victims are remembered by their
  // place in the list, and pointers are taken after the simulation.
  std::vector<PlacedPod> before = cache_->row(row).pods;
  std::vector<size_t> victims;
  {
    Potential potential;
    potential.Collect(cache_->row(row), pod, cache_->listers(), config_->release->counts_budgets);
    std::vector<size_t> order;
    for (const PlacedPod* p : potential.pods) order.push_back(static_cast<size_t>(p - cache_->row(row).pods.data()));
    Cache::Simulation simulation(cache_, row);
    for (const PlacedPod& p : before) {
      if (p.pod->Priority() < pod.Priority()) simulation.Remove(p);
    }
    auto fits = [&] { return filtering_->CheckRowWithNominated(pod, checks, row, false, nullptr) == Verdict::kFits; };
    if (!fits()) return false;
    for (size_t i = 0; i < order.size(); ++i) {
      simulation.Restore(before[order[i]]);
      if (fits()) continue;
      simulation.Remove(before[order[i]]);
      victims.push_back(order[i]);
      if (i < potential.violating) ++out->budget_violations;
    }
  }
  for (size_t v : victims) out->pods.push_back(&cache_->row(row).pods[v]);
  return true;
}

// Returns whether every extender accepts the node for the pod. Extenders of 1.10 receive no information about simulated
// evictions.
bool Preemptor::ExtendersAgree(const api::Pod& pod, Row row) const {
  std::vector<api::NodePtr> nodes = {cache_->row(row).node};
  for (const auto& extender : config_->extenders) {
    auto result = extender->Filter(pod, nodes);
    if (!result.ok()) {
      LOG(WARNING) << "Extender " << extender->name() << " could not evaluate a preemption for pod " << pod.meta.Key()
                   << ": " << result.status().message();
      return false;
    }
    Symbol name = cache_->row(row).name;
    bool kept = std::find(result->nodes.begin(), result->nodes.end(), name) != result->nodes.end();
    bool failed =
        std::any_of(result->failed.begin(), result->failed.end(), [&](const auto& f) { return f.first == name; });
    if (!kept || failed) return false;
  }
  return true;
}

// Returns the rows of the nodes that evictions may help on, in ascending order of names: those without an unresolvable
// reason.
std::vector<Row> Preemptor::PreemptionCandidates(const NodeFailures& failures) const {
  RowSet hopeless;
  hopeless.Resize(cache_->row_count());
  const auto texts = config_->release->unresolvable_texts, others = config_->release->resolvable_texts;
  auto unresolvable = [&](const FailureReason& r) {
    if (std::find(others.begin(), others.end(), r.text.str()) != others.end()) return false;
    return r.unresolvable || std::find(texts.begin(), texts.end(), r.text.str()) != texts.end();
  };
  // Nodes share lists of reasons, and most have that of the node before them.
  const std::vector<FailureReason>* last = nullptr;
  bool last_is_hopeless = false;
  failures.ForEach([&](Symbol node, const std::vector<FailureReason>& reasons) {
    if (&reasons != last) {
      last = &reasons;
      last_is_hopeless = std::any_of(reasons.begin(), reasons.end(), unresolvable);
    }
    if (!last_is_hopeless) return;
    if (const Row row = cache_->FindRow(node); row != kNoRow) hopeless.Insert(row);
  });
  std::vector<Row> candidates;
  const std::vector<Row>& rows = cache_->by_name_descending();
  candidates.reserve(rows.size());
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    if (!hopeless.Has(*it)) candidates.push_back(*it);
  }
  return candidates;
}

// Returns whether the cost of evictions from a row follows from the row alone, so that it is valid until the row
// changes.
bool Preemptor::RowsDecideVictims(Checks& checks) const {
  const std::vector<Row>& rows = cache_->by_name_descending();
  for (size_t i = 0; i < checks.list.size(); ++i) {
    const ConfiguredPredicate& rule = *checks.rules[i];
    if (rule.parts.empty() && rule.traits.cluster == ClusterPart::kDomains) {
      // If a rule about topology domains returns a known need, evictions make no difference to it, and that holds on
      // every row. Otherwise what it says of a row also depends on pods on other rows.
      if (!checks.list[i]->NeedsFreed(rows[0]).known) return false;
    } else if (!filtering_->AmountsDecide(checks, i)) {
      return false;
    }
  }
  return true;
}

// Returns the cost of the victims on the row, or nothing when no evictions make the pod fit.
std::optional<Preemptor::VictimCost> Preemptor::CostOfVictims(const api::Pod& pod, Checks& checks, Row row) const {
  thread_local Victims v;
  v.pods.clear();
  v.budget_violations = 0;
  if (!SelectVictims(pod, checks, row, &v)) return std::nullopt;
  // A node that needs no victims is better than any other.
  VictimCost cost{v.pods.empty() ? -1 : v.budget_violations, std::numeric_limits<int32_t>::min(), 0, v.pods.size()};
  if (!v.pods.empty()) cost.first_priority = v.pods[0]->pod->Priority();
  for (const PlacedPod* p : v.pods) cost.priority_sum += int64_t{p->pod->Priority()} + (int64_t{1} << 31);
  return cost;
}

Preemption Preemptor::Preempt(const api::PodPtr& pod, const NodeFailures& failures, uint64_t decided_at) {
  const Release& release = *config_->release;
  if (!release.claims_plugin.empty()) return RunPostFilters(pod, failures, decided_at);
  if (release.preemption == PreemptionStyle::kByImportance) return PreemptByImportance(pod, failures, decided_at);
  return PreemptByCost(pod, failures);
}

// Extenders that are asked by their filter are called for the cheapest node first, and the first node that all of them
// accept is taken. Without them the nodes are not sorted.
Preemption Preemptor::PreemptByCost(const api::PodPtr& pod, const NodeFailures& failures) {
  Preemption out;
  if (EndsEarly(*cache_, *pod, &out)) return out;
  const std::vector<Row> candidates = PreemptionCandidates(failures);  // by name, ascending
  if (candidates.empty()) {
    VLOG(3) << "Preemption will not help schedule pod " << pod->meta.name << " on any node.";
    if (config_->release->counts_nominated) out.nominated_to_clear.push_back(pod);
    return out;
  }

  PodContext ctx{*pod, *cache_->Info(*pod), *cache_};
  Checks checks = filtering_->Prepare(ctx);
  struct Option {
    Row row;
    VictimCost cost;
  };
  std::vector<Option> options;
  auto* const kept = RowsDecideVictims(checks) ? &costs_.For(*pod, *cache_) : nullptr;
  const bool any_nominated = nominated_ != nullptr && !nominated_->empty();
  for (Row row : candidates) {
    const NodeRow& r = cache_->row(row);
    std::optional<VictimCost> cost;
    if (kept == nullptr || (any_nominated && !nominated_->For(r.name).empty())) {
      cost = CostOfVictims(*pod, checks, row);
    } else {
      auto& known = kept->rows[row];
      if (known.generation != r.generation) {
        known.cost = CostOfVictims(*pod, checks, row);
        known.generation = r.generation;
      }
      cost = known.cost;
    }
    if (cost) options.push_back({row, *cost});
  }
  const auto victims_on = [&](Row row) {
    Victims v;
    SelectVictims(*pod, checks, row, &v);
    return v.pods;
  };
  const auto choose = [&](Row row, const std::vector<const PlacedPod*>& victims) {
    out.outcome = Preemption::Outcome::kChosen;
    out.node = cache_->row(row).name;
    for (const PlacedPod* p : victims) out.victims.push_back(p->pod);
    out.nominated_to_clear = LessImportant(nominated_, out.node, *pod);
  };
  const bool asks_victims = config_->release->by_importance.asks_extenders;  // 1.10 asks extenders by their filter
  if (asks_victims && AnyHasSay(config_->extenders, *pod)) {
    std::vector<Proposal> proposals;
    for (const Option& option : options) proposals.push_back({option.row, victims_on(option.row)});
    const Proposal best = BestForAll(config_->extenders, *pod, *cache_, std::move(proposals), &out.error);
    if (!out.error.empty()) out.outcome = Preemption::Outcome::kFailed;
    if (best.row != kNoRow) choose(best.row, best.victims);
    return out;
  }
  const bool by_filter = !asks_victims && !config_->extenders.empty();
  const auto cheaper = [](const Option& a, const Option& b) { return a.cost < b.cost; };
  if (by_filter) {
    std::stable_sort(options.begin(), options.end(), cheaper);
  } else if (!options.empty()) {
    options = {*std::min_element(options.begin(), options.end(), cheaper)};
  }
  for (const Option& option : options) {
    if (by_filter && !ExtendersAgree(*pod, option.row)) continue;
    choose(option.row, victims_on(option.row));
    return out;
  }
  return out;
}

}  // namespace berth::scheduler
