// Users who create pods of all kinds, and delete them; some are created again at once under the same name.
#include <absl/strings/str_cat.h>

#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

PodSpec RandomPod(World* w, Random* r) {
  PodSpec p;
  p.name = absl::StrCat("p", r->Below(100'000));
  p.app = absl::StrCat("app", r->Below(4));
  p.milli_cpu = 100 * r->Between(1, 20);
  p.memory_mib = 64 * r->Between(1, 20);
  if (w->options.pod_priority && r->Chance(0.5)) p.priority = static_cast<int32_t>(100 * r->Below(4));
  if (r->Chance(0.2)) p.zone = absl::StrCat("z", r->Below(3));
  if (r->Chance(0.2)) p.tolerates = true;
  if (r->Chance(0.15)) {
    p.app = absl::StrCat("alone", r->Below(3));
    p.alone = true;
  }
  if (r->Chance(0.1)) p.host_port = 8000 + static_cast<int32_t>(r->Below(3));
  if (r->Chance(0.2)) p.scheduler = "packing";
  if (r->Chance(0.05)) p.scheduler = "somebody-else";
  if (r->Chance(0.1)) p.never_preempts = true;
  if (r->Chance(w->emulated.spreads ? 0.2 : 0.03)) p.max_skew = static_cast<int32_t>(r->Between(1, 2));
  return p;
}

void CreatePods(World* w, Random* r) {
  for (int64_t i = r->Between(1, 12); i > 0; --i) w->CreatePod(RandomPod(w, r));
}

// Pods that somebody lets go later.
void GatedPods(World* w, Random* r) {
  for (int64_t i = r->Between(1, 6); i > 0; --i) {
    PodSpec p = RandomPod(w, r);
    p.gated = true;
    w->CreatePod(p);
    w->loop.In(absl::Milliseconds(r->Between(10, 60'000)), [w, key = "default/" + p.name] {
      w->Edit("pods", key, [](Tree* t) {
        (*t)["spec"].RemoveMember("schedulingGates");
        SetText(t, {"metadata", "labels", "gated"}, "no-longer");
      });
    });
  }
}

// Many pods of one app, which want to be spread over the zones.
void SpreadPods(World* w, Random* r) {
  PodSpec p;
  const std::string name = absl::StrCat("spread", r->Below(100'000));
  p.app = absl::StrCat("spread", r->Below(3));
  p.milli_cpu = 100 * r->Between(1, 10);
  if (w->emulated.spreads) p.max_skew = static_cast<int32_t>(r->Between(1, 3));
  if (w->options.pod_priority) p.priority = static_cast<int32_t>(100 * r->Below(4));
  for (int64_t i = r->Between(2, 12); i > 0; --i) {
    p.name = absl::StrCat(name, "-", i);
    w->CreatePod(p);
  }
}

// Pods that end by themselves.
void Jobs(World* w, Random* r) {
  PodSpec p = RandomPod(w, r);
  const std::string name = absl::StrCat("job", r->Below(100'000));
  p.runs_seconds = r->Between(5, 120);
  for (int64_t i = r->Between(1, 10); i > 0; --i) {
    p.name = absl::StrCat(name, "-", i);
    w->CreatePod(p);
  }
}

void DeletePods(World* w, Random* r) {
  for (int64_t i = r->Between(1, 4); i > 0; --i) w->DeletePod(w->RandomKey("pods", r));
}

// A pod is forced out of the API, and another of its name comes before anybody has looked.
void Replace(World* w, Random* r) {
  const std::string key = w->RandomKey("pods", r);
  if (key.empty()) return;
  w->Excuse();  // the old one was never stopped
  w->etcd.Delete("pods", key);
  PodSpec p = RandomPod(w, r);
  p.name = key.substr(key.find('/') + 1);
  w->loop.In(absl::Milliseconds(r->Between(0, 50)), [w, p] { w->CreatePod(p); });
}

// Another scheduler places a pod on a node that can take it at this moment.
void Foreign(World* w, Random* r) {
  PodSpec p = RandomPod(w, r);
  p.scheduler = "somebody-else";
  p.alone = false;
  const std::string node = w->RandomKey("nodes", r);
  if (node.empty()) return;
  w->Excuse();
  w->CreatePod(p);
  w->Edit("pods", "default/" + p.name, [&](Tree* t) { SetText(t, {"spec", "nodeName"}, node); });
}

// A kubelet throws a pod out for want of memory.
void Evict(World* w, Random* r) {
  const std::string key = w->RandomKey("pods", r);
  ObjectPtr o = w->etcd.Get("pods", key);
  if (o == nullptr || ReadPod(key, *o).node.empty()) return;
  w->Edit("pods", key, [](Tree* t) { SetText(t, {"status", "phase"}, "Failed"); });
}

// Somebody changes labels and annotations of pods, as controllers do all day. Schedulers look at labels alone.
void Touch(World* w, Random* r) {
  const std::string mark = absl::StrCat(r->Below(1000));
  const char* const where = r->Chance(0.5) ? "labels" : "annotations";
  for (int64_t i = r->Between(1, 6); i > 0; --i) {
    w->Edit("pods", w->RandomKey("pods", r), [&](Tree* t) { SetText(t, {"metadata", where, "mark"}, mark); });
  }
}

// The same with every pod again and again, while a scheduler's watches show nothing: what it reads is newer than what
// it was shown.
void TouchUnseen(World* w, Random* r) {
  const int64_t length = r->Between(2'000, 30'000);
  w->CountFault();
  for (size_t i = 0; i < w->schedulers(); ++i) w->StallWatches(i, absl::Milliseconds(length));
  for (int64_t at = 0; at < length; at += r->Between(500, 3'000)) {
    w->loop.In(absl::Milliseconds(at), [w, at] {
      for (const std::string& key : w->Keys("pods")) {
        w->Edit("pods", key, [&](Tree* t) { SetText(t, {"metadata", "labels", "mark"}, absl::StrCat(at)); });
      }
    });
  }
}

[[maybe_unused]] const bool kPodsRegistered =
    RegisterActor({"create-pods", 10, CreatePods}) && RegisterActor({"jobs", 4, Jobs}) &&
    RegisterActor({"delete-pods", 5, DeletePods}) && RegisterActor({"replace-pod", 2, Replace}) &&
    RegisterActor({"foreign-pod", 2, Foreign}) && RegisterActor({"evict-pod", 2, Evict}) &&
    RegisterActor({"touch-pods", 2, Touch}) && RegisterActor({"touch-pods-unseen", 1, TouchUnseen}) &&
    RegisterActor({"gated-pods", 3, GatedPods}) && RegisterActor({"spread-pods", 3, SpreadPods});

}  // namespace
}  // namespace berth::simulation
