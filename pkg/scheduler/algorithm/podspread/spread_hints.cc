// The queueing hint of the plugin PodTopologySpread. Source: isSchedulableAfterPodChange and
// isSchedulableAfterNodeChange in pkg/scheduler/framework/plugins/podtopologyspread/plugin.go (1.36).
#include <algorithm>
#include <vector>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/podspread/podspread.h"

namespace berth::scheduler::podspread {
namespace {

using Constraint = api::TopologySpreadConstraint;

std::vector<const Constraint*> HardConstraints(const api::PodTemplate& pod) {
  std::vector<const Constraint*> hard;
  for (const Constraint& c : pod.spread_constraints) {
    if (c.action == Constraint::Action::kDoNotSchedule) hard.push_back(&c);
  }
  return hard;
}

// Returns whether a pod with these labels counts for the constraint of the waiting pod.
bool IsCounted(const Constraint& c, const api::Pod& waiting, const api::Labels& labels) {
  if (!c.selector.ok() || !c.selector.selector.Matches(labels)) return false;
  return std::all_of(c.match_label_keys.begin(), c.match_label_keys.end(), [&](Symbol key) {
    const auto own = waiting.tmpl->labels.Get(key);
    return !own || labels.Get(key) == own;
  });
}

bool PodMayHelp(const std::vector<const Constraint*>& hard, const api::Pod& waiting, const ClusterEvent& e) {
  const auto *before = e.Before<api::Pod>(), *after = e.After<api::Pod>();
  if (before != nullptr && after != nullptr && after->meta.uid == waiting.meta.uid) {
    const bool honours =
        std::any_of(hard.begin(), hard.end(), [](const Constraint* c) { return c->honor_node_taints; });
    if (honours && before->tmpl->tolerations != after->tmpl->tolerations) return true;
  }
  if (!hints::HadPlace(*e.pod()) || e.pod()->meta.ns != waiting.meta.ns) return false;
  return std::any_of(hard.begin(), hard.end(), [&](const Constraint* c) {
    const bool was = before != nullptr && IsCounted(*c, waiting, before->tmpl->labels);
    const bool is = after != nullptr && IsCounted(*c, waiting, after->tmpl->labels);
    return was != is;
  });
}

bool NodeMayHelp(const std::vector<const Constraint*>& hard, const ClusterEvent& e) {
  const auto *before = e.Before<api::Node>(), *after = e.After<api::Node>();
  const auto counts = [&](const api::Node* node) {
    return node != nullptr && std::all_of(hard.begin(), hard.end(), [&](const Constraint* c) {
             return node->labels.Get(c->topology_key).has_value();
           });
  };
  const bool was = counts(before), is = counts(after);
  if (was != is) return true;
  if (!is) return false;
  return before->taints != after->taints || std::any_of(hard.begin(), hard.end(), [&](const Constraint* c) {
           return before->labels.Get(c->topology_key) != after->labels.Get(c->topology_key);
         });
}

}  // namespace

bool SpreadMadePossible(const api::Pod& pod, const ClusterEvent& e) {
  const std::vector<const Constraint*> hard = HardConstraints(*pod.tmpl);
  if (hard.empty()) return true;
  if (e.Has<api::Pod>() && e.pod() != nullptr) return PodMayHelp(hard, pod, e);
  if (e.Has<api::Node>()) return NodeMayHelp(hard, e);
  return true;
}

}  // namespace berth::scheduler::podspread
