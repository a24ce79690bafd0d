// Claims and volumes as the volume controller binds them, without provisioning anything but in name.
#pragma once
#include <absl/status/status.h>

#include <memory>
#include <vector>

#include "pkg/api/decode.h"

namespace berth::world {

// Returns the volume that a claim gets at once, or null: of the Available volumes of its class that are large enough
// and have its access modes, volume mode and labels, one that names the claim, else the smallest. Does not ask where
// the volume can be reached, as servers do not for a class that does not wait.
api::Ptr<api::PersistentVolume> VolumeFor(const api::PersistentVolumeClaim& claim,
                                          const std::vector<api::Ptr<api::PersistentVolume>>& volumes);

// Binds claims whose class does not wait for a first consumer. A claim for which there is no volume, and whose class
// has a provisioner, gets a new volume "pvc-UID" with the class's topology. The claims are elements of `cluster` or
// not; `cluster` gets the changed and new volumes.
absl::Status BindAtOnce(const std::vector<std::shared_ptr<api::PersistentVolumeClaim>>& claims,
                        std::vector<api::Object>* cluster);

}  // namespace berth::world
