// The storage of the simulated cluster: classes, volumes and claims, what the volume controller and a provisioner do
// with them, and the oracle that says whether a pod's claim can be used on a node.
//
// Claims wait for their first consumer. Those of the class "local" get one of the volumes that users create in a zone,
// those of the class "made" a volume that is made for them in the zone of the node that the scheduler has selected.
#pragma once
#include <string>

#include "test/simulation/etcd.h"
#include "test/simulation/objects.h"
#include "test/simulation/random.h"

namespace berth::simulation {

class World;

inline constexpr const char* kLocal = "local";
inline constexpr const char* kMade = "made";

// Creates the two classes unless they exist.
void CreateStorageClasses(Etcd* etcd);
void CreateVolume(Etcd* etcd, const std::string& name, const std::string& zone);
void CreateClaim(Etcd* etcd, const std::string& name, const std::string& storage_class);
// Deletes the volume unless it is reserved or bound.
void DeleteFreeVolume(Etcd* etcd, const std::string& name);
// Takes back the reservation of a volume whose claim is not bound, or deletes the volume. Does nothing to others.
void TakeBack(World* world, const std::string& volume, bool deleted);

// What the controllers do in about a second: bind claims to the volumes that are reserved for them, make volumes for
// claims with a selected node or give that up, delete claims whose pods are gone, and free the volumes of claims that
// are gone.
void StorageTurn(World* world, Random* random);

inline constexpr const char* kOtherZone = "its volume is in another zone";
// Return why a pod cannot use its claim on the node, or "" if it can or has none: once the pod is bound there, and as
// long as it is pending, when volumes that are free can be used, too.
std::string WhyNotBoundStorage(const Etcd& etcd, const PodView& p, const NodeView& n);
std::string WhyNotStorage(Etcd* etcd, const PodView& p, const NodeView& n);

}  // namespace berth::simulation
