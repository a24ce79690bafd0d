// A network that loses, delays, repeats and cuts.
#include <absl/strings/str_cat.h>

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

// What a broken proxy, a server that is being replaced, or one that is out of memory sends.
void OddAnswers(World* w, Random* r) {
  Faults f;
  double* const kinds[] = {&f.refusal, &f.gone, &f.garbage, &f.hang, &f.cut_event, &f.pieces};
  for (double* p : kinds) {
    if (r->Chance(0.4)) *p = 0.4 * r->Unit();
  }
  *kinds[r->Below(std::size(kinds))] = 0.1 + 0.9 * r->Unit();
  w->SetFaults(f, absl::Seconds(r->Between(2, 60)));
}

// Many large pods are bound while nobody hears what became of that, by an answer or by a watch: room that may be taken
// must stay taken.
void UnheardBinds(World* w, Random* r) {
  Faults f;
  (r->Chance(0.5) ? f.error_after : f.lose_answer) = 0.3 + 0.5 * r->Unit();
  const absl::Duration length = absl::Milliseconds(r->Between(1'000, 6'000));
  w->SetFaults(f, length);
  w->loop.In(absl::Milliseconds(20), [w, length] {
    for (size_t i = 0; i < w->schedulers(); ++i) w->StallWatches(i, length);
  });
  PodSpec p;
  p.app = "unheard";
  p.memory_mib = 64;
  const std::string name = absl::StrCat("unheard", r->Below(100'000));
  const int64_t pods = r->Between(10, 40);
  // Those that come before the watches stall are seen.
  for (int64_t i = 0; i < pods; ++i) {
    p.name = absl::StrCat(name, "-", i);
    p.milli_cpu = 500 * r->Between(1, 6);
    p.runs_seconds = r->Between(10, 60);
    w->CreatePod(p);
  }
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

[[maybe_unused]] const bool kNetworkFaultsRegistered =
    RegisterActor({"bad-network", 3, BadNetwork}) && RegisterActor({"one-fault", 3, OneFault}) &&
    RegisterActor({"odd-answers", 3, OddAnswers}) && RegisterActor({"unheard-binds", 2, UnheardBinds}) &&
    RegisterActor({"slow-network", 1, SlowNetwork}) && RegisterActor({"cut-watches", 2, CutWatches}) &&
    RegisterActor({"stall-watches", 2, StallWatches}) && RegisterActor({"cut-off", 1, CutOff});

}  // namespace
}  // namespace berth::simulation
