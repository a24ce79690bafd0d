// The controller of ReplicaSets, the garbage collector and the kubelets of pkg/world/living in the simulated cluster,
// in the place of the simple ones of world.cc. They write to etcd, and while there are faults their writes are refused
// by conflicts and errors, or done although they hear of an error. Nodes say what the actors of nodes.cc make them say.
#pragma once
#include <memory>

#include "pkg/world/living/world.h"
#include "test/simulation/etcd.h"
#include "test/simulation/random.h"

namespace berth::simulation {

class World;

class LivingActors {
 public:
  // The world must outlive it.
  explicit LivingActors(World* world);
  ~LivingActors();
  // Tells of a change. Fails the world if a ReplicaSet has more pods than it wants when one is created.
  void OnCommit(const Commit& c);
  // Fails the world unless each ReplicaSet has the pods that it wants.
  void CheckAtRest();

 private:
  class Access;
  class LoopClock;
  void Wake();
  int64_t ActivePodsOf(const world::Value& set) const;

  World* const world_;
  std::unique_ptr<LoopClock> clock_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<world::living::World> living_;
  absl::Duration awake_at_ = absl::InfiniteDuration();  // when the next work is asked for
  Random plans_;                                        // of the delays of kubelets
};

}  // namespace berth::simulation
