// Nodes that come, go, flap, are cordoned, tainted and resized.
#include <absl/strings/str_cat.h>

#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void NodeComes(World* w, Random* r) {
  NodeSpec n;
  n.name = absl::StrCat("n", r->Below(20));
  n.zone = absl::StrCat("z", r->Below(3));
  n.milli_cpu = 1000 * r->Between(1, 8);
  n.pods = r->Chance(0.2) ? r->Between(1, 10) : 110;
  n.tainted = r->Chance(0.15);
  w->CreateNode(n);
}

void NodeGoes(World* w, Random* r) {
  w->DeleteNode(w->RandomKey("nodes", r));
}

// The kubelet says so, and the node controller sees to it.
void SetReady(World* w, const std::string& node, bool ready) {
  w->Edit("nodes", node, [&](Tree* t) {
    Node& c = (*t)["status"]["conditions"][0];
    c["status"].SetString(ready ? "True" : "Unknown", t->GetAllocator());
    // Schedulers of releases with such taints look at the taint alone, others at the condition.
    if (w->emulated.taints_by_condition) SetTaint(t, kNotReady, !ready);
  });
}

void NodeFlaps(World* w, Random* r) {
  const std::string node = w->RandomKey("nodes", r);
  const int64_t times = r->Between(1, 4);
  for (int64_t i = 0; i < times; ++i) {
    const absl::Duration begin = absl::Milliseconds(5000 * i + r->Between(0, 2000));
    w->loop.In(begin, [w, node] { SetReady(w, node, false); });
    w->loop.In(begin + absl::Milliseconds(r->Between(100, 3000)), [w, node] { SetReady(w, node, true); });
  }
}

void Cordon(World* w, Random* r) {
  const std::string node = w->RandomKey("nodes", r);
  w->Edit("nodes", node, [](Tree* t) { Set(t, {"spec", "unschedulable"}, Node(true)); });
  w->loop.In(absl::Seconds(r->Between(1, 60)), [w, node] {
    w->Edit("nodes", node, [](Tree* t) { Set(t, {"spec", "unschedulable"}, Node(false)); });
  });
}

void Drain(World* w, Random* r) {
  const std::string node = w->RandomKey("nodes", r);
  w->Edit("nodes", node, [](Tree* t) { Set(t, {"spec", "unschedulable"}, Node(true)); });
  for (const std::string& key : w->Keys("pods")) {
    if (ReadPod(key, *w->etcd.Get("pods", key)).node == node) w->DeletePod(key);
  }
}

void Taint(World* w, Random* r) {
  const std::string node = w->RandomKey("nodes", r);
  ObjectPtr o = w->etcd.Get("nodes", node);
  if (o == nullptr) return;
  const bool tainted = ReadNode(node, *o).tainted;
  w->Edit("nodes", node, [&](Tree* t) { SetTaint(t, kDedicated, !tainted); });
}

void Resize(World* w, Random* r) {
  w->Edit("nodes", w->RandomKey("nodes", r), [&](Tree* t) {
    SetText(t, {"status", "allocatable", "cpu"}, absl::StrCat(1000 * r->Between(1, 8), "m"));
  });
}

// What kubelets write every ten seconds and nobody needs to hear of.
void Heartbeats(World* w, Random* r) {
  const std::string time = absl::StrCat("2017-07-14T02:40:", 10 + r->Below(50), "Z");
  for (const std::string& node : w->Keys("nodes")) {
    w->Edit("nodes", node, [&](Tree* t) {
      Node& c = (*t)["status"]["conditions"][0];
      c.RemoveMember("lastHeartbeatTime");
      c.AddMember("lastHeartbeatTime", Node(time.c_str(), t->GetAllocator()), t->GetAllocator());
    });
  }
}

[[maybe_unused]] const bool kNodesRegistered =
    RegisterActor({"node-comes", 3, NodeComes}) && RegisterActor({"node-goes", 1, NodeGoes}) &&
    RegisterActor({"node-flaps", 2, NodeFlaps}) && RegisterActor({"cordon", 2, Cordon}) &&
    RegisterActor({"drain", 1, Drain}) && RegisterActor({"taint", 2, Taint}) && RegisterActor({"resize", 1, Resize}) &&
    RegisterActor({"heartbeats", 1, Heartbeats});

}  // namespace
}  // namespace berth::simulation
