// Schedulers that are killed, ended, stopped for a while, and whose clocks are set.
#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void Kill(World* w, Random* r) {
  w->CountFault();
  w->Kill(r->Below(w->schedulers()), absl::Milliseconds(r->Between(1000, 20'000)));
}

void Terminate(World* w, Random* r) {
  w->Terminate(r->Below(w->schedulers()));
}

void Pause(World* w, Random* r) {
  w->CountFault();
  w->Pause(r->Below(w->schedulers()), absl::Milliseconds(r->Between(100, 40'000)));
}

void JumpClock(World* w, Random* r) {
  w->CountFault();
  w->JumpClock(r->Below(w->schedulers()), absl::Seconds(r->Between(-7200, 7200)));
}

[[maybe_unused]] const bool kProcessFaultsRegistered =
    RegisterActor({"kill", 2, Kill}) && RegisterActor({"terminate", 1, Terminate}) &&
    RegisterActor({"pause", 2, Pause}) && RegisterActor({"clock-jump", 1, JumpClock});

}  // namespace
}  // namespace berth::simulation
