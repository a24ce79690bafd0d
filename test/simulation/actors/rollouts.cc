// Users who roll out another Policy or configuration: the schedulers are ended one after another, and come back with
// it.
#include "test/simulation/rollouts.h"
#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void RollOut(World* w, Random* r) {
  w->rollout = r->Below(kRollouts);
  for (size_t i = 0; i < w->schedulers(); ++i) {
    w->loop.In(absl::Milliseconds(r->Between(0, 20'000)), [w, i] { w->Terminate(i); });
  }
}

[[maybe_unused]] const bool kRolloutsRegistered = RegisterActor({"roll-out", 1, RollOut});

}  // namespace
}  // namespace berth::simulation
