// The plugin DefaultPreemption: which pods to evict when a pod fits nowhere.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>

#include "pkg/scheduler/reference/plugins/attempt.h"

namespace berth::scheduler::reference::plugins {
namespace {

// Returns when the pod started, in seconds of Unix time. Pods without a start time count as started after all others,
// and at the same time.
int64_t StartOf(const api::Pod& pod) {
  return pod.start_seconds.value_or(std::numeric_limits<int64_t>::max());
}
bool MoreImportant(const api::PodPtr& a, const api::PodPtr& b) {
  if (a->Priority() != b->Priority()) return a->Priority() > b->Priority();
  return StartOf(*a) < StartOf(*b);
}

// Divides victims, in order of importance, into those whose eviction violates a budget and the others. A pod uses up
// one disruption of every budget that matches it, even when another budget is violated.
void PartByBudgets(const World& world, const std::vector<api::PodPtr>& victims, std::vector<api::PodPtr>* violating,
                   std::vector<api::PodPtr>* others) {
  std::map<const api::PodDisruptionBudget*, int64_t> left;
  world.budgets.ForEach(
      [&](const std::shared_ptr<const api::PodDisruptionBudget>& b) { left[b.get()] = b->disruptions_allowed; });
  for (const api::PodPtr& pod : victims) {
    bool forbidden = false;
    for (auto& [budget, allowed] : left) {
      if (pod->tmpl->labels.empty() || budget->meta.ns != pod->tmpl->ns || !budget->selector.ok() ||
          budget->selector.selector.Empty() || !budget->selector.selector.Matches(pod->tmpl->labels)) {
        continue;
      }
      const auto& gone = budget->disrupted_pods;
      if (std::binary_search(gone.begin(), gone.end(), pod->meta.name)) continue;
      if (--allowed < 0) forbidden = true;
    }
    (forbidden ? violating : others)->push_back(pod);
  }
}

}  // namespace

struct Scheduler::Candidate {
  const NodeInfo* info = nullptr;
  std::vector<api::PodPtr> victims;  // the most important first
  int64_t violations = 0;

  // Returns what 1.29 compares between candidates, in this order; the smallest is best.
  std::tuple<int64_t, int64_t, int64_t, size_t, int64_t> Rank() const {
    int64_t sum = 0, earliest = std::numeric_limits<int64_t>::max();
    int32_t highest = std::numeric_limits<int32_t>::min();
    for (const api::PodPtr& v : victims) {
      sum += int64_t{v->Priority()} + (int64_t{1} << 31);
      highest = std::max(highest, v->Priority());
    }
    for (const api::PodPtr& v : victims) {
      if (v->Priority() == highest) earliest = std::min(earliest, StartOf(*v));
    }
    return {violations, victims[0]->Priority(), sum, victims.size(), -earliest};
  }
};

std::string Scheduler::WhyNotEligible(const Attempt& a) const {
  if (a.pod->tmpl->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  Symbol nominated = a.pod->nominated_node_name;
  if (nominated.empty()) return {};
  auto failed = a.decision.failures.find(nominated.string());
  if (failed != a.decision.failures.end() && failed->second.code == Status::Code::kUnschedulableAndUnresolvable) {
    return {};
  }
  const NodeInfo* info = world_->Find(nominated);
  if (info == nullptr) return {};
  bool leaving = std::any_of(info->pods().begin(), info->pods().end(), [&](const api::PodPtr& q) {
    return q->Priority() < a.pod->Priority() && q->meta.deleting() && q->preempted_by_scheduler;
  });
  return leaving ? "not eligible due to a terminating pod on the nominated node." : "";
}

Status Scheduler::DryRun(const Attempt& a, const NodeInfo& real, Candidate* candidate) const {
  // The evictions are simulated on copies of the node and of the plugins.
  Attempt copy{a.pod, a.cycle, {}, a.active.Copy(), {}};
  NodeInfo info = real;
  auto remove = [&](const api::PodPtr& q) {
    info.Remove(q->meta.uid);
    copy.active.PodRemoved(a.cycle, *q, info);
  };
  auto add = [&](const api::PodPtr& q) {
    info.Add(q);
    copy.active.PodAdded(a.cycle, *q, info);
  };
  std::vector<api::PodPtr> potential;
  for (const api::PodPtr& q : real.pods()) {
    if (q->Priority() < a.pod->Priority()) potential.push_back(q);
  }
  if (potential.empty()) return Status::Unresolvable("No preemption victims found for incoming pod");
  for (const api::PodPtr& q : potential) remove(q);
  if (Status status = FilterWithNominated(copy, info); !status.ok()) return status;

  std::stable_sort(potential.begin(), potential.end(), MoreImportant);
  std::vector<api::PodPtr> violating, others;
  PartByBudgets(*world_, potential, &violating, &others);
  auto reprieve = [&](const api::PodPtr& q) {
    add(q);
    if (FilterWithNominated(copy, info).ok()) return true;
    remove(q);
    candidate->victims.push_back(q);
    return false;
  };
  for (const api::PodPtr& q : violating) candidate->violations += reprieve(q) ? 0 : 1;
  for (const api::PodPtr& q : others) reprieve(q);
  if (candidate->victims.empty()) {
    return Status::Error(
        absl::StrCat("expected at least one victim pod on node ", api::GoQuoted(real.node().meta.name)));
  }
  if (!violating.empty() && !others.empty()) {
    std::stable_sort(candidate->victims.begin(), candidate->victims.end(), MoreImportant);
  }
  candidate->info = &real;
  return {};
}

void Scheduler::Preempt(Attempt* a) {
  Decision& d = a->decision;
  d.preemption.emplace();
  if (std::string reason = WhyNotEligible(*a); !reason.empty()) {
    d.preemption_error = "preemption: " + reason;
    return;
  }
  std::map<std::string, Status> statuses;
  std::vector<Candidate> candidates;
  std::string error;
  for (const NodeInfo* info : world_->nodes()) {
    auto failed = d.failures.find(info->node().meta.name);
    if (failed == d.failures.end() || failed->second.code != Status::Code::kUnschedulable) {
      statuses[info->node().meta.name] = Status::Unresolvable("Preemption is not helpful for scheduling");
      continue;
    }
    Candidate candidate;
    Status status = DryRun(*a, *info, &candidate);
    if (status.ok()) {
      candidates.push_back(std::move(candidate));
    } else if (status.rejected()) {
      statuses[info->node().meta.name] = std::move(status);
    } else if (error.empty()) {
      error = status.Message();
    }
  }
  if (candidates.empty()) {
    d.preemption_error = "preemption: " + (error.empty() ? FitErrorText(statuses.size(), statuses, {}) : error);
    return;
  }
  auto best = std::min_element(candidates.begin(), candidates.end(),
                               [](const Candidate& x, const Candidate& y) { return x.Rank() < y.Rank(); });
  for (const Candidate& c : candidates) {
    if (c.Rank() != best->Rank()) continue;
    Preemption& p = d.preemption_one_of.emplace_back();
    p.node = c.info->node().meta.name;
    for (const api::PodPtr& v : c.victims) p.victims.push_back(v->meta.Key());
    for (const api::PodPtr& q : nominated_) {
      if (q->nominated_node_name == c.info->name() && q->Priority() < a->pod->Priority()) {
        p.nominated_to_clear.push_back(q->meta.Key());
      }
    }
  }
  d.preemption = d.preemption_one_of[0];
}

}  // namespace berth::scheduler::reference::plugins
