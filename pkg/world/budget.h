// PodDisruptionBudgets without a status: what the disruption controller would write, and which evictions they allow.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pkg/world/objects.h"
#include "pkg/world/rules.h"

namespace berth::world {

// A pod that the budget's selector matches.
struct PodOfBudget {
  bool ready = false, terminating = false;
  std::string controller;        // identifies it; empty if the pod has none
  std::optional<int64_t> scale;  // of the controller, or of what controls it; none if its kind has no scale
};

struct BudgetState {
  int64_t expected_pods = 0, desired_healthy = 0, current_healthy = 0, disruptions_allowed = 0;
  std::string error;  // why the controller cannot tell; then nothing is allowed
};

// Returns the state of a budget whose pods are these. A minAvailable in pods counts all of them; a percentage and a
// maxUnavailable count the scales of their controllers, each once, and leave out pods without one.
BudgetState StateOfBudget(const Value& budget, const std::vector<PodOfBudget>& pods);

// Returns the state that a budget has in its status, if a controller has written one.
std::optional<BudgetState> StatusOfBudget(const Value& budget);

// Returns whether the budget is about no pod at all: its selector is empty, which selects all in policy/v1 and none in
// policy/v1beta1, the only version before Kubernetes 1.21.
bool IsAboutNoPod(const Rules& rules, const Value& budget);

// Returns whether an eviction of a pod that is not ready goes past the budget: the policy is AlwaysAllow, or enough
// pods are healthy without it.
bool LetsUnreadyPodGo(const Rules& rules, const Value& budget, const BudgetState& state);

}  // namespace berth::world
