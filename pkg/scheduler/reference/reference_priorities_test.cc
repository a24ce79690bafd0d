// The priorities of the independent reference of 1.10.
#include <algorithm>
#include <cmath>

#include "pkg/api/labels.h"
#include "pkg/scheduler/reference/reference.h"

namespace berth::scheduler::reference {
namespace {

constexpr char kZoneKey[] = "failure-domain.beta.kubernetes.io/zone";
constexpr char kRegionKey[] = "failure-domain.beta.kubernetes.io/region";

// The input of a priority.
struct View {
  const Cluster& cluster;
  const Settings& settings;
  const api::Pod& pod;
  const std::vector<std::string>& feasible;
  const NodeState& at(const std::string& name) const { return cluster.nodes.at(name); }
};

int64_t CpuOf(const View& v, const std::string& node) {
  __int128_t sum = NonZero(v.pod, "cpu");
  for (const api::PodPtr& p : v.at(node).pods) sum += NonZero(*p, "cpu");
  return Clamp(sum);
}
int64_t MemoryOf(const View& v, const std::string& node) {
  __int128_t sum = NonZero(v.pod, "memory");
  for (const api::PodPtr& p : v.at(node).pods) sum += NonZero(*p, "memory");
  return Clamp(sum);
}
int64_t CapacityOf(const View& v, const std::string& node, const std::string& resource) {
  return SumOf({&v.at(node).node->allocatable.list()}).Get(resource);
}

int64_t TenTimes(int64_t a) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * 10);
}

int64_t LeastRequested(const View& v, const std::string& node) {
  auto score = [](int64_t requested, int64_t capacity) -> int64_t {
    if (capacity == 0) return 0;
    if (requested > capacity) return 0;
    return TenTimes(capacity - requested) / capacity;
  };
  return (score(CpuOf(v, node), CapacityOf(v, node, "cpu")) + score(MemoryOf(v, node), CapacityOf(v, node, "memory"))) /
         2;
}

int64_t MostRequested(const View& v, const std::string& node) {
  auto score = [](int64_t requested, int64_t capacity) -> int64_t {
    if (capacity == 0) return 0;
    if (requested > capacity) return 0;
    return TenTimes(requested) / capacity;
  };
  return (score(CpuOf(v, node), CapacityOf(v, node, "cpu")) + score(MemoryOf(v, node), CapacityOf(v, node, "memory"))) /
         2;
}

int64_t Balanced(const View& v, const std::string& node) {
  auto fraction = [](int64_t requested, int64_t capacity) {
    return capacity == 0 ? 1.0 : static_cast<double>(requested) / static_cast<double>(capacity);
  };
  double cpu = fraction(CpuOf(v, node), CapacityOf(v, node, "cpu"));
  double memory = fraction(MemoryOf(v, node), CapacityOf(v, node, "memory"));
  if (cpu >= 1 || memory >= 1) return 0;
  return static_cast<int64_t>((1 - std::fabs(cpu - memory)) * 10.0);
}

int64_t PreferAvoidPods(const View& v, const std::string& node) {
  const auto& controller = v.pod.tmpl->controller;
  if (!controller) return 10;
  if (controller->kind.str() != "ReplicationController" && controller->kind.str() != "ReplicaSet") return 10;
  for (const api::AvoidPods& a : v.at(node).node->avoid_pods) {
    if (a.has_controller && a.kind == controller->kind && a.uid == controller->uid) return 0;
  }
  return 10;
}

int64_t ImageLocality(const View& v, const std::string& node) {
  std::map<std::string, int64_t> sizes;
  for (const api::NodeImage& image : v.at(node).node->images) {
    for (const auto& name : image.names) sizes[name.string()] = image.size_bytes;
  }
  int64_t total = 0;
  for (const api::Container& c : v.pod.tmpl->containers) {
    if (sizes.contains(c.image.string())) total += sizes[c.image.string()];
  }
  if (total < 24117248) return 0;
  if (total >= 1048576000) return 10;
  return 10 * (total - 24117248) / (1048576000 - 24117248) + 1;
}

int64_t ResourceLimits(const View& v, const std::string& node) {
  for (const char* resource : {"cpu", "memory"}) {
    int64_t limit = LimitsOf(v.pod).Get(resource);
    int64_t capacity = CapacityOf(v, node, resource);
    if (limit != 0 && capacity != 0 && limit <= capacity) return 1;
  }
  return 0;
}

int64_t IntolerableTaints(const View& v, const std::string& node) {
  int64_t count = 0;
  for (const api::Taint& taint : v.at(node).node->taints) {
    if (taint.effect.str() != "PreferNoSchedule") continue;
    bool tolerated = false;
    for (const api::Toleration& t : v.pod.tmpl->tolerations) {
      if (t.effect.empty() || t.effect.str() == "PreferNoSchedule") tolerated |= TermToleratesTaint(t, taint);
    }
    count += !tolerated;
  }
  return count;
}

