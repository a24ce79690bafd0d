#include "pkg/scheduler/algorithm/template_parts.h"

#include <absl/hash/hash.h>

#include <algorithm>

namespace berth::scheduler {
namespace {

// Fails to compile when a field is added to PodTemplate: add it to a part in AlikeIn and then to this list.
[[maybe_unused]] void EveryFieldHasAPart(const api::PodTemplate& t) {
  [[maybe_unused]] const auto& [ns, labels, controller, scheduler_name, priority, node_selector, affinity, has_affinity,
                                tolerations, containers, init_containers, volumes, overhead, pod_requests, pod_limits,
                                spread_constraints, scheduling_gates, never_preempts, has_resource_claims,
                                resource_claims, in_group, node_features, image_volumes, unknown_fields, texts,
                                resize_texts] = t;
}

bool SameAmounts(const Resource& a, const Resource& b) {
  return a.milli_cpu == b.milli_cpu && a.memory == b.memory && a.nvidia_gpu == b.nvidia_gpu &&
         a.ephemeral_storage == b.ephemeral_storage && a.scalars == b.scalars;
}

// Compares what predicates read (request), what counts as used (used), and what scores read of placed pods (nonzero)
// and of the pod to be placed (incoming).
bool SameRequests(const TemplateInfo& a, const TemplateInfo& b) {
  return SameAmounts(a.request, b.request) && SameAmounts(a.used, b.used) &&
         a.nonzero_milli_cpu == b.nonzero_milli_cpu && a.nonzero_memory == b.nonzero_memory &&
         a.incoming_milli_cpu == b.incoming_milli_cpu && a.incoming_memory == b.incoming_memory &&
         a.incoming_scalars == b.incoming_scalars;
}

bool SameImages(const api::PodTemplate& a, const api::PodTemplate& b) {
  const auto same = [](const std::vector<api::Container>& c, const std::vector<api::Container>& d) {
    return std::equal(c.begin(), c.end(), d.begin(), d.end(),
                      [](const api::Container& x, const api::Container& y) { return x.image == y.image; });
  };
  return same(a.containers, b.containers) && same(a.init_containers, b.init_containers) &&
         a.image_volumes == b.image_volumes;
}

// A controller that no preferAvoidPods annotation names counts as none, so that pods of many controllers stay in one
// class.
const std::optional<api::OwnerReference>& RelevantController(const api::PodTemplate& t, const Cache& cache) {
  static const std::optional<api::OwnerReference> kNone;
  return t.controller && cache.IsAvoided(*t.controller) ? t.controller : kNone;
}

size_t HashOfAmounts(const Resource& r) {
  return absl::HashOf(r.milli_cpu, r.memory, r.nvidia_gpu, r.ephemeral_storage, r.scalars);
}

size_t HashOfSelector(size_t hash, const api::DecidedSelector& s) {
  for (const api::Requirement& r : s.selector.requirements()) {
    hash = absl::HashOf(hash, r.key, static_cast<int>(r.op), r.values);
  }
  return hash;
}

// The terms of a required affinity are hashed without what separates them; AlikeIn resolves the rare collisions. The
// names in matchFields are all that tells the pods of one DaemonSet apart.
size_t HashOfNodeSelector(const api::PodTemplate& t) {
  size_t hash = absl::HashOf(t.affinity.node.has_value());
  for (const auto& [key, value] : t.node_selector) hash = absl::HashOf(hash, key, value);
  if (!t.affinity.node) return hash;
  if (t.affinity.node->required) {
    for (const auto& term : t.affinity.node->required->terms) {
      hash = HashOfSelector(hash, term.match);
      for (const api::FieldRequirement& f : term.fields) hash = absl::HashOf(hash, f.key, f.values);
    }
  }
  for (const auto& term : t.affinity.node->preferred) {
    hash = HashOfSelector(absl::HashOf(hash, term.weight), term.preference.match);
  }
  return hash;
}

}  // namespace

bool AlikeIn(uint32_t parts, const TemplateInfo& a, const TemplateInfo& b, const Cache& cache) {
  const api::PodTemplate& x = *a.tmpl;
  const api::PodTemplate& y = *b.tmpl;
  // The usual case: pods of one controller share their template.
  if (&x == &y) return true;
  auto differ = [&](PodPart part, auto same) { return (parts & part) != 0 && !same(); };
  return !(
      differ(kPodNamespace, [&] { return x.ns == y.ns; }) || differ(kPodLabels, [&] { return x.labels == y.labels; }) ||
      differ(kPodController, [&] { return RelevantController(x, cache) == RelevantController(y, cache); }) ||
      differ(kPodRequests, [&] { return SameRequests(a, b); }) ||
      differ(kPodLimits, [&] { return SameAmounts(a.limits, b.limits); }) ||
      differ(kPodQos, [&] { return a.best_effort == b.best_effort; }) ||
      differ(kPodHostPorts, [&] { return a.host_ports == b.host_ports; }) ||
      differ(kPodNodeSelector,
             [&] { return x.node_selector == y.node_selector && x.affinity.node == y.affinity.node; }) ||
      differ(kPodTolerations, [&] { return x.tolerations == y.tolerations; }) ||
      differ(kPodAffinity,
             [&] {
               return x.affinity.pod == y.affinity.pod && x.affinity.pod_anti == y.affinity.pod_anti &&
                      x.has_affinity == y.has_affinity;
             }) ||
      differ(kPodVolumes, [&] { return x.volumes == y.volumes; }) ||
      differ(kPodImages, [&] { return SameImages(x, y); }) ||
      differ(kPodFeatures, [&] { return x.node_features == y.node_features; }) ||
      differ(kPodPriority, [&] { return x.priority == y.priority && x.never_preempts == y.never_preempts; }) ||
      differ(kPodSpread, [&] { return x.spread_constraints == y.spread_constraints; }) ||
      differ(kPodGates, [&] { return x.scheduling_gates == y.scheduling_gates; }) ||
      differ(kPodSchedulerName, [&] { return x.scheduler_name == y.scheduler_name; }) || differ(kPodContainers, [&] {
        return x.containers == y.containers && x.init_containers == y.init_containers && x.overhead == y.overhead &&
               x.pod_requests == y.pod_requests && x.pod_limits == y.pod_limits;
      }));
}

// Parts that rarely differ when the other parts are equal are not hashed but only compared by AlikeIn.
size_t HashOfParts(uint32_t parts, const TemplateInfo& i, const Cache& cache) {
  const api::PodTemplate& t = *i.tmpl;
  size_t hash = parts;
  auto mix = [&](PodPart part, auto value) {
    if ((parts & part) != 0) hash = absl::HashOf(hash, value());
  };
  mix(kPodNamespace, [&] { return t.ns; });
  mix(kPodLabels, [&] {
    size_t h = t.labels.size();
    for (const auto& [key, value] : t.labels) h = absl::HashOf(h, key, value);
    return h;
  });
  mix(kPodController, [&] {
    const auto& c = RelevantController(t, cache);
    return c ? absl::HashOf(c->uid) : size_t{0};
  });
  mix(kPodRequests, [&] { return absl::HashOf(HashOfAmounts(i.request), i.nonzero_milli_cpu, i.nonzero_memory); });
  mix(kPodLimits, [&] { return HashOfAmounts(i.limits); });
  mix(kPodQos, [&] { return i.best_effort; });
  mix(kPodHostPorts, [&] {
    size_t h = i.host_ports.size();
    for (const HostPort& p : i.host_ports) h = absl::HashOf(h, p.port);
    return h;
  });
  mix(kPodNodeSelector, [&] { return HashOfNodeSelector(t); });
  mix(kPodTolerations, [&] {
    size_t h = t.tolerations.size();
    for (const api::Toleration& o : t.tolerations) h = absl::HashOf(h, o.key, o.value);
    return h;
  });
  mix(kPodImages, [&] {
    size_t h = t.containers.size();
    for (const api::Container& c : t.containers) h = absl::HashOf(h, c.image);
    return h;
  });
  mix(kPodPriority, [&] { return t.PriorityOrZero(); });
  mix(kPodSchedulerName, [&] { return t.scheduler_name; });
  return hash;
}

}  // namespace berth::scheduler
