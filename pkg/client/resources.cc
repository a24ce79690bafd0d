#include "pkg/client/resources.h"

namespace berth::client {

Resource PodsResource() {
  return {"pods", "*v1.Pod", {"/api/v1/pods"}, "status.phase!=Failed,status.phase!=Succeeded"};
}
Resource NodesResource() {
  return {"nodes", "*v1.Node", {"/api/v1/nodes"}, ""};
}
Resource PersistentVolumesResource() {
  return {"persistentvolumes", "*v1.PersistentVolume", {"/api/v1/persistentvolumes"}, ""};
}
Resource PersistentVolumeClaimsResource() {
  return {"persistentvolumeclaims", "*v1.PersistentVolumeClaim", {"/api/v1/persistentvolumeclaims"}, ""};
}
Resource ServicesResource() {
  return {"services", "*v1.Service", {"/api/v1/services"}, ""};
}
Resource ReplicationControllersResource() {
  return {"replicationcontrollers", "*v1.ReplicationController", {"/api/v1/replicationcontrollers"}, ""};
}
Resource ReplicaSetsResource() {
  return {"replicasets.extensions",
          "*v1beta1.ReplicaSet",
          {"/apis/extensions/v1beta1/replicasets", "/apis/apps/v1/replicasets"},
          ""};
}
Resource StatefulSetsResource() {
  return {"statefulsets.apps",
          "*v1beta1.StatefulSet",
          {"/apis/apps/v1beta1/statefulsets", "/apis/apps/v1/statefulsets"},
          ""};
}
Resource PodDisruptionBudgetsResource() {
  return {"poddisruptionbudgets.policy",
          "*v1beta1.PodDisruptionBudget",
          {"/apis/policy/v1beta1/poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets"},
          ""};
}
Resource StorageClassesResource() {
  return {"storageclasses.storage.k8s.io",
          "*v1.StorageClass",
          {"/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1beta1/storageclasses"},
          ""};
}

}  // namespace berth::client