// Adds up the weights of the preferred terms that match the node. Returns the message of a term that cannot be used, or
// an empty text.
std::string PreferredNodeAffinity(const View& v, const std::string& node, int64_t* sum) {
  uint32_t weights = 0;
  if (const auto& affinity = v.pod.tmpl->affinity.node) {
    for (const api::PreferredSchedulingTerm& t : affinity->preferred) {
      if (t.weight == 0) continue;
      if (!t.preference.match.error.empty()) return t.preference.match.error;
      if (SelectorMatches(t.preference.match.selector, v.at(node).node->labels))
        weights += static_cast<uint32_t>(t.weight);
    }
  }
  *sum = static_cast<int32_t>(weights);
  return {};
}

void Normalize(Scores* scores, bool reverse) {
  int64_t max = 0;
  for (const auto& [node, s] : *scores) max = std::max(max, s);
  for (auto& [node, s] : *scores) {
    if (max == 0) {
      if (reverse) s = 10;
      continue;
    }
    s = 10 * s / max;
    if (reverse) s = 10 - s;
  }
}

std::string ZoneKey(const api::Node& node) {
  std::string region = Label(node.labels, kRegionKey).value_or(""), zone = Label(node.labels, kZoneKey).value_or("");
  if (region.empty() && zone.empty()) return {};
  return region + std::string(":\0:", 3) + zone;
}

// Returns whether a service, replication controller, ReplicaSet or StatefulSet that selects the pod also selects the
// labels. Sets *any_owner when there is such an object.
bool SpreadsWith(const View& v, const api::Labels& other, bool* any_owner) {
  const api::PodTemplate& t = *v.pod.tmpl;
  bool matches = false;
  for (const auto& service : ServicesOf(v.cluster, v.pod)) {
    *any_owner = true;
    matches |= ValidatedMapMatches(*service->selector, other);
  }
  if (t.labels.empty()) return matches;
  for (const auto& [key, rc] : v.cluster.replication_controllers) {
    if (key.first != t.ns.str() || rc->selector.empty()) continue;
    bool owns = true;
    for (const auto& [k, value] : rc->selector) owns &= Label(t.labels, k.string()) == value.string();
    if (!owns) continue;
    *any_owner = true;
    matches |= ValidatedMapMatches(rc->selector, other);
  }
  auto consider = [&](const auto& objects) {
    for (const auto& [key, o] : objects) {
      const api::DecidedSelector& s = o->selector;
      if (key.first != t.ns.str() || !s.error.empty() || s.selector.Empty()) continue;
      if (!SelectorMatches(s.selector, t.labels)) continue;
      *any_owner = true;
      matches |= SelectorMatches(s.selector, other);
    }
  };
  consider(v.cluster.replica_sets);
  consider(v.cluster.stateful_sets);
  return matches;
}

Scores SelectorSpread(const View& v) {
  std::map<std::string, int64_t> count, zone_sum;
  int64_t max = 0, max_zone = 0;
  bool have_zones = false;
  for (const std::string& name : v.feasible) {
    for (const api::PodPtr& p : v.at(name).pods) {
      bool any_owner = false;
      if (p->tmpl->ns == v.pod.tmpl->ns && !p->meta.deleting() && SpreadsWith(v, p->tmpl->labels, &any_owner)) {
        ++count[name];
      }
    }
    max = std::max(max, count[name]);
    if (std::string zone = ZoneKey(*v.at(name).node); !zone.empty()) {
      have_zones = true;
      zone_sum[zone] += count[name];
    }
  }
  for (const auto& [zone, n] : zone_sum) max_zone = std::max(max_zone, n);
  Scores out;
  const double zone_weight = 2.0 / 3.0;
  for (const std::string& name : v.feasible) {
    double f = max == 0 ? 10.0 : 10.0 * (static_cast<double>(max - count[name]) / static_cast<double>(max));
    std::string zone = ZoneKey(*v.at(name).node);
    if (have_zones && !zone.empty()) {
      double g = 10.0;
      if (max_zone > 0) g = 10.0 * (static_cast<double>(max_zone - zone_sum[zone]) / static_cast<double>(max_zone));
      f = (f * (1.0 - zone_weight)) + (zone_weight * g);
    }
    out[name] = static_cast<int64_t>(f);
  }
  return out;
}

