// ReplicaSets that are created, scaled and removed, and budgets for their pods.
#include <absl/strings/str_cat.h>

#include "test/simulation/plan.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

void Scale(World* w, Random* r) {
  const std::string name = absl::StrCat("rs", r->Below(5));
  World::ReplicaSet& rs = w->replica_sets[name];
  if (rs.spec.app.empty()) {
    rs.spec.app = name;
    rs.spec.milli_cpu = 100 * r->Between(1, 10);
    rs.spec.priority = w->options.pod_priority ? static_cast<int32_t>(50 * r->Below(3)) : 0;
    rs.spec.alone = r->Chance(0.2);
  }
  rs.replicas = static_cast<int>(r->Below(20));
  w->etcd.Put("replicasets", "default/" + name, ReplicaSetJson(name, rs.spec, rs.replicas));
}

void RemoveSet(World* w, Random* r) {
  const std::string name = absl::StrCat("rs", r->Below(5));
  if (w->replica_sets.erase(name) > 0) w->etcd.Delete("replicasets", "default/" + name);
}

void Budget(World* w, Random* r) {
  const std::string app = absl::StrCat("rs", r->Below(5));
  const std::string key = "default/budget-" + app;
  if (w->etcd.Get("poddisruptionbudgets", key) != nullptr) {
    w->etcd.Delete("poddisruptionbudgets", key);
  } else {
    w->etcd.Put("poddisruptionbudgets", key, BudgetJson("budget-" + app, app, static_cast<int>(r->Below(3))));
  }
}

[[maybe_unused]] const bool kReplicaSetsRegistered = RegisterActor({"scale", 8, Scale}) &&
                                                     RegisterActor({"remove-replica-set", 1, RemoveSet}) &&
                                                     RegisterActor({"budget", 3, Budget});

}  // namespace
}  // namespace berth::simulation
