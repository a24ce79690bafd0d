// Pods with claims that wait for their first consumer, and the volumes for them.
#include "test/simulation/storage.h"

#include <absl/strings/str_cat.h>

#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void Volumes(World* w, Random* r) {
  if (!w->options.claims) return;
  for (int64_t i = r->Between(1, 6); i > 0; --i) {
    const std::string name = absl::StrCat("v", r->Below(1000)), zone = absl::StrCat("z", r->Below(3));
    CreateVolume(&w->etcd, name, zone);
  }
}

void ClaimedPods(World* w, Random* r) {
  if (!w->options.claims) return;
  for (int64_t i = r->Between(1, 6); i > 0; --i) {
    PodSpec p;
    p.name = absl::StrCat("c", r->Below(100'000));
    p.app = absl::StrCat("app", r->Below(4));
    p.milli_cpu = 100 * r->Between(1, 15);
    p.memory_mib = 64 * r->Between(1, 15);
    p.tolerates = r->Chance(0.2);
    if (r->Chance(0.1)) p.zone = absl::StrCat("z", r->Below(3));
    if (r->Chance(0.2)) p.scheduler = "packing";
    if (r->Chance(0.2)) p.runs_seconds = r->Between(5, 120);
    // Its name is never used again, so that nobody takes it for an older one.
    p.claim = absl::StrCat("claim-", r->Next());
    const char* const storage_class = w->emulated.provisions && r->Chance(0.5) ? kMade : kLocal;
    const bool claim_first = r->Chance(0.8);
    if (claim_first) CreateClaim(&w->etcd, p.claim, storage_class);
    w->CreatePod(p);
    if (!claim_first) {
      w->loop.In(absl::Milliseconds(r->Between(0, 5'000)),
                 [w, name = p.claim, storage_class] { CreateClaim(&w->etcd, name, storage_class); });
    }
  }
}

void DeleteVolumes(World* w, Random* r) {
  for (int64_t i = r->Between(1, 3); i > 0; --i) DeleteFreeVolume(&w->etcd, w->RandomKey("persistentvolumes", r));
}

// For some seconds volumes do not stay reserved.
void TakeVolumesBack(World* w, Random* r) {
  for (int64_t at = 0, length = r->Between(1'000, 20'000); at < length; at += r->Between(100, 500)) {
    w->loop.In(absl::Milliseconds(at), [w, seed = r->Next()] {
      Random random(seed);
      TakeBack(w, w->RandomKey("persistentvolumes", &random), random.Chance(0.3));
    });
  }
}

[[maybe_unused]] const bool kStorageRegistered =
    RegisterActor({"volumes", 4, Volumes}) && RegisterActor({"claimed-pods", 6, ClaimedPods}) &&
    RegisterActor({"delete-volumes", 1, DeleteVolumes}) && RegisterActor({"take-volumes-back", 2, TakeVolumesBack});

}  // namespace
}  // namespace berth::simulation
