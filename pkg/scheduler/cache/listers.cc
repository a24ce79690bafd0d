#include "pkg/scheduler/cache/listers.h"

namespace berth::scheduler {

std::vector<std::shared_ptr<const api::Service>> Listers::ServicesOf(const api::PodTemplate& pod) const {
  std::vector<std::shared_ptr<const api::Service>> out;
  for (const auto& [name, service] : services.In(pod.ns)) {
    if (service->selector && api::Selector::FromMap(*service->selector).Matches(pod.labels)) out.push_back(service);
  }
  return out;
}

std::vector<api::Selector> Listers::SelectorsOf(const api::PodTemplate& pod) const {
  std::vector<api::Selector> out;
  for (const auto& service : ServicesOf(pod)) out.push_back(api::Selector::FromMapValidated(*service->selector));
  if (pod.labels.empty()) return out;
  for (const auto& [name, rc] : replication_controllers.In(pod.ns)) {
    if (!rc->selector.empty() && api::Selector::FromMap(rc->selector).Matches(pod.labels)) {
      out.push_back(api::Selector::FromMapValidated(rc->selector));
    }
  }
  auto add = [&](const auto& object) {
    const api::DecidedSelector& s = object->selector;
    if (s.ok() && !s.selector.Empty() && s.selector.Matches(pod.labels)) out.push_back(s.selector);
  };
  for (const auto& [name, rs] : replica_sets.In(pod.ns)) add(rs);
  for (const auto& [name, sts] : stateful_sets.In(pod.ns)) add(sts);
  return out;
}

}  // namespace berth::scheduler
