#include "pkg/explain/movers.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/cache/scalar_lookup.h"

namespace berth::explain {
namespace {

namespace reasons = scheduler::reasons;
using scheduler::FailureReason;
using scheduler::NodeRow;
using scheduler::PlacedPod;
using scheduler::Row;
using scheduler::Symbol;

// Returns how much of the resource is freed when the pod leaves its node.
int64_t UseOf(const PlacedPod& p, const std::string& resource) {
  const scheduler::Resource& used = p.info->used;
  if (resource == "pods") return 1;
  if (resource == "cpu") return used.milli_cpu;
  if (resource == "memory") return used.memory;
  if (resource == "ephemeral-storage") return used.ephemeral_storage;
  if (resource == "alpha.kubernetes.io/nvidia-gpu") return used.nvidia_gpu;
  return ScalarOf(used, Symbol(resource));
}

bool OfDaemonSet(const api::Pod& pod) {
  return pod.tmpl->controller && pod.tmpl->controller->kind.str() == "DaemonSet";
}

bool Selects(const api::PodAffinityTerm& term, const api::Pod& pod) {
  return std::find(term.namespaces.begin(), term.namespaces.end(), pod.meta.ns) != term.namespaces.end() &&
         term.selector.ok() && term.selector.selector.Matches(pod.tmpl->labels);
}

// Chooses the pods for one node. The pods of the node are considered in the order of DaemonSet or not, priority and
// name.
class Movers {
 public:
  Movers(const scheduler::Cache& cache, const api::Pod& pod, Row row) : cache_(cache), pod_(pod), row_(row) {
    for (const PlacedPod& p : cache.row(row).pods) order_.push_back(&p);
    std::sort(order_.begin(), order_.end(), [](const PlacedPod* a, const PlacedPod* b) {
      return std::tuple(OfDaemonSet(*a->pod), a->pod->Priority(), a->pod->meta.Key()) <
             std::tuple(OfDaemonSet(*b->pod), b->pod->Priority(), b->pod->meta.Key());
    });
  }

  // Chooses the pods that hold host ports or are excluded by anti-affinity; there is no choice among them.
  void ForReasons(const std::vector<scheduler::GenericScheduler::PredicateResult>& results) {
    for (const auto& judgement : results) {
      for (const FailureReason& reason : judgement.reasons) {
        if (reason == reasons::kPodNotFitsHostPorts) TakeHoldersOfPorts();
        if (reason == reasons::kExistingPodsAntiAffinityRulesNotMatch) TakeAntiAffine(true);
        if (reason == reasons::kPodAntiAffinityRulesNotMatch) TakeAntiAffine(false);
      }
    }
  }

  // Chooses pods that free the lacking resources. Returns false if even all pods together do not free enough.
  bool ForShortages(const std::vector<Remedy>& remedies) {
    for (const Remedy& r : remedies) {
      if (!r.resource.empty() && r.possible) short_.emplace_back(r.resource, r.shortage);
    }
    if (Enough(chosen_)) return true;
    for (const PlacedPod* p : order_) {
      if (p->pod->meta.deleting()) chosen_.insert(p);
    }
    if (Enough(chosen_)) return true;
    // Prefers a single pod: of the lowest priority and, among those, the one that leaves the least unused.
    const PlacedPod* best = nullptr;
    for (const PlacedPod* p : order_) {
      if (!Enough(With(p))) continue;
      if (best == nullptr || (RankOf(*p) == RankOf(*best) && Share(*p) < Share(*best))) best = p;
    }
    if (best != nullptr) {
      chosen_.insert(best);
      return true;
    }
    // Otherwise, adds the largest pods of the lowest priority until they are enough, and then removes those that are
    // not needed.
    std::stable_sort(order_.begin(), order_.end(), [&](const PlacedPod* a, const PlacedPod* b) {
      return std::tuple(RankOf(*a), Share(*b)) < std::tuple(RankOf(*b), Share(*a));
    });
    std::vector<const PlacedPod*> added;
    for (const PlacedPod* p : order_) {
      if (Enough(chosen_)) break;
      if (Share(*p) > 0 && chosen_.insert(p).second) added.push_back(p);
    }
    if (!Enough(chosen_)) return false;
    for (auto it = added.rbegin(); it != added.rend(); ++it) {
      chosen_.erase(*it);
      if (!Enough(chosen_)) chosen_.insert(*it);
    }
    return true;
  }

