// One attempt of the independent reference of 1.10: order of evaluation, nominated pods, totals, ties and preemption.
#include <algorithm>

#include "pkg/scheduler/reference/reference.h"

namespace berth::scheduler::reference {
namespace {

std::vector<PredicateKey> ProviderPredicates() {
  std::vector<PredicateKey> out;
  for (const char* name :
       {"NoVolumeZoneConflict", "MaxEBSVolumeCount", "MaxGCEPDVolumeCount", "MaxAzureDiskVolumeCount",
        "MatchInterPodAffinity", "NoDiskConflict", "GeneralPredicates", "CheckNodeMemoryPressure",
        "CheckNodeDiskPressure", "CheckNodeCondition", "PodToleratesNodeTaints", "CheckVolumeBinding"}) {
    out.push_back({name, {}, {}, false});
  }
  return out;
}

std::string Joined(const std::vector<std::string>& parts) {
  if (parts.size() == 1) return parts[0];
  std::string out = "[";
  for (size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? "" : ", ") + parts[i];
  return out + "]";
}

std::string FitErrorText(size_t nodes, const std::map<std::string, std::vector<std::string>>& failures) {
  std::map<std::string, int> histogram;
  for (const auto& [node, reasons] : failures) {
    for (const std::string& r : reasons) ++histogram[r];
  }
  std::vector<std::string> lines;
  for (const auto& [reason, n] : histogram) lines.push_back(std::to_string(n) + " " + reason);
  std::sort(lines.begin(), lines.end());
  std::string out = "0/" + std::to_string(nodes) + " nodes are available: ";
  for (size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : ", ") + lines[i];
  return out + ".";
}

bool ViolatesBudget(const Cluster& cluster, const api::Pod& pod) {
  if (pod.tmpl->labels.empty()) return false;
  for (const auto& [key, budget] : cluster.budgets) {
    if (key.first != pod.tmpl->ns.str() || !budget->has_selector || !budget->selector.error.empty()) continue;
    if (budget->selector.selector.Empty() || !SelectorMatches(budget->selector.selector, pod.tmpl->labels)) continue;
    if (budget->disruptions_allowed <= 0) return true;
  }
  return false;
}

}  // namespace

Settings DefaultProviderSettings() {
  Settings s;
  s.predicates = ProviderPredicates();
  for (const char* name : {"SelectorSpreadPriority", "InterPodAffinityPriority", "LeastRequestedPriority",
                           "BalancedResourceAllocation", "NodeAffinityPriority", "TaintTolerationPriority"}) {
    s.priorities.push_back({name, 1, {}, {}, false});
  }
  s.priorities.push_back({"NodePreferAvoidPodsPriority", 10000, {}, {}, false});
  return s;
}

Settings ClusterAutoscalerProviderSettings() {
  Settings s = DefaultProviderSettings();
  for (PriorityKey& p : s.priorities) {
    if (p.name == "LeastRequestedPriority") p.name = "MostRequestedPriority";
  }
  return s;
}

std::vector<PredicateKey> InOrder(std::vector<PredicateKey> keys) {
  const std::vector<std::string> order = {"CheckNodeCondition",      "CheckNodeUnschedulable",
                                          "GeneralPredicates",       "HostName",
                                          "PodFitsHostPorts",        "MatchNodeSelector",
                                          "PodFitsResources",        "NoDiskConflict",
                                          "PodToleratesNodeTaints",  "PodToleratesNodeNoExecuteTaints",
                                          "CheckNodeLabelPresence",  "CheckServiceAffinity",
                                          "MaxEBSVolumeCount",       "MaxGCEPDVolumeCount",
                                          "MaxAzureDiskVolumeCount", "CheckVolumeBinding",
                                          "NoVolumeZoneConflict",    "CheckNodeMemoryPressure",
                                          "CheckNodeDiskPressure",   "MatchInterPodAffinity"};
  auto place = [&](const PredicateKey& k) {
    return std::pair(std::find(order.begin(), order.end(), k.name) - order.begin(), k.name);
  };
  std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return keys;
}

Answer Scheduler::Fits(const Cluster& cluster, const api::Pod& pod, const NodeState& here, bool check_all) const {
  // The predicates are evaluated twice: with the pods nominated to this node whose priority is not lower, and without.
  NodeState crowded = here;
  bool added = false;
  if (settings_.pod_priority) {
    if (auto it = cluster.nominated.find(here.name); it != cluster.nominated.end()) {
      for (const api::PodPtr& p : it->second) {
        added = true;
        if (p->Priority() >= pod.Priority() && p->meta.uid != pod.meta.uid) crowded.Add(p);
      }
    }
  }
  Answer all;
  for (int pass = 0; pass < 2; ++pass) {
    if (pass == 1 && (!added || !all.reasons.empty())) break;
    Question q{cluster, settings_, pod, pass == 0 ? crowded : here};
    for (const PredicateKey& key : InOrder(settings_.predicates)) {
      Answer a = Evaluate(key, q);
      if (!a.error.empty()) return {false, {}, a.error};
      if (a.fit) continue;
      all.reasons.insert(all.reasons.end(), a.reasons.begin(), a.reasons.end());
      if (!check_all) break;
    }
  }
  all.fit = all.reasons.empty();
  return all;
}

// NOLINT(readability-function-size): the steps of a decision in their order, as plainly as possible.
Decision Scheduler::Schedule(const Cluster& cluster, const api::Pod& pod) {
  Decision d;
  for (const api::Volume& v : pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    auto claim = Cluster::Find(cluster.claims, pod.tmpl->ns.string(), v.id);
    if (claim == nullptr) {
      d.error = "persistentvolumeclaim \"" + v.id + "\" not found";
      return d;
    }
    if (claim->meta.deleting()) {
      d.error = "persistentvolumeclaim \"" + v.id + "\" is being deleted";
      return d;
    }
  }
  if (cluster.listed() == 0) {
    d.error = "no nodes available to schedule pods";
    return d;
  }
  std::map<std::string, int> errors;
  for (const auto& [name, state] : cluster.nodes) {
    if (state.node == nullptr) continue;
    Answer a = Fits(cluster, pod, state, settings_.always_check_all);
    if (!a.error.empty()) {
      ++errors[a.error];
    } else if (a.fit) {
      d.feasible.push_back(name);
    } else {
      d.failures[name] = a.reasons;
    }
  }
  if (!errors.empty()) {
    std::vector<std::string> parts;
    for (const auto& [text, n] : errors) {
      parts.push_back(n == 1 ? text : text + " (repeated " + std::to_string(n) + " times)");
    }
    d.error = Joined(parts);
    d.feasible.clear();
    d.failures.clear();
    return d;
  }
  if (d.feasible.empty()) {
    d.unfit = true;
    d.error = FitErrorText(cluster.listed(), d.failures);
    return d;
  }
  if (d.feasible.size() == 1) {
    d.host = d.feasible[0];
    return d;
  }

  std::vector<std::string> score_errors;
  for (const std::string& name : d.feasible) d.totals[name] = settings_.priorities.empty() ? 1 : 0;
  std::vector<PriorityKey> priorities = settings_.priorities;
  std::sort(priorities.begin(), priorities.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const PriorityKey& key : priorities) {
    d.scores[key.name] = Score(key, cluster, settings_, pod, d.feasible, &score_errors);
    for (const std::string& name : d.feasible) d.totals[name] += d.scores[key.name][name] * key.weight;
  }
  if (!score_errors.empty()) {
    d.error = Joined(score_errors);
    d.scores.clear();
    d.totals.clear();
    return d;
  }
  int64_t best = d.totals.begin()->second;
  for (const auto& [name, total] : d.totals) best = std::max(best, total);
  std::vector<std::string> ties;
  for (const auto& [name, total] : d.totals) {
    if (total == best) ties.push_back(name);
  }
  std::sort(ties.rbegin(), ties.rend());
  d.host = ties[last_node_index_++ % ties.size()];
  return d;
}

Preemption Scheduler::Preempt(const Cluster& cluster, const api::Pod& pod,
                              const std::map<std::string, std::vector<std::string>>& failures) const {
  Preemption out;
  if (!pod.nominated_node_name.empty()) {
    auto it = cluster.nodes.find(pod.nominated_node_name.string());
    if (it != cluster.nodes.end()) {
      for (const api::PodPtr& p : it->second.pods) {
        if (p->meta.deleting() && p->Priority() < pod.Priority()) return out;  // the pod waits for this one to end
      }
    }
  }
  std::vector<std::string> candidates;
  for (const auto& [name, state] : cluster.nodes) {
    if (state.node == nullptr) continue;
    bool hopeless = false;
    if (auto it = failures.find(name); it != failures.end()) {
      for (const std::string& r : it->second) hopeless |= Unresolvable(r);
    }
    if (!hopeless) candidates.push_back(name);
  }
  if (candidates.empty()) {
    out.nominated_to_clear = {pod.meta.uid};
    return out;
  }

  struct Option {
    std::string node;
    std::vector<api::PodPtr> victims;
    int violations = 0;
  };
  std::vector<Option> options;
  for (const std::string& name : candidates) {
    NodeState state = cluster.nodes.at(name);
    std::vector<api::PodPtr> potential;
    for (const api::PodPtr& p : cluster.nodes.at(name).pods) {
      if (p->Priority() < pod.Priority()) potential.push_back(p);
    }
    for (const api::PodPtr& p : potential) state.Remove(p->meta.uid);
    std::stable_sort(potential.begin(), potential.end(),
                     [](const auto& a, const auto& b) { return a->Priority() > b->Priority(); });
    auto fits = [&] { return Fits(cluster, pod, state, false).fit; };
    if (!fits()) continue;
    Option option{name, {}, 0};
    for (bool violating : {true, false}) {
      for (const api::PodPtr& p : potential) {
        if (ViolatesBudget(cluster, *p) != violating) continue;
        state.Add(p);
        if (fits()) continue;
        state.Remove(p->meta.uid);
        option.victims.push_back(p);
        option.violations += violating;
      }
    }
    options.push_back(option);
  }
  if (options.empty()) return out;

  // Each criterion keeps the best options and drops the others.
  auto keep_least = [&](auto cost) {
    auto best = cost(options[0]);
    for (const Option& o : options) best = std::min(best, cost(o));
    std::erase_if(options, [&](const Option& o) { return cost(o) != best; });
  };
  keep_least([](const Option& o) { return o.victims.empty() ? 0 : 1; });
  if (!options[0].victims.empty()) {
    keep_least([](const Option& o) { return o.violations; });
    keep_least([](const Option& o) { return o.victims[0]->Priority(); });
    keep_least([](const Option& o) {
      int64_t sum = 0;
      for (const api::PodPtr& p : o.victims) sum += int64_t{p->Priority()} + 2147483648;
      return sum;
    });
    keep_least([](const Option& o) { return o.victims.size(); });
  }
  out.node = options[0].node;  // of equal options, the first by name
  for (const api::PodPtr& p : options[0].victims) out.victims.push_back(p->meta.uid);
  if (auto it = cluster.nominated.find(out.node); it != cluster.nominated.end() && settings_.pod_priority) {
    for (const api::PodPtr& p : it->second) {
      if (p->Priority() < pod.Priority()) out.nominated_to_clear.push_back(p->meta.uid);
    }
  }
  return out;
}

}  // namespace berth::scheduler::reference
