// The types of nodes, services, workloads, volumes and the rest. schema_types.h explains the notation.
#include "pkg/api/validation/schema_types.h"

namespace berth::validation {

const char* const kClusterTypes = R"(
Node s
  metadata ObjectMeta s{name=node uid resourceVersion creationTimestamp deletionTimestamp labels
    annotations{scheduler.alpha.kubernetes.io/preferAvoidPods=AvoidPods}}
  spec NodeSpec s
  status NodeStatus s
NodeSpec
  podCIDR string go=PodCIDR
  externalID string
  providerID string
  unschedulable bool s
  taints []Taint s
  configSource *NodeConfigSource
  podCIDRs []string merge go=PodCIDRs
NodeConfigSource
  configMapRef *ObjectReference
Taint
  key string! s=key
  value string s=value
  effect string! s
  timeAdded *time
AvoidPods
  preferAvoidPods []PreferAvoidPodsEntry s
PreferAvoidPodsEntry
  podSignature PodSignature s
  evictionTime time s
  reason string
  message string
PodSignature
  podController *OwnerReference s
NodeStatus
  capacity rl s
  allocatable rl s
  phase string
  conditions []NodeCondition key=type s
  addresses []NodeAddress key=type
  daemonEndpoints NodeDaemonEndpoints
  nodeInfo NodeSystemInfo
  images []ContainerImage s
  volumesInUse []string
  volumesAttached []AttachedVolume
  config *NodeConfigStatus
  runtimeHandlers []any
  features any
  declaredFeatures []string s
NodeConfigStatus
  assigned any
  active any
  lastKnownGood any
  error string
NodeCondition
  type string! s
  status string! s
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
  names []string! s=image
  sizeBytes int64 s
AttachedVolume
  name string!
  devicePath string!

Namespace proto s
  metadata ObjectMeta s{* labels}
  spec NamespaceSpec
  status NamespaceStatus
NamespaceSpec proto
  finalizers []string
NamespaceStatus proto
  phase string
  conditions []WorkloadCondition key=type

Service proto s
  metadata ObjectMeta s
  spec ServiceSpec s
  status ServiceStatus
ServiceSpec proto
  ports []ServicePort key=port n=1
  selector map n=2 s
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

ReplicationController s
  metadata ObjectMeta s
  spec ReplicationControllerSpec s
  status ReplicaStatus
ReplicationControllerSpec
  replicas *int32
  minReadySeconds int32
  selector map s
  template *PodTemplateSpec s
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
ReplicaSet s
  metadata ObjectMeta s
  spec ReplicaSetSpec s
  status ReplicaStatus
ReplicaSetSpec
  replicas *int32
  minReadySeconds int32
  selector *LabelSelector s
  template PodTemplateSpec s
StatefulSet s
  metadata ObjectMeta s
  spec StatefulSetSpec s
  status StatefulSetStatus
StatefulSetSpec
  replicas *int32
  selector *LabelSelector s
  template PodTemplateSpec s
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

PersistentVolume s
  metadata ObjectMeta s{* labels annotations{volume.beta.kubernetes.io/storage-class=name
    volume.alpha.kubernetes.io/node-affinity=NodeAffinity pv.kubernetes.io/bound-by-controller}}
  spec PersistentVolumeSpec s
  status PersistentVolumeStatus s
PersistentVolumeSpec
  capacity rl s
  gcePersistentDisk *GCEPersistentDiskVolumeSource go=GCEPersistentDisk s{pdName}
  awsElasticBlockStore *AWSElasticBlockStoreVolumeSource go=AWSElasticBlockStore s{volumeID}
  hostPath *HostPathVolumeSource
  glusterfs *GlusterfsVolumeSource
  nfs *NFSVolumeSource go=NFS
  rbd *RBDVolumeSource go=RBD
  iscsi *ISCSIVolumeSource go=ISCSI
  cinder *CinderVolumeSource s
  cephfs *CephFSVolumeSource go=CephFS
  fc *FCVolumeSource go=FC
  flocker *FlockerVolumeSource
  flexVolume *FlexVolumeSource
  azureFile *AzureFileVolumeSource
  vsphereVolume *VsphereVirtualDiskVolumeSource
  quobyte *QuobyteVolumeSource
  azureDisk *AzureDiskVolumeSource s
  photonPersistentDisk *PhotonPersistentDiskVolumeSource
  portworxVolume *PortworxVolumeSource s
  scaleIO *ScaleIOVolumeSource
  local *LocalVolumeSource
  storageos *StorageOSVolumeSource
  csi *CSIPersistentVolumeSource go=CSI s
  accessModes []string s
  claimRef *ObjectReference s
  persistentVolumeReclaimPolicy string
  storageClassName string s=name
  mountOptions []string
  volumeMode *string s
  nodeAffinity *VolumeNodeAffinity s
  volumeAttributesClassName *string s=name
LocalVolumeSource
  path string!
  fsType *string
CSIPersistentVolumeSource
  driver string! s=driver
  volumeHandle string! s=name
  readOnly bool
  fsType string
  volumeAttributes map
  controllerPublishSecretRef *SecretReference
  nodeStageSecretRef *SecretReference
  nodePublishSecretRef *SecretReference
  controllerExpandSecretRef *SecretReference
  nodeExpandSecretRef *SecretReference
VolumeNodeAffinity
  required *NodeSelector s
PersistentVolumeStatus
  phase string s
  message string
  reason string
  lastPhaseTransitionTime *time
PersistentVolumeClaim s
  metadata ObjectMeta s{* ownerReferences annotations{volume.beta.kubernetes.io/storage-class=name
    pv.kubernetes.io/bind-completed pv.kubernetes.io/bound-by-controller volume.kubernetes.io/selected-node=node}}
  spec PersistentVolumeClaimSpec s
  status PersistentVolumeClaimStatus s
PersistentVolumeClaimSpec
  accessModes []string s
  selector *LabelSelector s
  resources ResourceRequirements s{requests}
  volumeName string s=name
  storageClassName *string s=name
  volumeMode *string s
  dataSource *TypedObjectReference
  dataSourceRef *TypedObjectReference
  volumeAttributesClassName *string s=name
TypedObjectReference
  apiGroup *string go=APIGroup
  kind string!
  name string!
  namespace *string
PersistentVolumeClaimStatus
  phase string s
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
StorageClass s
  metadata ObjectMeta s
  provisioner string! s=driver
  parameters map
  reclaimPolicy *string
  mountOptions []string
  allowVolumeExpansion *bool
  volumeBindingMode *string s
  allowedTopologies []TopologySelectorTerm s
TopologySelectorTerm
  matchLabelExpressions []TopologySelectorLabelRequirement s
TopologySelectorLabelRequirement
  key string! s=key
  values []string! s=value
PodDisruptionBudget proto s
  metadata ObjectMeta s
  spec PodDisruptionBudgetSpec s
  status PodDisruptionBudgetStatus s
PodDisruptionBudgetSpec proto
  minAvailable *intstr
  selector *LabelSelector s
  maxUnavailable *intstr
  unhealthyPodEvictionPolicy *string
PodDisruptionBudgetStatus proto
  observedGeneration int64
  disruptedPods map[time]! s=name
  disruptedPods map[time] n=2 s=name
  disruptionsAllowed int32! go=PodDisruptionsAllowed n=3 s
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
