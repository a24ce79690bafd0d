// The volumes and claims of a simulated cluster, and what their controllers make of what the scheduler writes.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>

#include "pkg/simulate/pods.h"

namespace berth::simulate {

class Volumes {
 public:
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

  // Both must outlive the object.
  Volumes(Session* session, Pods* pods) : session_(session), pods_(pods) {}

  // Add what is there at the beginning. Return what is to be shown in its place: the same as its JSON describes.
  const ClaimPtr& Add(const ClaimPtr& claim);
  const VolumePtr& Add(const VolumePtr& volume);
  // The volume is reserved for the claim, and the volume controller binds the claim to it. `answer` is given in
  // between.
  void Reserve(const VolumePtr& volume, const ClaimPtr& claim, const scheduler::Reply& answer);
  // A volume is provisioned for the claim at once, on the node that was chosen.
  void Provision(const ClaimPtr& claim, const scheduler::Reply& answer);

 private:
  void BindClaim(const ClaimPtr& claim, const std::string& volume);

  Session* const session_;
  Pods* const pods_;
  absl::flat_hash_map<std::string, ClaimPtr> claims_;
  absl::flat_hash_map<std::string, VolumePtr> volumes_;
};

}  // namespace berth::simulate
