// The types of nodes, services, workloads, volumes and the rest. schema_types.h explains the notation.
#include "pkg/api/validation/schema_types.h"

namespace berth::validation {

const char* const kClusterTypes = R"(
Node
  metadata ObjectMeta
  spec NodeSpec
  status NodeStatus
NodeSpec
  podCIDR string go=PodCIDR
  externalID string
  providerID string
  unschedulable bool
  taints []Taint
  configSource *NodeConfigSource
  podCIDRs []string merge go=PodCIDRs
NodeConfigSource
  configMapRef *ObjectReference
Taint
  key string!
  value string
  effect string!
  timeAdded *time
NodeStatus
  capacity rl
  allocatable rl
  phase string
  conditions []NodeCondition key=type
  addresses []NodeAddress key=type
  daemonEndpoints NodeDaemonEndpoints
  nodeInfo NodeSystemInfo
  images []ContainerImage
  volumesInUse []string
  volumesAttached []AttachedVolume
  config *NodeConfigStatus
  runtimeHandlers []any
  features any
  declaredFeatures []string
NodeConfigStatus
  assigned any
  active any
  lastKnownGood any
  error string
NodeCondition
  type string!
  status string!
  lastHeartbeatTime time
  lastTransitionTime time
  reason string
  message string
NodeAddress
  type string!
  address string!
NodeDaemonEndpoints
  kubeletEndpoint DaemonEndpoint
DaemonEndpoint
  Port int32!
NodeSystemInfo
  machineID string!
  systemUUID string!
  bootID string!
  kernelVersion string!
  osImage string!
  containerRuntimeVersion string!
  kubeletVersion string!
  kubeProxyVersion string!
  operatingSystem string!
  architecture string!
  swap any
ContainerImage
  names []string!
  sizeBytes int64
AttachedVolume
  name string!
  devicePath string!

Namespace proto
  metadata ObjectMeta
  spec NamespaceSpec
  status NamespaceStatus
NamespaceSpec proto
  finalizers []string
NamespaceStatus proto
  phase string
  conditions []WorkloadCondition key=type

Service proto
  metadata ObjectMeta
  spec ServiceSpec
  status ServiceStatus
ServiceSpec proto
  ports []ServicePort key=port n=1
  selector map n=2
  clusterIP string n=3
  type string n=4
  externalIPs []string n=5
  sessionAffinity string n=7
  loadBalancerIP string n=8
  loadBalancerSourceRanges []string n=9
  externalName string n=10
  externalTrafficPolicy string n=11
  healthCheckNodePort int32 n=12
  publishNotReadyAddresses bool n=13
  sessionAffinityConfig *SessionAffinityConfig n=14
  ipFamily *string go=IPFamily n=15
  topologyKeys []string n=16
  clusterIPs []string go=ClusterIPs n=18
  ipFamilies []string go=IPFamilies n=19
  ipFamilyPolicy *string go=IPFamilyPolicy n=17
  allocateLoadBalancerNodePorts *bool n=20
  loadBalancerClass *string n=21
  internalTrafficPolicy *string n=22
  trafficDistribution *string n=23
SessionAffinityConfig proto
  clientIP *ClientIPConfig
ClientIPConfig proto
  timeoutSeconds *int32
ServicePort proto
  name string
  protocol string
  port int32!
  targetPort intstr
  nodePort int32
  appProtocol *string
ServiceStatus proto
  loadBalancer LoadBalancerStatus
  conditions []ServiceCondition key=type
ServiceCondition
  type string!
  status string!
  observedGeneration int64
  lastTransitionTime time
  reason string!
  message string!
LoadBalancerStatus proto
  ingress []LoadBalancerIngress
LoadBalancerIngress
  ip string go=IP
  hostname string
  ipMode *string go=IPMode
  ports any

Endpoints
  metadata ObjectMeta
  subsets []EndpointSubset
EndpointSubset
  addresses []EndpointAddress
  notReadyAddresses []EndpointAddress
  ports []EndpointPort
EndpointAddress
  ip string! go=IP
  hostname string
  nodeName *string
  targetRef *ObjectReference
EndpointPort
  name string
  port int32!
  protocol string
  appProtocol *string

ConfigMap proto
  metadata ObjectMeta
  data map
  binaryData map
  immutable *bool

Event
  metadata ObjectMeta
  involvedObject ObjectReference!
  reason string
  message string
  source EventSource
  firstTimestamp time
  lastTimestamp time
  count int32
  type string
  eventTime microtime
  series *EventSeries
  action string
  related *ObjectReference
  reportingComponent string! go=ReportingController
  reportingInstance string!
EventSource
  component string
  host string
EventSeries
  count int32
  lastObservedTime microtime
  state string

ReplicationController
  metadata ObjectMeta
  spec ReplicationControllerSpec
  status ReplicaStatus
ReplicationControllerSpec
  replicas *int32
  minReadySeconds int32
  selector map
  template *PodTemplateSpec
ReplicaStatus
  replicas int32!
  fullyLabeledReplicas int32
  readyReplicas int32
  availableReplicas int32
  terminatingReplicas *int32
  observedGeneration int64
  conditions []WorkloadCondition key=type
WorkloadCondition
  type string!
  status string!
  lastTransitionTime time
  reason string
  message string
ReplicaSet
  metadata ObjectMeta
  spec ReplicaSetSpec
  status ReplicaStatus
ReplicaSetSpec
  replicas *int32
  minReadySeconds int32
  selector *LabelSelector
  template PodTemplateSpec
StatefulSet
  metadata ObjectMeta
  spec StatefulSetSpec
  status StatefulSetStatus
StatefulSetSpec
  replicas *int32
  selector *LabelSelector
  template PodTemplateSpec
  volumeClaimTemplates []PersistentVolumeClaimTemplate
  serviceName string!
  podManagementPolicy string
  updateStrategy StatefulSetUpdateStrategy
  revisionHistoryLimit *int32
  minReadySeconds int32
  persistentVolumeClaimRetentionPolicy *ClaimRetentionPolicy
  ordinals *StatefulSetOrdinals
ClaimRetentionPolicy
  whenDeleted string
  whenScaled string
StatefulSetOrdinals
  start int32!
PersistentVolumeClaimTemplate
  kind string
  apiVersion string
  metadata ObjectMeta
  spec PersistentVolumeClaimSpec
  status PersistentVolumeClaimStatus
StatefulSetUpdateStrategy
  type string
  rollingUpdate *RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy
  partition *int32
  maxUnavailable *intstr
StatefulSetStatus
  observedGeneration int64
  replicas int32!
  readyReplicas int32
  currentReplicas int32
  updatedReplicas int32
  currentRevision string
  updateRevision string
  collisionCount *int32
  conditions []WorkloadCondition key=type
  availableReplicas int32!
Deployment proto
  metadata ObjectMeta
  spec DeploymentSpec
  status DeploymentStatus
DeploymentSpec proto
  replicas *int32
  selector *LabelSelector
  template PodTemplateSpec
  strategy DeploymentStrategy retain
  minReadySeconds int32
  revisionHistoryLimit *int32
  paused bool
  rollbackTo *RollbackConfig
  progressDeadlineSeconds *int32
RollbackConfig
  revision int64
DeploymentStrategy proto
  type string
  rollingUpdate *RollingUpdateDeployment
RollingUpdateDeployment proto
  maxUnavailable *intstr
  maxSurge *intstr
DeploymentStatus proto
  observedGeneration int64 n=1
  replicas int32 n=2
  updatedReplicas int32 n=3
  readyReplicas int32 n=7
  availableReplicas int32 n=4
  unavailableReplicas int32 n=5
  terminatingReplicas *int32 n=9
  conditions []DeploymentCondition key=type n=6
  collisionCount *int32 n=8
DeploymentCondition
  type string!
  status string!
  lastUpdateTime time
  lastTransitionTime time
  reason string
  message string
Scale
  metadata ObjectMeta
  spec ScaleSpec
  status ScaleStatus
ScaleSpec
  replicas int32
ScaleStatus
  replicas int32!
  selector any
  targetSelector string

PersistentVolume
  metadata ObjectMeta
  spec PersistentVolumeSpec
  status PersistentVolumeStatus
PersistentVolumeSpec
  capacity rl
  gcePersistentDisk *GCEPersistentDiskVolumeSource go=GCEPersistentDisk
  awsElasticBlockStore *AWSElasticBlockStoreVolumeSource go=AWSElasticBlockStore
  hostPath *HostPathVolumeSource
  glusterfs *GlusterfsVolumeSource
  nfs *NFSVolumeSource go=NFS
  rbd *RBDVolumeSource go=RBD
  iscsi *ISCSIVolumeSource go=ISCSI
  cinder *CinderVolumeSource
  cephfs *CephFSVolumeSource go=CephFS
  fc *FCVolumeSource go=FC
  flocker *FlockerVolumeSource
  flexVolume *FlexVolumeSource
  azureFile *AzureFileVolumeSource
  vsphereVolume *VsphereVirtualDiskVolumeSource
  quobyte *QuobyteVolumeSource
  azureDisk *AzureDiskVolumeSource
  photonPersistentDisk *PhotonPersistentDiskVolumeSource
  portworxVolume *PortworxVolumeSource
  scaleIO *ScaleIOVolumeSource
  local *LocalVolumeSource
  storageos *StorageOSVolumeSource
  csi *CSIPersistentVolumeSource go=CSI
  accessModes []string
  claimRef *ObjectReference
  persistentVolumeReclaimPolicy string
  storageClassName string
  mountOptions []string
  volumeMode *string
  nodeAffinity *VolumeNodeAffinity
  volumeAttributesClassName *string
LocalVolumeSource
  path string!
  fsType *string
CSIPersistentVolumeSource
  driver string!
  volumeHandle string!
  readOnly bool
  fsType string
  volumeAttributes map
  controllerPublishSecretRef *SecretReference
  nodeStageSecretRef *SecretReference
  nodePublishSecretRef *SecretReference
  controllerExpandSecretRef *SecretReference
  nodeExpandSecretRef *SecretReference
VolumeNodeAffinity
  required *NodeSelector
PersistentVolumeStatus
  phase string
  message string
  reason string
  lastPhaseTransitionTime *time
PersistentVolumeClaim
  metadata ObjectMeta
  spec PersistentVolumeClaimSpec
  status PersistentVolumeClaimStatus
PersistentVolumeClaimSpec
  accessModes []string
  selector *LabelSelector
  resources ResourceRequirements
  volumeName string
  storageClassName *string
  volumeMode *string
  dataSource *TypedObjectReference
  dataSourceRef *TypedObjectReference
  volumeAttributesClassName *string
TypedObjectReference
  apiGroup *string go=APIGroup
  kind string!
  name string!
  namespace *string
PersistentVolumeClaimStatus
  phase string
  accessModes []string
  capacity rl
  conditions []PersistentVolumeClaimCondition key=type
  allocatedResources rl
  allocatedResourceStatuses map
  currentVolumeAttributesClassName *string
  modifyVolumeStatus any
PersistentVolumeClaimCondition
  type string!
  status string!
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
StorageClass
  metadata ObjectMeta
  provisioner string!
  parameters map
  reclaimPolicy *string
  mountOptions []string
  allowVolumeExpansion *bool
  volumeBindingMode *string
  allowedTopologies []TopologySelectorTerm
TopologySelectorTerm
  matchLabelExpressions []TopologySelectorLabelRequirement
TopologySelectorLabelRequirement
  key string!
  values []string!
PodDisruptionBudget proto
  metadata ObjectMeta
  spec PodDisruptionBudgetSpec
  status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec proto
  minAvailable *intstr
  selector *LabelSelector
  maxUnavailable *intstr
  unhealthyPodEvictionPolicy *string
PodDisruptionBudgetStatus proto
  observedGeneration int64
  disruptedPods map[time]!
  disruptedPods map[time] n=2
  disruptionsAllowed int32! go=PodDisruptionsAllowed n=3
  currentHealthy int32! n=4
  desiredHealthy int32! n=5
  expectedPods int32! n=6
  conditions []ServiceCondition key=type
PriorityClass proto
  metadata ObjectMeta
  value int32!
  globalDefault bool
  description string
  preemptionPolicy *string
LimitRange
  metadata ObjectMeta
  spec LimitRangeSpec
LimitRangeSpec
  limits []LimitRangeItem!
LimitRangeItem
  type string
  max rl
  min rl
  default rl
  defaultRequest rl
  maxLimitRequestRatio rl
ResourceQuota proto
  metadata ObjectMeta
  spec ResourceQuotaSpec
  status ResourceQuotaStatus
ResourceQuotaSpec proto
  hard rl
  scopes []string
  scopeSelector *ScopeSelector
ScopeSelector proto
  matchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement proto
  scopeName string!
  operator string!
  values []string
ResourceQuotaStatus proto
  hard rl
  used rl
RuntimeClass
  metadata ObjectMeta
  handler string!
  overhead *RuntimeOverhead
  scheduling *RuntimeScheduling
RuntimeOverhead
  podFixed rl
RuntimeScheduling
  nodeSelector map
  tolerations []Toleration
Lease
  metadata ObjectMeta
  spec LeaseSpec
LeaseSpec
  holderIdentity *string
  leaseDurationSeconds *int32
  acquireTime *microtime
  renewTime *microtime
  leaseTransitions *int32
  strategy *string
  preferredHolder *string
DeleteOptions proto
  gracePeriodSeconds *int64
  preconditions *Preconditions
  orphanDependents *bool
  propagationPolicy *string
  dryRun []string
Preconditions proto
  uid *string go=UID
  resourceVersion *string
)";

}  // namespace berth::validation
