// The plugin VolumeBinding: which volumes the unbound claims of a pod would get on a node.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/reference/plugins/plugin.h"

namespace berth::scheduler::reference::plugins {

using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

// The result for one pod on one node.
struct VolumesOnNode {
  std::vector<std::pair<ClaimPtr, VolumePtr>> bindings;  // unbound claims and the volumes found for them
  std::vector<ClaimPtr> provisions;                      // claims whose volumes would be provisioned
  std::vector<std::string> reasons;                      // why the node does not fit; empty when it fits
  std::string error;                                     // if not empty, the cycle ends with this error
};

struct ClaimsOfPod {
  std::vector<ClaimPtr> bound, delayed, immediate;
  std::map<std::string, std::vector<VolumePtr>>
      candidates;     // the volumes of each class that a delayed claim has, by the name of the class
  std::string error;  // if not empty, the cycle ends with this error
};
ClaimsOfPod ClassifyClaims(const World& world, const api::Pod& pod);
VolumesOnNode FindVolumes(const World& world, const ClaimsOfPod& claims, const api::Node& node);

// Changes volumes and claims as placing the pod on the node does: volumes are claimed, and nodes are selected for
// provisioning.
void AssumeVolumes(World* world, const api::Pod& pod, const api::Node& node);

}  // namespace berth::scheduler::reference::plugins
