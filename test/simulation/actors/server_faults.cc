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

void Lag(World* w, Random* r) {
  w->CountFault();
  w->Lag(absl::Milliseconds(r->Between(50, 5000)), absl::Seconds(r->Between(5, 60)));
}

void Compact(World* w, Random* r) {
  w->CountFault();
  for (auto& s : w->servers) s->Compact(r->Below(20));
}

[[maybe_unused]] const bool kRegistered = RegisterActor({"server-stops", 2, StopServer}) &&
                                          RegisterActor({"all-servers-stop", 1, StopAll}) &&
                                          RegisterActor({"lag", 2, Lag}) && RegisterActor({"compact", 2, Compact});

}  // namespace
}  // namespace berth::simulation
