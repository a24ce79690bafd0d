// API servers that stop, lag behind etcd, and forget old versions.
#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void StopServer(World* w, Random* r) {
  w->CountFault();
  w->StopServer(r->Below(w->servers.size()), absl::Milliseconds(r->Between(200, 30'000)));
}

void StopAll(World* w, Random* r) {
  for (size_t i = 0; i < w->servers.size(); ++i) {
    w->CountFault();
    w->StopServer(i, absl::Milliseconds(r->Between(500, 20'000)));
  }
}

// A scheduler is ended or killed while no server is there, and another begins.
void StopAllAround(World* w, Random* r) {
  const absl::Duration length = absl::Milliseconds(r->Between(3'000, 60'000));
  for (size_t i = 0; i < w->servers.size(); ++i) {
    w->CountFault();
    w->StopServer(i, length);
  }
  const size_t scheduler = r->Below(w->schedulers());
  const bool kill = r->Chance(0.5);
  const absl::Duration restart_in = length * r->Unit() / 2;
  w->loop.In(length * r->Unit() / 2,
             [w, scheduler, kill, restart_in] { kill ? w->Kill(scheduler, restart_in) : w->Terminate(scheduler); });
}

void Lag(World* w, Random* r) {
  w->CountFault();
  w->Lag(absl::Milliseconds(r->Between(50, 5000)), absl::Seconds(r->Between(5, 60)));
}

// The cache of one server stands still while the others go on; then those stop, and everybody is shown the past by it,
// and thrown out again and again.
void StandStill(World* w, Random* r) {
  if (w->servers.size() < 2) return;
  const size_t behind = r->Below(w->servers.size());
  const absl::Duration switched = absl::Milliseconds(r->Between(1'000, 10'000));
  const absl::Duration over = switched + absl::Milliseconds(r->Between(2'000, 10'000));
  w->CountFault();
  w->Excuse();
  w->servers[behind]->Freeze();
  w->loop.In(switched, [w, behind, length = over - switched] {
    for (size_t i = 0; i < w->servers.size(); ++i) {
      if (i != behind) w->StopServer(i, length);
    }
  });
  for (absl::Duration at = switched; at < over; at += absl::Milliseconds(r->Between(300, 1'500))) {
    w->loop.In(at, [w, behind] {
      w->CountFault();
      w->servers[behind]->CutWatches();
    });
  }
  w->loop.In(over, [w, behind] { w->servers[behind]->Thaw(); });
}

void Compact(World* w, Random* r) {
  w->CountFault();
  for (auto& s : w->servers) s->Compact(r->Below(20));
}

[[maybe_unused]] const bool kServerFaultsRegistered =
    RegisterActor({"server-stops", 2, StopServer}) && RegisterActor({"all-servers-stop", 1, StopAll}) &&
    RegisterActor({"all-servers-stop-around-a-scheduler", 1, StopAllAround}) && RegisterActor({"lag", 2, Lag}) &&
    RegisterActor({"server-stands-still", 2, StandStill}) && RegisterActor({"compact", 2, Compact});

}  // namespace
}  // namespace berth::simulation
