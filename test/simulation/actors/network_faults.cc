// A network that loses, delays, repeats and cuts.
#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void BadNetwork(World* w, Random* r) {
  Faults f;
  const double level = 0.25 * r->Unit();
  for (double* p : {&f.refuse, &f.lose_request, &f.lose_answer, &f.late, &f.error_before, &f.error_after, &f.throttle,
                    &f.cut_list, &f.repeat_event}) {
    if (r->Chance(0.5)) *p = level * r->Unit();
  }
  w->SetFaults(f, absl::Seconds(r->Between(5, 60)));
}

// One kind of fault, hard.
void OneFault(World* w, Random* r) {
  Faults f;
  double* const kinds[] = {&f.refuse, &f.lose_request, &f.lose_answer, &f.late, &f.error_before, &f.error_after};
  *kinds[r->Below(std::size(kinds))] = 0.3 + 0.7 * r->Unit();
  w->SetFaults(f, absl::Seconds(r->Between(2, 20)));
}

void SlowNetwork(World* w, Random* r) {
  Faults f;
  f.slow = static_cast<double>(r->Between(5, 500));
  w->SetFaults(f, absl::Seconds(r->Between(5, 40)));
}

void CutWatches(World* w, Random* r) {
  w->CountFault();
  w->servers[r->Below(w->servers.size())]->CutWatches();
}

void StallWatches(World* w, Random* r) {
  w->CountFault();
  w->StallWatches(r->Below(w->schedulers()), absl::Milliseconds(r->Between(100, 20'000)));
}

void CutOff(World* w, Random* r) {
  w->CountFault();
  w->CutOff(r->Below(w->schedulers()), absl::Seconds(r->Between(1, 40)));
}

[[maybe_unused]] const bool kRegistered =
    RegisterActor({"bad-network", 3, BadNetwork}) && RegisterActor({"one-fault", 3, OneFault}) &&
    RegisterActor({"slow-network", 1, SlowNetwork}) && RegisterActor({"cut-watches", 2, CutWatches}) &&
    RegisterActor({"stall-watches", 2, StallWatches}) && RegisterActor({"cut-off", 1, CutOff});

}  // namespace
}  // namespace berth::simulation
