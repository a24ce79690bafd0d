// The plugin PodTopologySpread.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "pkg/scheduler/reference/plugins/cloned.h"
#include "pkg/scheduler/reference/plugins/logarithm.h"

namespace berth::scheduler::reference::plugins {
namespace {

using Action = api::TopologySpreadConstraint::Action;
using Constraints = std::vector<api::TopologySpreadConstraint>;
using Pair = std::pair<Symbol, Symbol>;  // topology key and value

constexpr std::string_view kHostname = "kubernetes.io/hostname";

// Returns the selector with the additional requirement that some labels have the same values as the pod's
// (matchLabelKeys).
api::Selector Narrowed(const api::Selector& selector, const std::vector<Symbol>& keys, const api::Labels& labels) {
  if (selector.MatchesNothing()) return selector;
  std::vector<api::Requirement> requirements = selector.requirements();
  for (Symbol key : keys) {
    auto value = labels.Get(key);
    if (!value) continue;
    api::Requirement& r = requirements.emplace_back();
    r.key = key;
    r.op = api::Operator::kIn;
    r.values = {*value};
  }
  return api::Selector(std::move(requirements));
}

// Returns the selector for the default constraints: that of the pod's services and of its controller.
api::Selector DefaultSelector(const World& world, const api::PodTemplate& pod) {
  std::map<Symbol, Symbol> set;
  for (const auto& [name, service] : world.services.In(pod.ns)) {
    if (!service->selector || !api::Selector::FromMap(*service->selector).Matches(pod.labels)) continue;
    for (const auto& [key, value] : *service->selector) set[key] = value;
  }
  auto selector_of = [&] { return api::Selector::FromMap(api::Labels({set.begin(), set.end()})); };
  if (!pod.controller) return selector_of();
  const api::OwnerReference& owner = *pod.controller;
  auto with = [&](const api::DecidedSelector& more) {
    api::Selector selector = selector_of();
    if (!more.ok() || more.selector.MatchesNothing()) return selector;
    std::vector<api::Requirement> all = selector.requirements();
    all.insert(all.end(), more.selector.requirements().begin(), more.selector.requirements().end());
    return api::Selector(std::move(all));
  };
  std::string_view version = owner.api_version.str(), kind = owner.kind.str();
  if (version == "v1" && kind == "ReplicationController") {
    if (auto rc = world.replication_controllers.Get(pod.ns, owner.name)) {
      for (const auto& [key, value] : rc->selector) set[key] = value;
    }
  } else if (version == "apps/v1" && kind == "ReplicaSet") {
    if (auto rs = world.replica_sets.Get(pod.ns, owner.name)) return with(rs->selector);
  } else if (version == "apps/v1" && kind == "StatefulSet") {
    if (auto sts = world.stateful_sets.Get(pod.ns, owner.name)) return with(sts->selector);
  }
  return selector_of();
}

// Returns whether the pods on the node count for the constraint (nodeAffinityPolicy, nodeTaintsPolicy).
bool Counts(const api::TopologySpreadConstraint& c, const api::PodTemplate& pod, const api::Node& node) {
  return (!c.honor_node_affinity || MeetsNodeAffinity(pod, node)) &&
         (!c.honor_node_taints || UntoleratedTaint(pod, node) == nullptr);
}
bool HasAllKeys(const Constraints& constraints, const api::Node& node) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&](const auto& c) { return node.labels.Has(c.topology_key); });
}
// Returns the number of pods of the namespace on the node that the selector matches. The selector {} counts none
// (upstream bug, kept).
int64_t PodsMatching(const api::Selector& selector, Symbol ns, const NodeInfo& info) {
  if (selector.Empty()) return 0;
  return std::count_if(info.pods().begin(), info.pods().end(), [&](const api::PodPtr& q) {
    return q->tmpl->ns == ns && !q->meta.deleting() && selector.Matches(q->tmpl->labels);
  });
}

