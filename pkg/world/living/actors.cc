#include "pkg/world/living/actors.h"

namespace berth::world::living {

void AddControllers(World* world, const NodeLifecycleOptions& nodes, bool services_are_read) {
  for (std::string_view kind : {"ReplicaSet", "ReplicationController"}) {
    world->Add(NewReplicaSetController(world, kind));
  }
  world->Add(NewDeploymentController(world));
  world->Add(NewStatefulSetController(world));
  world->Add(NewDaemonSetController(world));
  world->Add(NewJobController(world));
  world->Add(NewCronJobController(world));
  world->Add(NewDisruptionController(world));
  world->Add(NewVolumeController(world));
  world->Add(NewVolumeProtection(world));
  world->Add(NewServiceAccounts(world));
  if (services_are_read) world->Add(NewEndpointsController(world));
  world->Add(NewNodeLifecycle(world, nodes));
  world->Add(NewTaintEviction(world));
  world->Add(NewPodCollector(world));
  world->Add(NewGarbageCollector(world));
  world->Add(NewNamespaceController(world));
}

}  // namespace berth::world::living
