// What PodDisruptionBudgets allow that no controller has written a status into, as those of manifests.
#pragma once
#include <string>

#include "pkg/lab/scenario.h"
#include "pkg/world/budget.h"

namespace berth::lab {

// Returns the bits of PodNote of a bound pod.
uint8_t PodNotesOf(const Scenario& scenario, const api::Pod& pod);
// Returns the ObjectKey of a pod's controller; empty if it has none.
std::string ControllerKey(const api::Pod& pod);

// Returns the state of a budget of the scenario: that of its status, or what its controller would write. `object` is
// the budget as it was read.
world::BudgetState StateOfBudget(const Scenario& scenario, const api::PodDisruptionBudget& budget,
                                 const world::Value& object);

// Gives the budgets without a status the number of disruptions that their controller would allow, so that preemption
// avoids their pods as in a cluster.
void FillInBudgets(Scenario* scenario);

}  // namespace berth::lab
