// How simulated schedulers are configured. A user who rolls out another Policy or configuration changes the number of
// the rollout (actors/rollouts.cc); processes that start from then on have it, and those that run keep theirs.
#pragma once
#include <cstdint>
#include <vector>

#include "pkg/recording/format.h"
#include "test/simulation/emulated.h"

namespace berth::simulation {

inline constexpr uint64_t kRollouts = 3;

// Returns the schedulers of one process, "default-scheduler" and "packing". All of them have the predicates of the
// default provider, which the oracle knows; they differ in what they prefer, and in how they search.
std::vector<recording::ProfileSource> ProfilesOf(const Emulated& release, uint64_t rollout);

}  // namespace berth::simulation
