// Keeps one shared copy of equal pod templates, in a table of weak references that is split into shards with a lock
// each. The deleter of a template removes its entry.
#include <absl/hash/hash.h>

#include <array>
#include <mutex>
#include <unordered_map>

#include "pkg/api/types.h"

namespace berth::api {

// Hashes what distinguishes templates in practice; operator== compares the rest.
template <typename H>
H AbslHashValue(H h, const Labels& labels) {
  for (const auto& pair : labels) h = H::combine(std::move(h), pair.first, pair.second);
  return H::combine(std::move(h), labels.size());
}
template <typename H>
H AbslHashValue(H h, const Selector& s) {
  for (const Requirement& r : s.requirements()) {
    h = H::combine(std::move(h), r.key, static_cast<int>(r.op), r.values, r.bound);
  }
  return H::combine(std::move(h), s.MatchesNothing());
}
template <typename H>
H AbslHashValue(H h, const DecidedSelector& s) {
  return H::combine(std::move(h), s.selector, s.error);
}
template <typename H>
H AbslHashValue(H h, const NodeSelectorTerm& t) {
  return H::combine(std::move(h), t.match, t.fields.size(),
                    t.fields.empty() ? std::vector<Symbol>() : t.fields[0].values);
}
template <typename H>
H AbslHashValue(H h, const NodeSelector& s) {
  return H::combine(std::move(h), s.terms);
}
template <typename H>
H AbslHashValue(H h, const PreferredSchedulingTerm& t) {
  return H::combine(std::move(h), t.weight, t.preference);
}
template <typename H>
H AbslHashValue(H h, const NodeAffinity& a) {
  return H::combine(std::move(h), a.required.has_value(),
                    a.required ? a.required->terms : std::vector<NodeSelectorTerm>(), a.preferred);
}
template <typename H>
H AbslHashValue(H h, const PodAffinityTerm& t) {
  return H::combine(std::move(h), t.selector, t.namespaces, t.topology_key,
                    t.namespace_selector ? t.namespace_selector->selector : Selector::Nothing());
}
template <typename H>
H AbslHashValue(H h, const WeightedPodAffinityTerm& t) {
  return H::combine(std::move(h), t.weight, t.term);
}
template <typename H>
H AbslHashValue(H h, const PodAffinity& a) {
  return H::combine(std::move(h), a.required, a.preferred);
}
template <typename H>
H AbslHashValue(H h, const Toleration& t) {
  return H::combine(std::move(h), t.key, t.op, t.value, t.effect);
}
template <typename H>
H AbslHashValue(H h, const ContainerPort& p) {
  return H::combine(std::move(h), p.host_ip, p.protocol, p.host_port, p.container_port);
}
template <typename H>
H AbslHashValue(H h, const Container& c) {
  return H::combine(std::move(h), c.image, c.requests, c.limits, c.ports, c.restart_always);
}
template <typename H>
H AbslHashValue(H h, const Volume& v) {
  return H::combine(std::move(h), static_cast<int>(v.kind), v.id);
}

template <typename H>
H AbslHashValue(H h, const TopologySpreadConstraint& c) {
  return H::combine(std::move(h), c.topology_key, c.max_skew, static_cast<int>(c.action), c.selector, c.min_domains,
                    c.match_label_keys);
}

namespace {

size_t HashOf(const PodTemplate& t) {
  auto optional = [](size_t h, const auto& part) { return part ? absl::HashOf(h, *part) : absl::HashOf(h, false); };
  size_t h = absl::HashOf(t.ns, t.labels, t.scheduler_name, t.priority, t.node_selector, t.has_affinity, t.tolerations,
                          t.containers, t.init_containers, t.volumes, t.overhead, t.pod_requests, t.spread_constraints,
                          t.scheduling_gates, t.never_preempts, t.unknown_fields.size());
  h = optional(h, t.affinity.node);
  h = optional(h, t.affinity.pod);
  h = optional(h, t.affinity.pod_anti);
  return t.controller ? absl::HashOf(h, t.controller->uid, t.controller->name) : h;
}

// An entry exists until its template's deleter removes it.
struct Shard {
  struct Entry {
    const PodTemplate* address;
    std::weak_ptr<const PodTemplate> weak;
  };
  std::mutex mutex;
  std::unordered_multimap<size_t, Entry> entries;
};

std::array<Shard, 16>& Shards() {
  static auto* shards = new std::array<Shard, 16>;  // never destroyed, so that it outlives every template
  return *shards;
}
Shard& ShardOf(size_t hash) {
  return Shards()[(hash >> 7) & 15];
}

}  // namespace

size_t PodTemplate::InternedCount() {
  size_t n = 0;
  for (Shard& shard : Shards()) {
    std::lock_guard lock(shard.mutex);
    n += shard.entries.size();
  }
  return n;
}

std::shared_ptr<const PodTemplate> PodTemplate::Intern(PodTemplate t) {
  size_t hash = HashOf(t);
  Shard& shard = ShardOf(hash);
  // References to unequal templates with the same hash are dropped only after the lock is released, because this one
  // may be the last one and the deleter takes the lock.
  std::vector<std::shared_ptr<const PodTemplate>> unequal;
  std::lock_guard lock(shard.mutex);
  auto [first, last] = shard.entries.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    std::shared_ptr<const PodTemplate> shared = it->second.weak.lock();
    if (shared == nullptr) continue;
    if (*shared == t) return shared;
    unequal.push_back(std::move(shared));
  }
  auto remove = [hash](const PodTemplate* gone) {
    {
      Shard& its = ShardOf(hash);
      std::lock_guard inner(its.mutex);
      auto [begin, end] = its.entries.equal_range(hash);
      for (auto it = begin; it != end; ++it) {
        if (it->second.address == gone) {
          its.entries.erase(it);
          break;
        }
      }
    }
    delete gone;
  };
  auto* address = new PodTemplate(std::move(t));
  std::shared_ptr<const PodTemplate> made(address, remove);
  shard.entries.emplace(hash, Shard::Entry{address, made});
  return made;
}

}  // namespace berth::api
