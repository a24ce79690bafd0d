// What the controllers of pods have in common: making, adopting, releasing and deleting them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pkg/world/living/world.h"

namespace berth::world::living {

// Adopts the pods that `selector` selects and nobody controls, unless the owner is being deleted, and releases pods of
// the owner that it does not select. Returns the pods of the owner afterwards, by uid.
std::vector<PodFactsPtr> ClaimPods(World* world, const Value& owner, const Value* selector);

// Creates a pod for its owner and says so in an event (SuccessfulCreate, FailedCreate).
Written CreatePod(World* world, const Value& owner, std::string_view component, Value pod);
// The same for a deletion (SuccessfulDelete).
Written DeletePod(World* world, const Value& owner, std::string_view component, const PodFacts& pod);

// Writes the object's status if it differs from that of `before`.
Written WriteStatus(World* world, std::string_view kind, const Value& before, Value after);

// Returns a delay after which the owner of `pods` pods looks at them again when one has changed: owners of many are
// not woken by each.
absl::Duration CalmFor(size_t pods);

}  // namespace berth::world::living
