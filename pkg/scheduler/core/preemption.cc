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
bool ViolatesBudget(const Listers& listers, const api::Pod& pod) {
  if (pod.tmpl->labels.empty()) return false;
  for (const auto& [name, budget] : listers.budgets.In(pod.meta.ns)) {
    const api::DecidedSelector& s = budget->selector;
    if (!budget->has_selector || !s.ok() || s.selector.Empty() || !s.selector.Matches(pod.tmpl->labels)) continue;
    if (budget->disruptions_allowed <= 0) return true;
  }
  return false;
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

bool GenericScheduler::SelectVictims(const api::Pod& pod, Checks& checks, Row row, Victims* out) const {
  Cache::Simulation simulation(cache_, row);
  std::vector<PlacedPod> potential;
  for (const PlacedPod& p : cache_->row(row).pods) {
    if (p.pod->Priority() < pod.Priority()) potential.push_back(p);
  }
  for (const PlacedPod& p : potential) simulation.Remove(p);
  std::stable_sort(potential.begin(), potential.end(),
                   [](const PlacedPod& a, const PlacedPod& b) { return a.pod->Priority() > b.pod->Priority(); });
  auto fits = [&] { return CheckRowWithNominated(pod, checks, row, false, nullptr, nullptr) == Verdict::kFits; };
  if (!fits()) return false;
  auto others = std::stable_partition(potential.begin(), potential.end(),
                                      [&](const PlacedPod& p) { return ViolatesBudget(cache_->listers(), *p.pod); });
  for (auto it = potential.begin(); it != potential.end(); ++it) {
    simulation.Restore(*it);
    if (fits()) continue;
    simulation.Remove(*it);
    out->pods.push_back(it->pod);
    if (it < others) ++out->budget_violations;
  }
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
    Victims victims;
  };
  std::vector<Option> options;
  for (Row row : candidates) {
    Victims v;
    if (!SelectVictims(*pod, checks, row, &v)) continue;
    // A node that needs no victim at all wins at once.
    Cost cost{v.pods.empty() ? -1 : v.budget_violations, std::numeric_limits<int32_t>::min(), 0, v.pods.size()};
    if (!v.pods.empty()) cost.first_priority = v.pods[0]->Priority();
    for (const api::PodPtr& p : v.pods) cost.priority_sum += int64_t{p->Priority()} + (int64_t{1} << 31);
    options.push_back({row, cost, std::move(v)});
  }
  std::stable_sort(options.begin(), options.end(), [](const Option& a, const Option& b) { return a.cost < b.cost; });
  for (Option& option : options) {
    if (!config_.extenders.empty() && !ExtendersAgree(*pod, option.row)) continue;
    out.node = cache_->row(option.row).name;
    out.victims = std::move(option.victims.pods);
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
