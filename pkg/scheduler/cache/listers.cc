#include "pkg/scheduler/cache/listers.h"

namespace berth::scheduler {

// A service without a selector selects no pods; one with an empty selector selects all (1.10 GetPodServices).
std::optional<api::Selector> PodSelectorOf(const api::Service& o) {
  if (!o.selector) return std::nullopt;
  return api::Selector::FromMap(*o.selector);
}
std::optional<api::Selector> PodSelectorOf(const api::ReplicationController& o) {
  if (o.selector.empty()) return std::nullopt;
  return api::Selector::FromMap(o.selector);
}

namespace {

// Returns the selector unless it is invalid or empty; an empty one selects no pod here.
std::optional<api::Selector> Usable(const api::DecidedSelector& s) {
  if (!s.ok() || s.selector.Empty()) return std::nullopt;
  return s.selector;
}

}  // namespace

std::optional<api::Selector> PodSelectorOf(const api::ReplicaSet& o) {
  return Usable(o.selector);
}
std::optional<api::Selector> PodSelectorOf(const api::StatefulSet& o) {
  return Usable(o.selector);
}
std::optional<api::Selector> PodSelectorOf(const api::PodDisruptionBudget& o) {
  return o.has_selector ? Usable(o.selector) : std::nullopt;
}

std::vector<std::shared_ptr<const api::Service>> Listers::ServicesOf(const api::PodTemplate& pod) const {
  return services.Matching(pod.ns, pod.labels);
}

// 1.10 looks up controllers only for pods with labels, but services also for pods without any.
std::vector<api::Selector> Listers::SelectorsOf(const api::PodTemplate& pod) const {
  std::vector<api::Selector> out;
  for (const auto& service : ServicesOf(pod)) out.push_back(api::Selector::FromMapValidated(*service->selector));
  if (pod.labels.empty()) return out;
  for (const auto& rc : replication_controllers.Matching(pod.ns, pod.labels)) {
    out.push_back(api::Selector::FromMapValidated(rc->selector));
  }
  for (const auto& rs : replica_sets.Matching(pod.ns, pod.labels)) out.push_back(rs->selector.selector);
  for (const auto& sts : stateful_sets.Matching(pod.ns, pod.labels)) out.push_back(sts->selector.selector);
  return out;
}

// None of the versions ever decreases, so their sum changes whenever one of them does.
uint64_t Listers::SelectorsVersion(Symbol ns) const {
  return services.SelectorsVersion(ns) + replication_controllers.SelectorsVersion(ns) +
         replica_sets.SelectorsVersion(ns) + stateful_sets.SelectorsVersion(ns);
}

}  // namespace berth::scheduler