class PodTopologySpread final : public Cloned<PodTopologySpread> {
 public:
  explicit PodTopologySpread(const configuration::PodTopologySpreadArgs& args) {
    system_defaults_ = args.defaulting_type == "System";
    auto add = [&](std::string_view key, int32_t skew, Action action) -> api::TopologySpreadConstraint& {
      api::TopologySpreadConstraint& c = defaults_.emplace_back();
      c.topology_key = Symbol(key);
      c.max_skew = skew;
      c.action = action;
      return c;
    };
    if (system_defaults_) {
      add(kHostname, 3, Action::kScheduleAnyway);
      add("topology.kubernetes.io/zone", 5, Action::kScheduleAnyway);
      return;
    }
    for (const auto& d : args.default_constraints) {
      auto& c = add(d.topology_key, d.max_skew,
                    d.when_unsatisfiable == "DoNotSchedule" ? Action::kDoNotSchedule : Action::kScheduleAnyway);
      c.min_domains = d.min_domains.value_or(1);
      c.honor_node_affinity = d.node_affinity_policy.value_or("Honor") == "Honor";
      c.honor_node_taints = d.node_taints_policy.value_or("Ignore") == "Honor";
    }
  }

  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    std::string error;
    hard_ = ConstraintsOf(c, Action::kDoNotSchedule, &error);
    if (!error.empty()) {
      return Status::Error(absl::StrCat("obtaining pod's hard topology spread constraints: ", error));
    }
    if (hard_.empty()) return Status::Skip();
    for (const NodeInfo* info : c.world.nodes()) {
      const api::Node& node = info->node();
      if (!HasAllKeys(hard_, node)) continue;
      for (const auto& h : hard_) {
        if (!Counts(h, c.tmpl(), node)) continue;
        matching_[{h.topology_key, *node.labels.Get(h.topology_key)}] +=
            PodsMatching(h.selector.selector, c.tmpl().ns, *info);
      }
    }
    for (const auto& [pair, count] : matching_) ++domains_[pair.first];
    return {};
  }
  void PodAdded(const Cycle& c, const api::Pod& q, const NodeInfo& info) override { Change(c, q, info, 1); }
  void PodRemoved(const Cycle& c, const api::Pod& q, const NodeInfo& info) override { Change(c, q, info, -1); }

  Status Filter(const Cycle& c, const NodeInfo& info) override {
    constexpr char kReason[] = "node(s) didn't match pod topology spread constraints";
    for (const auto& h : hard_) {
      auto value = info.node().labels.Get(h.topology_key);
      if (!value) return Status::Unresolvable(absl::StrCat(kReason, " (missing required label)"));
      auto domains = domains_.find(h.topology_key);
      if (domains == domains_.end()) continue;
      int64_t least = domains->second < h.min_domains ? 0 : LeastOf(h.topology_key);
      auto here = matching_.find({h.topology_key, *value});
      int64_t count = here == matching_.end() ? 0 : here->second;
      int64_t self = h.selector.selector.Matches(c.tmpl().labels) ? 1 : 0;
      if (count + self - least > h.max_skew) return Status::Unschedulable(kReason);
    }
    return {};
  }

  Status PreScore(const Cycle& c, const Nodes& feasible) override {
    std::string error;
    soft_ = ConstraintsOf(c, Action::kScheduleAnyway, &error);
    if (!error.empty()) {
      return Status::Error(
          absl::StrCat("calculating preScoreState: obtaining pod's soft topology spread constraints: ", error));
    }
    if (soft_.empty() || c.world.nodes().empty()) return Status::Skip();
    bool require_all = !c.tmpl().spread_constraints.empty() || !system_defaults_;
    std::vector<int64_t> sizes(soft_.size(), 0);
    for (const NodeInfo* info : feasible) {
      if (require_all && !HasAllKeys(soft_, info->node())) {
        ignored_.insert(info->name());
        continue;
      }
      for (size_t i = 0; i < soft_.size(); ++i) {
        Symbol key = soft_[i].topology_key;
        if (key.str() == kHostname) continue;
        if (soft_counts_.try_emplace(Pair(key, info->node().labels.Get(key).value_or(Symbol())), 0).second) ++sizes[i];
      }
    }
    for (size_t i = 0; i < soft_.size(); ++i) {
      bool by_host = soft_[i].topology_key.str() == kHostname;
      int64_t size = by_host ? static_cast<int64_t>(feasible.size() - ignored_.size()) : sizes[i];
      weights_.push_back(NaturalLogarithm(static_cast<double>(size + 2)));
    }
    for (const NodeInfo* info : c.world.nodes()) {
      if (require_all && !HasAllKeys(soft_, info->node())) continue;
      for (const auto& s : soft_) {
        if (!Counts(s, c.tmpl(), info->node())) continue;
        auto it = soft_counts_.find({s.topology_key, info->node().labels.Get(s.topology_key).value_or(Symbol())});
        if (it != soft_counts_.end()) it->second += PodsMatching(s.selector.selector, c.tmpl().ns, *info);
      }
    }
    return {};
  }

  Status Score(const Cycle& c, const NodeInfo& info, int64_t* score) override {
    *score = 0;
    if (ignored_.contains(info.name())) return {};
    double sum = 0;
    for (size_t i = 0; i < soft_.size(); ++i) {
      const auto& s = soft_[i];
      auto value = info.node().labels.Get(s.topology_key);
      if (!value) continue;
      int64_t count = s.topology_key.str() == kHostname ? PodsMatching(s.selector.selector, c.tmpl().ns, info)
                                                        : soft_counts_.at({s.topology_key, *value});
      sum += static_cast<double>(count) * weights_[i] + static_cast<double>(s.max_skew - 1);
    }
    *score = static_cast<int64_t>(std::round(sum));
    return {};
  }

  void Normalize(const Nodes& nodes, std::vector<int64_t>* scores) override {
    int64_t least = std::numeric_limits<int64_t>::max(), most = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (ignored_.contains(nodes[i]->name())) continue;
      least = std::min(least, (*scores)[i]);
      most = std::max(most, (*scores)[i]);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      int64_t& s = (*scores)[i];
      s = ignored_.contains(nodes[i]->name()) ? 0 : most == 0 ? 100 : 100 * (most + least - s) / most;
    }
  }

  std::string_view NeedsPreFilter() const override {
    return "reading \"PreFilterPodTopologySpread\" from cycleState: not found";
  }
  std::string_view NeedsPreScore() const override {
    return "error reading \"PreScorePodTopologySpread\" from cycleState: not found";
  }

 private:
  // Returns the pod's constraints with this action, or the default ones when the pod has no constraints at all. Default
  // constraints apply only to pods for which services or the controller have a selector.
  Constraints ConstraintsOf(const Cycle& c, Action action, std::string* error) const {
    const api::PodTemplate& pod = c.tmpl();
    Constraints out;
    if (pod.spread_constraints.empty()) {
      api::Selector selector = DefaultSelector(c.world, pod);
      if (selector.Empty()) return out;
      for (const auto& d : defaults_) {
        if (d.action != action) continue;
        out.push_back(d);
        out.back().selector.selector = selector;
      }
      return out;
    }
    for (const auto& own : pod.spread_constraints) {
      if (own.action != action) continue;
      if (!own.selector.ok()) {
        *error = own.selector.aggregated_error;
        return {};
      }
      out.push_back(own);
      out.back().selector.selector = Narrowed(own.selector.selector, own.match_label_keys, pod.labels);
    }
    return out;
  }

  // Adds (`by` 1) or subtracts (-1) a pod on a node. Unlike PodsMatching this counts terminating pods, and those that
  // the selector {} matches (upstream bug M-08, kept).
  void Change(const Cycle& c, const api::Pod& q, const NodeInfo& info, int64_t by) {
    const api::Node& node = info.node();
    if (q.tmpl->ns != c.tmpl().ns || !HasAllKeys(hard_, node)) return;
    for (const auto& h : hard_) {
      if (!h.selector.selector.Matches(q.tmpl->labels) || !Counts(h, c.tmpl(), node)) continue;
      matching_[{h.topology_key, *node.labels.Get(h.topology_key)}] += by;
    }
    least_.clear();
  }

  // Returns the smallest number of matching pods in a domain of the key.
  int64_t LeastOf(Symbol key) {
    auto [it, is_new] = least_.try_emplace(key, std::numeric_limits<int32_t>::max());
    if (!is_new) return it->second;
    for (const auto& [pair, count] : matching_) {
      if (pair.first == key) it->second = std::min(it->second, count);
    }
    return it->second;
  }

  bool system_defaults_ = false;
  Constraints defaults_, hard_, soft_;
  std::map<Pair, int64_t> matching_;     // for the hard constraints, number of matching pods by domain
  std::map<Symbol, int64_t> domains_;    // number of domains by topology key
  std::map<Symbol, int64_t> least_;      // by key, results of LeastOf since the last change
  std::set<Symbol> ignored_;             // feasible nodes that lack one of the keys
  std::map<Pair, int64_t> soft_counts_;  // for the soft constraints, number of matching pods by domain, but not by host
  std::vector<double> weights_;          // by soft constraint
};

}  // namespace

std::unique_ptr<Plugin> MakePodTopologySpread(const configuration::PodTopologySpreadArgs& args) {
  return std::make_unique<PodTopologySpread>(args);
}

}  // namespace berth::scheduler::reference::plugins
