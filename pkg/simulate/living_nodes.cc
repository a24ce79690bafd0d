#include "pkg/simulate/living_nodes.h"

#include <algorithm>

namespace berth::simulate {

LivingNodes::LivingNodes(const lab::Workload& workload) : workload_(workload), offered_(workload.resources().size()) {
  const auto& names = workload_.node_names();
  for (size_t n = 0; n < names.size(); ++n) numbers_[names[n].string()] = n;
}

void LivingNodes::Offer(const std::string& name, double by) {
  auto number = numbers_.find(name);
  if (number == numbers_.end()) return;
  for (size_t r = 0; r < offered_.size(); ++r) {
    offered_[r] += by * static_cast<double>(workload_.allocatable(number->second, r));
  }
}

void LivingNodes::See(const api::NodePtr& before, const api::NodePtr& now) {
  const std::string& name = (now == nullptr ? before : now)->meta.name;
  if (now == nullptr) {
    if (failed_.erase(name) == 0) Offer(name, -1);
    there_.erase(name);
    return;
  }
  if (before == nullptr) Offer(name, 1);
  there_[name] = now;
}

void LivingNodes::SetFailed(const std::string& name, bool failed) {
  const bool changed = failed ? failed_.insert(name).second : failed_.erase(name) > 0;
  if (changed) Offer(name, failed ? -1 : 1);
}

bool LivingNodes::IsLost(const std::string& name) const {
  auto node = there_.find(name);
  if (node == there_.end() || HasFailed(name)) return true;
  const auto& taints = node->second->taints;
  return std::any_of(taints.begin(), taints.end(), [](const api::Taint& t) { return t.effect.str() == "NoExecute"; });
}

}  // namespace berth::simulate
