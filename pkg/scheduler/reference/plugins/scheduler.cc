// One scheduling cycle in the order of 1.29's extension points: PreEnqueue (WhyNotAttempted), PreFilter, Filter,
// PreScore, Score with normalisation, selection, Reserve (Assume). PostFilter is in preemption.cc.
#include "pkg/scheduler/reference/plugins/scheduler.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <functional>

#include "pkg/scheduler/reference/plugins/attempt.h"
#include "pkg/scheduler/reference/plugins/volume_binding.h"
#include "pkg/util/status.h"

namespace berth::scheduler::reference::plugins {

using configuration::ExtensionPoint;
using configuration::ResolvedProfile;

std::string Status::Message() const {
  return absl::StrJoin(reasons, ", ");
}

std::unique_ptr<Plugin> MakePlugin(std::string_view name, const ResolvedProfile& p) {
  if (name == "NodeUnschedulable") return MakeNodeUnschedulable();
  if (name == "NodeName") return MakeNodeName();
  if (name == "TaintToleration") return MakeTaintToleration();
  if (name == "NodeAffinity") return MakeNodeAffinity(p.Args<configuration::NodeAffinityArgs>(name));
  if (name == "NodePorts") return MakeNodePorts();
  if (name == "ImageLocality") return MakeImageLocality();
  if (name == "NodeResourcesFit") return MakeNodeResourcesFit(p.Args<configuration::NodeResourcesFitArgs>(name));
  if (name == "NodeResourcesBalancedAllocation") {
    return MakeBalancedAllocation(p.Args<configuration::NodeResourcesBalancedAllocationArgs>(name));
  }
  if (name == "PodTopologySpread") return MakePodTopologySpread(p.Args<configuration::PodTopologySpreadArgs>(name));
  if (name == "InterPodAffinity") return MakeInterPodAffinity(p.Args<configuration::InterPodAffinityArgs>(name));
  if (name == "VolumeRestrictions") return MakeVolumeRestrictions();
  if (name == "VolumeZone") return MakeVolumeZone();
  if (name == "VolumeBinding") return MakeVolumeBinding();
  if (name == "NodeVolumeLimits") return MakeCsiLimits();
  return MakeInTreeLimits(name);
}

// ---- Filtering ------------------------------------------------------------------------------------

Status ActivePlugins::Filter(const Cycle& cycle, const NodeInfo& info) const {
  for (const Entry& e : filters) {
    if (e.skipped) continue;
    Status status;
    if (!e.pre_filtered && !e.plugin->NeedsPreFilter().empty()) {
      status = Status::Error(std::string(e.plugin->NeedsPreFilter()));
    } else {
      status = e.plugin->Filter(cycle, info);
    }
    if (status.ok()) continue;
    status.plugin = e.name;
    if (!status.rejected()) {
      status.reasons = {absl::StrCat("running ", api::GoQuoted(e.name), " filter plugin: ", status.Message())};
    }
    return status;
  }
  return {};
}
// As in 1.29, only plugins whose PreFilter has run and did not skip the pod are called.
void ActivePlugins::PodAdded(const Cycle& cycle, const api::Pod& q, const NodeInfo& info) const {
  for (const Entry& e : filters) {
    if (!e.skipped && e.pre_filtered) e.plugin->PodAdded(cycle, q, info);
  }
}
void ActivePlugins::PodRemoved(const Cycle& cycle, const api::Pod& q, const NodeInfo& info) const {
  for (const Entry& e : filters) {
    if (!e.skipped && e.pre_filtered) e.plugin->PodRemoved(cycle, q, info);
  }
}

std::string FitErrorText(size_t nodes, const std::map<std::string, Status>& failures, const std::string& pre_filter) {
  std::string text = absl::StrCat("0/", nodes, " nodes are available:");
  if (!pre_filter.empty()) return absl::StrCat(text, " ", pre_filter, ".");
  std::map<std::string, int> counts;
  for (const auto& [node, status] : failures) {
    for (const std::string& reason : status.reasons) ++counts[reason];
  }
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(absl::StrCat(count, " ", reason));
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? text : absl::StrCat(text, " ", absl::StrJoin(parts, ", "), ".");
}

const ResolvedProfile* Scheduler::ProfileOf(const api::Pod& pod) const {
  for (const ResolvedProfile& p : profiles_) {
    if (p.scheduler_name == pod.tmpl->scheduler_name.str()) return &p;
  }
  return nullptr;
}

std::string Scheduler::WhyNotAttempted(const api::Pod& pod) const {
  const ResolvedProfile* profile = ProfileOf(pod);
  if (profile == nullptr) return "no profile";
  const auto& gates = pod.tmpl->scheduling_gates;
  if (gates.empty() || !profile->Has(ExtensionPoint::kPreEnqueue, "SchedulingGates")) return {};
  return absl::StrCat("waiting for scheduling gates: [",
                      absl::StrJoin(gates, " ", [](std::string* out, Symbol g) { out->append(g.str()); }), "]");
}

void Scheduler::AddNominated(const api::PodPtr& pod) {
  if (!pod->nominated_node_name.empty() && WhyNotAttempted(*pod).empty()) nominated_.push_back(pod);
}

Decision Scheduler::ScheduleOne(const api::PodPtr& pod, bool preempt) {
  Decision refused;
  refused.not_attempted = WhyNotAttempted(*pod);
  if (!refused.not_attempted.empty()) return refused;
  const ResolvedProfile* profile = ProfileOf(*pod);
  Attempt attempt{pod, Cycle{*world_, *profile, *pod}, {}, {}, {}};
  Decide(&attempt);
  if (!attempt.decision.host.empty()) {
    Assume(attempt);
  } else if (preempt && attempt.decision.unschedulable &&
             profile->Has(ExtensionPoint::kPostFilter, "DefaultPreemption")) {
    Preempt(&attempt);
  }
  return std::move(attempt.decision);
}

void Scheduler::Decide(Attempt* a) {
  Decision& d = a->decision;
  if (world_->nodes().empty()) {
    d.error = "no nodes available to schedule pods";
    return;
  }
  std::optional<std::set<Symbol>> names;
  Status status = PreFilter(a, &names);
  if (!status.ok()) {
    d.unschedulable = status.rejected();
    d.error = status.Message();
    if (!status.rejected()) return;
    for (const NodeInfo* info : world_->nodes()) d.failures[info->node().meta.name] = status;
    d.error = FitErrorText(world_->nodes().size(), {}, status.Message());
    return;
  }
  // The nominated node is tried first. If the pod fits there, no other node is looked at.
  Symbol nominated = a->pod->nominated_node_name;
  if (const NodeInfo* info = nominated.empty() ? nullptr : world_->Find(nominated)) Filter(a, {info});
  d.error.clear();  // 1.29 only logs an error on the nominated node
  if (a->feasible.empty()) {
    Nodes nodes;
    for (const NodeInfo* info : world_->nodes()) {
      if (!names || names->contains(info->name())) nodes.push_back(info);
    }
    Filter(a, nodes);
  }
  if (!d.error.empty()) return;
  for (const NodeInfo* info : a->feasible) d.feasible.push_back(info->node().meta.name);
  if (a->feasible.empty()) {
    d.unschedulable = true;
    d.error = FitErrorText(world_->nodes().size(), d.failures, {});
  } else if (a->feasible.size() == 1) {
    d.host = d.feasible[0];
  } else {
    Score(a);
    if (d.error.empty()) Select(a);
  }
}

// Runs PreFilter of each plugin and intersects the sets of nodes that plugins name. `names` stays empty when no plugin
// names any.
Status Scheduler::PreFilter(Attempt* a, std::optional<std::set<Symbol>>* names) {
  const ResolvedProfile& profile = a->cycle.profile;
  for (const auto& p : profile.at(ExtensionPoint::kFilter)) {
    a->active.filters.push_back({p.name, MakePlugin(p.name, profile)});
  }
  std::vector<std::string> producers;
  for (const auto& p : profile.at(ExtensionPoint::kPreFilter)) {
    auto entry = std::find_if(a->active.filters.begin(), a->active.filters.end(),
                              [&](const auto& e) { return e.name == p.name; });
    std::shared_ptr<Plugin> plugin =
        entry == a->active.filters.end() ? std::shared_ptr<Plugin>(MakePlugin(p.name, profile)) : entry->plugin;
    std::optional<std::set<Symbol>> here;
    Status status = plugin->PreFilter(a->cycle, &here);
    status.plugin = p.name;
    if (entry != a->active.filters.end()) {
      entry->pre_filtered = true;
      entry->skipped = status.skip();
    }
    if (status.skip()) continue;
    if (!status.ok()) {
      if (!status.rejected()) {
        status.reasons = {absl::StrCat("running PreFilter plugin ", api::GoQuoted(p.name), ": ", status.Message())};
      }
      return status;
    }
    if (!here) continue;
    producers.push_back(p.name);
    if (names->has_value()) std::erase_if(*here, [&](Symbol n) { return !(*names)->contains(n); });
    *names = std::move(here);
    if (!(*names)->empty()) continue;
    return Status::Unschedulable(
        producers.size() == 1
            ? absl::StrCat("node(s) didn't satisfy plugin ", producers[0])
            : absl::StrCat("node(s) didn't satisfy plugin(s) [", absl::StrJoin(producers, " "), "] simultaneously"));
  }
  return {};
}

// Adds the nodes that fit to Attempt::feasible, and the failures of the others to the decision. Of several errors the
// first one is reported.
void Scheduler::Filter(Attempt* a, const Nodes& nodes) {
  for (const NodeInfo* info : nodes) {
    Status status = FilterWithNominated(*a, *info);
    if (status.ok()) {
      a->feasible.push_back(info);
    } else if (status.rejected()) {
      a->decision.failures[info->node().meta.name] = std::move(status);
    } else if (a->decision.error.empty()) {
      a->decision.error = status.Message();
    }
  }
}

// The pod must fit beside the pods nominated to the node whose priority is not lower, and also without them, because
// they may never arrive.
Status Scheduler::FilterWithNominated(const Attempt& a, const NodeInfo& info) const {
  std::optional<NodeInfo> with;
  ActivePlugins active;
  for (const api::PodPtr& q : nominated_) {
    if (q->nominated_node_name != info.name() || q->Priority() < a.pod->Priority() || q->meta.uid == a.pod->meta.uid) {
      continue;
    }
    if (!with) {
      with = info;
      active = a.active.Copy();
    }
    with->Add(q);
    active.PodAdded(a.cycle, *q, *with);
  }
  if (with) {
    Status status = active.Filter(a.cycle, *with);
    if (!status.ok()) return status;
  }
  return a.active.Filter(a.cycle, info);
}

// ---- Scoring --------------------------------------------------------------------------------------

// Without Score plugins every node gets 1. A plugin is used for scoring without PreScore if the profile has it only at
// Score; some plugins then fail (NeedsPreScore).
void Scheduler::Score(Attempt* a) {
  Decision& d = a->decision;
  const ResolvedProfile& profile = a->cycle.profile;
  d.totals.assign(d.feasible.size(), profile.at(ExtensionPoint::kScore).empty() ? 1 : 0);
  struct Scorer {
    std::shared_ptr<Plugin> plugin;
    bool skipped = false;
  };
  std::map<std::string, Scorer> ready;
  for (const auto& p : profile.at(ExtensionPoint::kPreScore)) {
    Scorer& s = ready[p.name];
    s.plugin = MakePlugin(p.name, profile);
    Status status = s.plugin->PreScore(a->cycle, a->feasible);
    s.skipped = status.skip();
    if (status.ok() || status.skip()) continue;
    d.error = absl::StrCat("running PreScore plugin ", api::GoQuoted(p.name), ": ", status.Message());
    return;
  }
  for (const auto& p : profile.at(ExtensionPoint::kScore)) {
    auto it = ready.find(p.name);
    if (it != ready.end() && it->second.skipped) continue;
    std::shared_ptr<Plugin> plugin = it != ready.end() ? it->second.plugin : MakePlugin(p.name, profile);
    auto fail = [&](std::string_view what) {
      d.error =
          absl::StrCat("running Score plugins: plugin ", api::GoQuoted(p.name), " failed with: ", util::ToAbsl(what));
    };
    if (it == ready.end() && !plugin->NeedsPreScore().empty()) return fail(plugin->NeedsPreScore());
    std::vector<int64_t> scores(a->feasible.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      Status status = plugin->Score(a->cycle, *a->feasible[i], &scores[i]);
      if (!status.ok()) return fail(status.Message());
    }
    plugin->Normalize(a->feasible, &scores);
    for (size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] < 0 || scores[i] > 100) {
        d.error = absl::StrCat("applying score defaultWeights on Score plugins: plugin ", api::GoQuoted(p.name),
                               " returns an invalid score ", scores[i],
                               ", it should in the range of [0, 100] after normalizing");
        return;
      }
      d.totals[i] += scores[i] * p.weight;
    }
    d.scores.emplace_back(p.name, std::move(scores));
  }
}

// Breaks ties as release 1.10 does; 1.29 chooses at random.
void Scheduler::Select(Attempt* a) {
  Decision& d = a->decision;
  int64_t best = *std::max_element(d.totals.begin(), d.totals.end());
  for (size_t i = 0; i < d.feasible.size(); ++i) {
    if (d.totals[i] == best) d.ties.push_back(d.feasible[i]);
  }
  std::sort(d.ties.begin(), d.ties.end(), std::greater<>());
  d.host = d.ties[last_node_index_++ % d.ties.size()];
}

void Scheduler::Assume(const Attempt& a) {
  std::erase_if(nominated_, [&](const api::PodPtr& q) { return q->meta.uid == a.pod->meta.uid; });
  Symbol host(a.decision.host);
  if (a.cycle.profile.Has(ExtensionPoint::kReserve, "VolumeBinding")) {
    AssumeVolumes(world_, *a.pod, world_->Find(host)->node());
  }
  auto placed = std::make_shared<api::Pod>(*a.pod);
  placed->node_name = host;
  world_->AddPod(placed);
}

}  // namespace berth::scheduler::reference::plugins