  Leaving Pods() const {
    Leaving out;
    for (const PlacedPod* p : chosen_) (p->pod->meta.deleting() ? out.ending : out.moved).push_back(p->pod);
    return out;
  }

 private:
  using Chosen = std::set<const PlacedPod*>;

  // DaemonSets come last, then by priority.
  static std::pair<bool, int32_t> RankOf(const PlacedPod& p) { return {OfDaemonSet(*p.pod), p.pod->Priority()}; }
  Chosen With(const PlacedPod* p) const {
    Chosen out = chosen_;
    out.insert(p);
    return out;
  }
  // Pods that were chosen because of anti-affinity may be on other nodes of the domain, where they free nothing here.
  bool Enough(const Chosen& chosen) const {
    return std::all_of(short_.begin(), short_.end(), [&](const auto& s) {
      int64_t freed = 0;
      for (const PlacedPod* p : chosen) {
        if (p->pod->node_name == cache_.row(row_).name) freed = scheduler::SaturatingAdd(freed, UseOf(*p, s.first));
      }
      return freed >= s.second;
    });
  }
  // Returns how much of the shortages the pod would cover, as a sum of fractions.
  double Share(const PlacedPod& p) const {
    double sum = 0;
    for (const auto& [resource, shortage] : short_) {
      sum += static_cast<double>(UseOf(p, resource)) / static_cast<double>(shortage);
    }
    return sum;
  }

  // Chooses the pods that use a host port of the pod.
  void TakeHoldersOfPorts() {
    scheduler::TemplateInfo wanted;
    scheduler::DescribeTemplate(*pod_.tmpl, &wanted);
    for (const PlacedPod* p : order_) {
      scheduler::HostPorts held;
      for (const scheduler::HostPort& port : p->info->host_ports) held.Add(port);
      for (const scheduler::HostPort& port : wanted.host_ports) {
        if (held.Conflicts(port)) chosen_.insert(p);
      }
    }
  }

  // If `theirs`, chooses the pods whose anti-affinity excludes this pod; otherwise, the pods that this pod's own
  // anti-affinity excludes.
  void TakeAntiAffine(bool theirs) {
    const NodeRow& here = cache_.row(row_);
    for (Row row = 0; row < cache_.row_count(); ++row) {
      const NodeRow& there = cache_.row(row);
      if (!there.in_use || there.node == nullptr) continue;
      for (const PlacedPod& p : there.pods) {
        const api::Pod& declaring = theirs ? *p.pod : pod_;
        const api::Pod& other = theirs ? pod_ : *p.pod;
        if (!declaring.tmpl->affinity.pod_anti) continue;
        for (const api::PodAffinityTerm& term : declaring.tmpl->affinity.pod_anti->required) {
          const auto value = here.node->labels.Get(term.topology_key);
          if (value && value == there.node->labels.Get(term.topology_key) && Selects(term, other)) chosen_.insert(&p);
        }
      }
    }
  }

  const scheduler::Cache& cache_;
  const api::Pod& pod_;
  const Row row_;
  // The pods on the node in the order in which they are considered.
  std::vector<const PlacedPod*> order_;
  // The lacking resources and how much of each must be freed.
  std::vector<std::pair<std::string, int64_t>> short_;
  Chosen chosen_;
};

}  // namespace

Leaving PodsToMove(const scheduler::Cache& cache, const api::Pod& pod, Symbol node, const std::vector<Remedy>& remedies,
                   const std::vector<scheduler::GenericScheduler::PredicateResult>& results) {
  const Row row = cache.FindRow(node);
  if (row == scheduler::kNoRow) return {};
  Movers movers(cache, pod, row);
  movers.ForReasons(results);
  // Shortages come second, because pods that must leave anyway may free enough.
  if (!movers.ForShortages(remedies)) return {};
  return movers.Pods();
}

}  // namespace berth::explain
