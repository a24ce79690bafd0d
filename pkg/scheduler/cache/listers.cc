#include "pkg/scheduler/cache/listers.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

// As a selector of these pairs says.
bool HasAll(const api::Labels& labels, const api::Labels& pairs) {
  return std::all_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return labels.Get(pair.first) == pair.second; });
}

}  // namespace

std::vector<std::shared_ptr<const api::Service>> Listers::ServicesOf(const api::PodTemplate& pod) const {
  std::vector<std::shared_ptr<const api::Service>> out;
  for (const auto& [name, service] : services.In(pod.ns)) {
    if (service->selector && HasAll(pod.labels, *service->selector)) out.push_back(service);
  }
  return out;
}

std::vector<api::Selector> Listers::SelectorsOf(const api::PodTemplate& pod) const {
  std::vector<api::Selector> out;
  for (const auto& service : ServicesOf(pod)) out.push_back(api::Selector::FromMapValidated(*service->selector));
  if (pod.labels.empty()) return out;
  for (const auto& [name, rc] : replication_controllers.In(pod.ns)) {
    if (!rc->selector.empty() && HasAll(pod.labels, rc->selector)) {
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
