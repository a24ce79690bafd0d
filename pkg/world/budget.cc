#include "pkg/world/budget.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "pkg/util/status.h"

namespace berth::world {
namespace {

// An IntOrString of a budget, of which a percentage rounds up.
struct Bound {
  bool given = false, percent = false;
  int64_t number = 0;
  int64_t Of(int64_t whole) const {
    constexpr int64_t kPercent = 100;
    return percent ? (number * whole + kPercent - 1) / kPercent : number;
  }
};

Bound BoundOf(const Value& budget, std::string_view member) {
  Bound bound;
  const Value* v = budget.At({"spec", member});
  if (v == nullptr || v->IsNull()) return bound;
  bound.given = true;
  std::string_view text = v->text();
  if (v->IsNumber()) {
    bound.number = v->AsInt();
  } else if (text.ends_with('%')) {
    text.remove_suffix(1);
    bound.percent = absl::SimpleAtoi(util::ToAbsl(text), &bound.number);
  }
  return bound;
}

}  // namespace

BudgetState StateOfBudget(const Value& budget, const std::vector<PodOfBudget>& pods) {
  BudgetState state;
  for (const PodOfBudget& pod : pods) state.current_healthy += pod.ready && !pod.terminating;
  const Bound least = BoundOf(budget, "minAvailable"), most = BoundOf(budget, "maxUnavailable");
  if (least.given && !least.percent) {
    state.expected_pods = static_cast<int64_t>(pods.size());
  } else {
    std::map<std::string, int64_t> scales;
    for (const PodOfBudget& pod : pods) {
      if (pod.controller.empty()) continue;
      if (!pod.scale) {
        state = {};
        state.error = absl::StrCat(pod.controller, " has no scale");
        return state;
      }
      scales.emplace(pod.controller, *pod.scale);
    }
    for (const auto& [controller, scale] : scales) state.expected_pods += scale;
  }
  state.desired_healthy = most.given ? std::max<int64_t>(0, state.expected_pods - most.Of(state.expected_pods))
                                     : least.Of(state.expected_pods);
  if (state.expected_pods > 0) {
    state.disruptions_allowed = std::max<int64_t>(0, state.current_healthy - state.desired_healthy);
  }
  return state;
}

std::optional<BudgetState> StatusOfBudget(const Value& budget) {
  const Value* status = budget.Find("status");
  if (status == nullptr || status->Find("disruptionsAllowed") == nullptr) return std::nullopt;
  auto number = [&](std::string_view member) {
    const Value* v = status->Find(member);
    return v == nullptr ? 0 : v->AsInt();
  };
  BudgetState state;
  state.expected_pods = number("expectedPods");
  state.desired_healthy = number("desiredHealthy");
  state.current_healthy = number("currentHealthy");
  state.disruptions_allowed = number("disruptionsAllowed");
  return state;
}

bool IsAboutNoPod(const Rules& rules, const Value& budget) {
  if (rules.empty_budgets_select_all && budget.Str("apiVersion") != "policy/v1beta1") return false;
  const Value* selector = budget.At({"spec", "selector"});
  if (selector == nullptr || !selector->IsObject()) return true;
  for (std::string_view member : {"matchLabels", "matchExpressions"}) {
    const Value* wanted = selector->Find(member);
    if (wanted != nullptr && !wanted->IsNull() && !wanted->empty()) return false;
  }
  return true;
}

bool LetsUnreadyPodGo(const Rules& rules, const Value& budget, const BudgetState& state) {
  if (!rules.unhealthy_pod_eviction_policy) return false;
  const Value& spec = validation::OrEmpty(budget.Find("spec"));
  if (spec.Str("unhealthyPodEvictionPolicy") == "AlwaysAllow") return true;
  return state.desired_healthy > 0 && state.current_healthy >= state.desired_healthy;
}

}  // namespace berth::world
