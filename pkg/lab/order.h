// In which order pending pods are tried.
#pragma once
#include "pkg/lab/scenario.h"

namespace berth::lab {

// Puts the pending pods into the order of the scheduler's queue: by priority, if `by_priority`, the highest first, then
// by age, where pods that do not say when they were created are the youngest. Pods that are alike in both keep their
// order.
void OrderAsQueue(bool by_priority, Scenario* scenario);
// Returns whether that would change the order.
bool QueueOrderDiffers(bool by_priority, const Scenario& scenario);

}  // namespace berth::lab
