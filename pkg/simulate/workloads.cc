#include "pkg/simulate/workloads.h"

namespace berth::simulate {

std::string Workloads::Of(const api::Pod& pod) const {
  const auto& c = pod.tmpl->controller;
  if (!c) return {};
  std::string key = lab::ObjectKey(c->kind.str(), pod.meta.ns.str(), c->name);
  auto scale = scenario_.scales.find(key);
  return scale == scenario_.scales.end() || scale->second.owner.empty() ? key : scale->second.owner;
}

std::optional<int64_t> Workloads::ScaledTo(const std::string& workload) const {
  auto known = replicas_.find(workload);
  return known == replicas_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace berth::simulate
