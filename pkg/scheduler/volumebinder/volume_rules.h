// Properties of one volume that VolumeBinder and ClaimMatcher examine. Source: pkg/volume/util and
// pkg/controller/volume/persistentvolume (1.10).
#pragma once
#include "pkg/api/types.h"

namespace berth::scheduler {

// Returns whether the volume's node affinity, including that of the alpha annotation, allows a node with these labels.
bool UsableOn(const api::PersistentVolume& v, const api::Labels& node);
// Returns whether the volume is reserved for the claim: by name and, if the claimRef has a uid, also by uid.
bool RefersTo(const api::PersistentVolume& v, const api::PersistentVolumeClaim& c);
// Returns whether the volume, which is not reserved, suits the claim on nodes that can use it.
bool Suits(const api::PersistentVolume& v, const api::PersistentVolumeClaim& c);
// Returns the capacity of the volume, or 0 if it has none.
const api::Quantity& CapacityOf(const api::PersistentVolume& v);

// Returns a requirement that every node must satisfy to use the volume and that lists the values of one label. If there
// are several, returns the one with the fewest values; if there is none, null.
const api::Requirement* NarrowestRequirement(const api::PersistentVolume& v);

}  // namespace berth::scheduler
