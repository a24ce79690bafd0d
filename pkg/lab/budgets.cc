#include "pkg/lab/budgets.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace berth::lab {
namespace {

// Returns the unfinished pods, bound and pending, that a budget selects.
std::vector<world::PodOfBudget> PodsOfBudget(const Scenario& s, const api::PodDisruptionBudget& budget) {
  std::vector<world::PodOfBudget> pods;
  std::map<std::string, int64_t> of_controller;
  auto take = [&](const api::Pod& pod, bool bound) {
    if (pod.Finished() || pod.meta.ns != budget.meta.ns || !budget.selector.selector.Matches(pod.tmpl->labels)) return;
    world::PodOfBudget& p = pods.emplace_back();
    p.ready = bound && (PodNotesOf(s, pod) & kNotReadyPod) == 0;
    p.terminating = pod.meta.deleting();
    p.controller = ControllerKey(pod);
    if (!p.controller.empty()) ++of_controller[p.controller];
  };
  for (const api::Object& o : s.cluster) {
    if (const auto* pod = std::get_if<api::PodPtr>(&o)) take(**pod, true);
  }
  for (const api::PodPtr& pod : s.pending) take(*pod, false);
  for (world::PodOfBudget& p : pods) {
    if (p.controller.empty() || p.controller.starts_with("Job ")) continue;
    auto scale = s.scales.find(p.controller);
    // A controller that is not in the input has as many replicas as there are pods of it.
    p.scale = scale == s.scales.end() ? of_controller[p.controller] : scale->second.replicas;
    if (scale != s.scales.end()) p.controller = scale->second.owner;
  }
  return pods;
}

}  // namespace

uint8_t PodNotesOf(const Scenario& scenario, const api::Pod& pod) {
  auto it = scenario.pod_notes.find(&pod);
  return it == scenario.pod_notes.end() ? 0 : it->second;
}

std::string ControllerKey(const api::Pod& pod) {
  const auto& c = pod.tmpl->controller;
  return c ? ObjectKey(c->kind.str(), pod.meta.ns.str(), c->name) : std::string();
}

world::BudgetState StateOfBudget(const Scenario& scenario, const api::PodDisruptionBudget& budget,
                                 const world::Value& object) {
  if (auto written = world::StatusOfBudget(object)) return *written;
  return world::StateOfBudget(object, PodsOfBudget(scenario, budget));
}

void FillInBudgets(Scenario* scenario) {
  for (api::Object& o : scenario->cluster) {
    auto* budget = std::get_if<std::shared_ptr<const api::PodDisruptionBudget>>(&o);
    if (budget == nullptr || !(*budget)->has_selector || !(*budget)->selector.ok()) continue;
    auto object = scenario->budgets.find((*budget)->meta.Key());
    if (object == scenario->budgets.end() || world::StatusOfBudget(*object->second)) continue;
    auto filled = std::make_shared<api::PodDisruptionBudget>(**budget);
    filled->disruptions_allowed = static_cast<int32_t>(std::min<int64_t>(
        StateOfBudget(*scenario, **budget, *object->second).disruptions_allowed, std::numeric_limits<int32_t>::max()));
    *budget = std::move(filled);
  }
}

}  // namespace berth::lab
