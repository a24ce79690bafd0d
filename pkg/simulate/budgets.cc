#include "pkg/simulate/budgets.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "pkg/api/validation/value.h"
#include "pkg/util/contract.h"
#include "pkg/world/budget.h"

namespace berth::simulate {

Budgets::Budgets(const Case& what, const Options& options, Session* session, const PodTable* pods,
                 const Workloads* workloads)
    : scenario_(*what.scenario),
      options_(options),
      session_(session),
      pods_(pods),
      workloads_(workloads),
      rules_(world::RulesOf(what.scenario->algorithm.release->version)) {}

void Budgets::Add(const std::shared_ptr<const api::PodDisruptionBudget>& budget) {
  auto value = scenario_.budgets.find(budget->meta.Key());
  if (value == scenario_.budgets.end() || !budget->has_selector || !budget->selector.ok()) return;
  budgets_.push_back({budget, value->second, {}});
}

void Budgets::Note(const PodState& p, bool there) {
  for (Budget& b : budgets_) {
    if (b.object->meta.ns != p.object->meta.ns || !b.object->selector.selector.Matches(p.object->tmpl->labels))
      continue;
    if (there) {
      b.pods.insert(p.slot);
    } else {
      b.pods.erase(p.slot);
    }
    b.stale = true;
  }
}

void Budgets::NoteScale() {
  for (Budget& b : budgets_) b.stale = true;
}

void Budgets::Refresh(Budget* budget) {
  budget->stale = false;
  std::vector<world::PodOfBudget> pods;
  std::map<std::string, int64_t> of_controller;
  for (uint32_t slot : budget->pods) {
    const PodState& p = pods_->At(slot);
    world::PodOfBudget& pod = pods.emplace_back();
    pod.ready = p.ready && (p.node == nullptr || !p.node->failed);
    pod.terminating = p.leaving;
    pod.controller = workloads_->Of(*p.object);
    if (!pod.controller.empty()) ++of_controller[pod.controller];
  }
  for (world::PodOfBudget& pod : pods) {
    if (pod.controller.empty() || pod.controller.starts_with("Job ")) continue;
    pod.scale = workloads_->ScaledTo(pod.controller).value_or(of_controller[pod.controller]);
  }
  const world::BudgetState state = world::StateOfBudget(*budget->value, pods);
  if (state.disruptions_allowed == budget->object->disruptions_allowed) return;
  auto changed = std::make_shared<api::PodDisruptionBudget>(*budget->object);
  changed->disruptions_allowed = static_cast<int32_t>(state.disruptions_allowed);
  if (changed->meta.fields != nullptr) {
    if (auto fields = validation::ParseJson(*changed->meta.fields); fields.ok()) {
      fields->Child("status").Set("disruptionsAllowed", validation::Value::Int(state.disruptions_allowed));
      changed->meta.fields = api::SharedText(validation::ToJson(*fields));
    }
  }
  const std::shared_ptr<const api::PodDisruptionBudget> before = std::exchange(budget->object, changed);
  session_->Show<api::PodDisruptionBudget>(before, changed);
}

void Budgets::Show() {
  for (Budget& b : budgets_) {
    if (b.stale) Refresh(&b);
  }
}

bool Budgets::Allow(const PodState& p) const {
  BERTH_REQUIRES(std::ranges::none_of(budgets_, &Budget::stale));
  if (!options_.budgets || p.object->node_name.empty()) return true;
  return std::all_of(budgets_.begin(), budgets_.end(), [&](const Budget& b) {
    if (!b.pods.contains(p.slot) || b.object->disruptions_allowed > 0) return true;
    if (p.ready) return false;
    world::BudgetState state;
    return world::LetsUnreadyPodGo(rules_, *b.value, state);
  });
}

}  // namespace berth::simulate
