// VolumeBinding: which volumes the unbound claims of a pod would get on a node.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/reference/v1_29/plugin.h"

namespace berth::scheduler::reference::v1_29 {

using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

// What a node means for a pod's claims.
struct VolumesOnNode {
  std::vector<std::pair<ClaimPtr, VolumePtr>> bindings;  // unbound claims and the volumes found for them
  std::vector<ClaimPtr> provisions;                      // claims whose volumes would be made
  std::vector<std::string> reasons;                      // why the node cannot do; empty: it can
  std::string error;                                     // ends the cycle
};

struct ClaimsOfPod {
  std::vector<ClaimPtr> bound, delayed, immediate;
  std::map<std::string, std::vector<VolumePtr>>
      candidates;     // for delayed claims: the volumes of their classes, by name
  std::string error;  // ends the cycle
};
ClaimsOfPod ClassifyClaims(const World& world, const api::Pod& pod);
VolumesOnNode FindVolumes(const World& world, const ClaimsOfPod& claims, const api::Node& node);

// Writes down what placing a pod on a node means for volumes and claims: claimed volumes, and nodes selected for
// provisioning.
void AssumeVolumes(World* world, const api::Pod& pod, const api::Node& node);

}  // namespace berth::scheduler::reference::v1_29