Scores ServiceAntiAffinity(const View& v, const std::string& label) {
  std::map<std::string, int64_t> count, by_value;
  int64_t total = 0;
  auto services = ServicesOf(v.cluster, v.pod);
  for (const std::string& name : v.feasible) {
    for (const api::PodPtr& p : v.at(name).pods) {
      if (services.empty() || p->tmpl->ns != v.pod.tmpl->ns) continue;
      count[name] += ValidatedMapMatches(*services[0]->selector, p->tmpl->labels);
    }
    total += count[name];
    if (auto value = Label(v.at(name).node->labels, label)) by_value[*value] += count[name];
  }
  Scores out;
  for (const std::string& name : v.feasible) {
    auto value = Label(v.at(name).node->labels, label);
    out[name] = 0;
    if (!value) continue;
    out[name] = 10;
    if (total > 0) {
      out[name] =
          static_cast<int64_t>(10.0 * (static_cast<double>(total - by_value[*value]) / static_cast<double>(total)));
    }
  }
  return out;
}

// Writes the scores. Returns the message of the first term that cannot be used, or an empty text.
std::string InterPodAffinity(const View& v, Scores* out) {
  std::map<std::string, double> counts;
  std::string error;
  auto apply = [&](const api::PodAffinityTerm& term, const api::Pod& target, const NodeState& where, int32_t weight) {
    if (!term.selector.error.empty() || !TermMatchesPod(term, target)) return;
    for (const std::string& name : v.feasible) {
      if (ShareTopology(*where.node, *v.at(name).node, term.topology_key.string())) counts[name] += weight;
    }
  };
  auto preferred = [&](const std::optional<api::PodAffinity>& a, bool own, int32_t sign, const api::Pod& target,
                       const NodeState& where) {
    if (!a) return;
    for (const api::WeightedPodAffinityTerm& t : a->preferred) {
      if (own && error.empty()) error = t.term.selector.error;
      apply(t.term, target, where, t.weight * sign);
    }
  };
  const api::Affinity& ours = v.pod.tmpl->affinity;
  for (const auto& [name, state] : v.cluster.nodes) {
    if (state.node == nullptr) continue;
    for (const api::PodPtr& existing : state.pods) {
      preferred(ours.pod, true, +1, *existing, state);
      preferred(ours.pod_anti, true, -1, *existing, state);
      const api::Affinity& theirs = existing->tmpl->affinity;
      if (theirs.pod) {
        for (const auto& t : theirs.pod->required) apply(t, v.pod, state, v.settings.hard_pod_affinity_weight);
      }
      preferred(theirs.pod, false, +1, v.pod, state);
      preferred(theirs.pod_anti, false, -1, v.pod, state);
    }
  }
  double max = 0, min = 0;
  for (const std::string& name : v.feasible) {
    max = std::max(max, counts[name]);
    min = std::min(min, counts[name]);
  }
  for (const std::string& name : v.feasible) {
    (*out)[name] = max - min > 0 ? static_cast<int64_t>(10.0 * ((counts[name] - min) / (max - min))) : 0;
  }
  return error;
}

}  // namespace

Scores Score(const PriorityKey& key, const Cluster& cluster, const Settings& settings, const api::Pod& pod,
             const std::vector<std::string>& feasible, std::vector<std::string>* errors) {
  View v{cluster, settings, pod, feasible};
  Scores out;
  auto each = [&](auto score) {
    for (const std::string& name : feasible) out[name] = score(v, name);
    return out;
  };
  if (key.service_anti_affinity) return ServiceAntiAffinity(v, *key.service_anti_affinity);
  if (key.label_preference) {
    return each([&](const View&, const std::string& name) -> int64_t {
      return Label(v.at(name).node->labels, *key.label_preference).has_value() == key.presence ? 10 : 0;
    });
  }
  if (key.name == "SelectorSpreadPriority" || key.name == "ServiceSpreadingPriority") return SelectorSpread(v);
  if (key.name == "InterPodAffinityPriority") {
    if (std::string error = InterPodAffinity(v, &out); !error.empty()) errors->push_back(error);
    return out;
  }
  if (key.name == "LeastRequestedPriority") return each(LeastRequested);
  if (key.name == "MostRequestedPriority") return each(MostRequested);
  if (key.name == "BalancedResourceAllocation") return each(Balanced);
  if (key.name == "NodePreferAvoidPodsPriority") return each(PreferAvoidPods);
  if (key.name == "ImageLocalityPriority") return each(ImageLocality);
  if (key.name == "ResourceLimitsPriority") return each(ResourceLimits);
  if (key.name == "EqualPriority") return each([](const View&, const std::string&) -> int64_t { return 1; });
  if (key.name == "NodeAffinityPriority") {
    for (const std::string& name : feasible) {
      if (std::string error = PreferredNodeAffinity(v, name, &out[name]); !error.empty()) errors->push_back(error);
    }
    Normalize(&out, false);
    return out;
  }
  if (key.name == "TaintTolerationPriority") {
    for (const std::string& name : feasible) out[name] = IntolerableTaints(v, name);
    Normalize(&out, true);
    return out;
  }
  errors->push_back("the reference knows no priority " + key.name);
  return out;
}

}  // namespace berth::scheduler::reference
