// What VolumeBinder and ClaimMatcher ask of one volume (Kubernetes 1.10 pkg/volume/util, persistentvolume/util).
#pragma once
#include "pkg/api/types.h"

namespace berth::scheduler {

// Whether its node affinity, also that of the alpha annotation, lets it be used on a node with these labels.
bool UsableOn(const api::PersistentVolume& v, const api::Labels& node);
// Reserved for this claim: by name, and by uid where one is written.
bool RefersTo(const api::PersistentVolume& v, const api::PersistentVolumeClaim& c);
// Could be given to the claim, which it is not reserved for, on a node where it can be used.
bool Suits(const api::PersistentVolume& v, const api::PersistentVolumeClaim& c);
const api::Quantity& CapacityOf(const api::PersistentVolume& v);

// Returns a condition without which the volume cannot be used on a node: one of these values for a label. Of several,
// that with the fewest values; null when there is none.
const api::Requirement* Tie(const api::PersistentVolume& v);

}  // namespace berth::scheduler
