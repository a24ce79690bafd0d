// The controllers of a cluster. Each is a state machine over the world: it reads what is, and does what its rules say.
#pragma once
#include <memory>

#include "pkg/world/living/node_lifecycle.h"
#include "pkg/world/living/world.h"

namespace berth::world::living {

// `kind` is ReplicaSet or ReplicationController.
std::unique_ptr<Actor> NewReplicaSetController(World* world, std::string_view kind);
std::unique_ptr<Actor> NewDeploymentController(World* world);
std::unique_ptr<Actor> NewStatefulSetController(World* world);
std::unique_ptr<Actor> NewDaemonSetController(World* world);
std::unique_ptr<Actor> NewJobController(World* world);
std::unique_ptr<Actor> NewCronJobController(World* world);
// Deletes what has no owner any more, and does foreground and orphaning deletions.
std::unique_ptr<Actor> NewGarbageCollector(World* world);
// The status of PodDisruptionBudgets.
std::unique_ptr<Actor> NewDisruptionController(World* world);
// Empties and removes namespaces that are being deleted.
std::unique_ptr<Actor> NewNamespaceController(World* world);
// Binds claims and volumes, makes the claims of ephemeral volumes, and provisions volumes for any provisioner but
// kubernetes.io/no-provisioner.
std::unique_ptr<Actor> NewVolumeController(World* world);
// Keeps claims that pods use and volumes that are bound from going, by finalizers.
std::unique_ptr<Actor> NewVolumeProtection(World* world);
// The addresses behind services.
std::unique_ptr<Actor> NewEndpointsController(World* world);
// Makes the service account "default" of each namespace.
std::unique_ptr<Actor> NewServiceAccounts(World* world);

// Adds all controllers of the release. `services_are_read`: whether anybody reads the addresses behind services.
void AddControllers(World* world, const NodeLifecycleOptions& nodes, bool services_are_read = true);

}  // namespace berth::world::living
