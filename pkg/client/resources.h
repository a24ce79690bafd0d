// What a scheduler follows, and where it is served (process/09 §1). Newer servers have dropped some of the groups 1.10
// used; the paths to fall back to come behind them.
#pragma once
#include "pkg/client/reflector.h"

namespace berth::client {

// All pods that are neither Failed nor Succeeded, of every scheduler (B-36: 1.10 saw only its own and overcommitted).
Resource PodsResource();
Resource NodesResource();
Resource PersistentVolumesResource();
Resource PersistentVolumeClaimsResource();
Resource ServicesResource();
Resource ReplicationControllersResource();
Resource ReplicaSetsResource();           // extensions/v1beta1, else apps/v1
Resource StatefulSetsResource();          // apps/v1beta1, else apps/v1
Resource PodDisruptionBudgetsResource();  // policy/v1beta1, else policy/v1
Resource StorageClassesResource();        // storage.k8s.io/v1, else v1beta1

}  // namespace berth::client
