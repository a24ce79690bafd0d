// Preemption (Kubernetes 1.10 core.genericScheduler.Preempt): evicting less important pods so that one fits.
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include <glog/logging.h>

#include "pkg/scheduler/core/checks.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// Waiting for victims of an earlier preemption to go.
bool StillMakingRoom(const Cache& cache, const api::Pod& pod) {
  if (pod.nominated_node_name.empty()) return false;
  Row r = cache.FindRow(pod.nominated_node_name);
  if (r == kNoRow) return false;
  const auto& pods = cache.row(r).pods;
  return std::any_of(pods.begin(), pods.end(),
                     [&](const PlacedPod& p) { return p.pod->meta.deleting() && p.pod->Priority() < pod.Priority(); });
}

// Would evicting the pod break a budget? Each pod is judged by the allowance as it stands (kept from 1.10).
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

// 1.10's criteria: fewest violations, lowest first victim, lowest sum of priorities, fewest victims; then by name.
// "First" is by position, not by importance (B-25, kept).
struct Cost {
  int64_t violations;
  int32_t first_priority;
  int64_t priority_sum;
  size_t victims;
  auto operator<=>(const Cost&) const = default;
};

}  // namespace

namespace {

// The less important pods of a row, in the order in which they may stay after all: those whose eviction would violate a
// budget first (`violating` of them), each part by descending priority.
struct Potential {
  std::vector<const PlacedPod*> pods;
  size_t violating = 0;

  // Forgets what it held, but not its memory.
  void Collect(const NodeRow& row, const api::Pod& pod, const Listers& listers) {
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
    if (listers.budgets.empty()) return;
    auto violates = [&](const PlacedPod* p) { return ViolatesBudget(listers, p->info); };
    if (std::any_of(pods.begin(), pods.end(), violates)) {
      violating = static_cast<size_t>(std::stable_partition(pods.begin(), pods.end(), violates) - pods.begin());
    }
  }
};

// What pods thought away give back.
struct Freed {
  int64_t milli_cpu = 0, memory = 0, nvidia_gpu = 0, ephemeral_storage = 0, pods = 0;

  void Add(const Resource& r, int64_t sign) {
    milli_cpu += sign * r.milli_cpu;
    memory += sign * r.memory;
    nvidia_gpu += sign * r.nvidia_gpu;
    ephemeral_storage += sign * r.ephemeral_storage;
    pods += sign;
  }
  bool Covers(const FreedNeed& n) const {
    return milli_cpu >= n.milli_cpu && memory >= n.memory && nvidia_gpu >= n.nvidia_gpu &&
           ephemeral_storage >= n.ephemeral_storage && pods >= n.pods;
  }
};

}  // namespace

// The same by adding and subtracting amounts, where nothing but amounts can make a difference; else nothing.
std::optional<bool> GenericScheduler::SelectVictimsByAmounts(const api::Pod& pod, Checks& checks, Row row,
                                                             Victims* out) const {
  const NodeRow& r = cache_->row(row);
  if (r.saturated || (nominated_ != nullptr && HasNominated(pod, r.name))) return std::nullopt;
  FreedNeed need;
  for (size_t i = 0; i < checks.list.size(); ++i) {
    const ConfiguredPredicate& rule = *checks.rules[i];
    const bool unchangeable = rule.parts.empty() && rule.traits.cluster == ClusterPart::kNode;
    need.And(unchangeable ? checks.list[i]->Unchangeable(row) : checks.list[i]->NeedsFreed(row));
  }
  if (!need.known) return std::nullopt;
  if (!need.possible) return false;
  thread_local Potential potential;
  potential.Collect(r, pod, cache_->listers());
  Freed freed;
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

bool GenericScheduler::SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const {
  if (std::optional<bool> found = SelectVictimsByAmounts(pod, checks, row, out)) return *found;
  *out = {};
  // The simulation moves the row's pods about; what is returned must point to where they stand when it is over.
  std::vector<PlacedPod> before = cache_->row(row).pods;
  std::vector<size_t> victims;
  {
    Potential potential;
    potential.Collect(cache_->row(row), pod, cache_->listers());
    std::vector<size_t> order;
    for (const PlacedPod* p : potential.pods) order.push_back(static_cast<size_t>(p - cache_->row(row).pods.data()));
    Cache::Simulation simulation(cache_, row);
    for (const PlacedPod& p : before) {
      if (p.pod->Priority() < pod.Priority()) simulation.Remove(p);
    }
    auto fits = [&] { return CheckRowWithNominated(pod, checks, row, false, nullptr) == Verdict::kFits; };
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

bool GenericScheduler::ExtendersAgree(const api::Pod& pod, Row row) const {
  std::vector<api::NodePtr> nodes = {cache_->row(row).node};
  for (const auto& extender : config_.extenders) {
    auto result = extender->Filter(pod, nodes);
    if (!result.ok()) {
      LOG(WARNING) << "Extender " << extender->name() << " could not judge a preemption for pod " << pod.meta.Key()
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

Preemption GenericScheduler::Preempt(const api::PodPtr& pod, const NodeFailures& failures) {
  if (config_.release->preemption == PreemptionStyle::kByImportance) return PreemptByImportance(pod, failures);
  Preemption out;
  if (StillMakingRoom(*cache_, *pod)) {
    VLOG(5) << "Pod " << pod->meta.name << " is not eligible for more preemption.";
    return out;
  }
  if (cache_->node_count() == 0) {
    out.error = "no nodes available to schedule pods";
    return out;
  }
  std::vector<Row> candidates;  // by name, ascending
  const std::vector<Row>& rows = cache_->by_name_descending();
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    const auto* reasons = failures.Find(cache_->row(*it).name);
    if (reasons == nullptr ||
        std::none_of(reasons->begin(), reasons->end(), [](const FailureReason& r) { return r.unresolvable; })) {
      candidates.push_back(*it);
    }
  }
  if (candidates.empty()) {
    VLOG(3) << "Preemption will not help schedule pod " << pod->meta.name << " on any node.";
    out.nominated_to_clear.push_back(pod);
    return out;
  }

  PodContext ctx{*pod, *cache_->Info(pod->tmpl), *cache_};
  Checks checks = Prepare(ctx);
  struct Option {
    Row row;
    Cost cost;
  };
  std::vector<Option> options;
  Victims v;
  for (Row row : candidates) {
    v.pods.clear();
    v.budget_violations = 0;
    if (!SelectVictims(*pod, checks, row, &v)) continue;
    // A node that needs no victim at all wins at once.
    Cost cost{v.pods.empty() ? -1 : v.budget_violations, std::numeric_limits<int32_t>::min(), 0, v.pods.size()};
    if (!v.pods.empty()) cost.first_priority = v.pods[0]->pod->Priority();
    for (const PlacedPod* p : v.pods) cost.priority_sum += int64_t{p->pod->Priority()} + (int64_t{1} << 31);
    options.push_back({row, cost});
  }
  std::stable_sort(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.cost < b.cost; });
  for (const Option& option : options) {
    if (!config_.extenders.empty() && !ExtendersAgree(*pod, option.row)) continue;
    v = {};
    SelectVictims(*pod, checks, option.row, &v);
    out.node = cache_->row(option.row).name;
    for (const PlacedPod* p : v.pods) out.victims.push_back(p->pod);
    if (nominated_ != nullptr) {
      for (const api::PodPtr& p : nominated_->For(out.node)) {
        if (p->Priority() < pod->Priority()) out.nominated_to_clear.push_back(p);
      }
    }
    break;
  }
  return out;
}

}  // namespace berth::scheduler
