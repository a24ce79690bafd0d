// The types themselves: those of Kubernetes 1.10 that a scheduler, kubectl and their users send and read.
//
// One line a type, below it one a member, in the order in which the server writes them:
//   name type [key=MERGEKEY] [merge] [retain] [go=NAME]
// type: string bool int32 int64 quantity time microtime intstr any rl (name -> quantity) map (name -> string) or a type
// of this table; []T a list, map[T] a map, *T a pointer (written when present, even when zero), T! written always.
// A struct or time that is no pointer is always written, as Go does.
#include "pkg/apiserver/schema_types.h"

namespace berth::apiserver {

extern const char* const kSchemaTypes = R"(
ObjectMeta
  name string
  generateName string
  namespace string
  selfLink string
  uid string go=UID
  resourceVersion string
  generation int64
  creationTimestamp time
  deletionTimestamp *time
  deletionGracePeriodSeconds *int64
  labels map
  annotations map
  ownerReferences []OwnerReference key=uid
  finalizers []string merge
  clusterName string
OwnerReference
  apiVersion string!
  kind string!
  name string!
  uid string! go=UID
  controller *bool
  blockOwnerDeletion *bool
LabelSelector
  matchLabels map
  matchExpressions []LabelSelectorRequirement
LabelSelectorRequirement
  key string!
  operator string!
  values []string
ObjectReference
  kind string
  namespace string
  name string
  uid string go=UID
  apiVersion string
  resourceVersion string
  fieldPath string
LocalObjectReference
  name string
SecretReference
  name string
  namespace string

Pod
  metadata ObjectMeta
  spec PodSpec
  status PodStatus
PodTemplateSpec
  metadata ObjectMeta
  spec PodSpec
PodSpec
  volumes []Volume key=name retain
  initContainers []Container key=name
  containers []Container! key=name
  restartPolicy string
  terminationGracePeriodSeconds *int64
  activeDeadlineSeconds *int64
  dnsPolicy string go=DNSPolicy
  nodeSelector map
  serviceAccountName string
  serviceAccount string go=DeprecatedServiceAccount
  automountServiceAccountToken *bool
  nodeName string
  hostNetwork bool
  hostPID bool
  hostIPC bool
  shareProcessNamespace *bool
  securityContext *PodSecurityContext
  imagePullSecrets []LocalObjectReference key=name
  hostname string
  subdomain string
  affinity *Affinity
  schedulerName string
  tolerations []Toleration
  hostAliases []HostAlias key=ip
  priorityClassName string
  priority *int32
  dnsConfig *PodDNSConfig go=DNSConfig
PodDNSConfig
  nameservers []string
  searches []string
  options []PodDNSConfigOption
PodDNSConfigOption
  name string
  value *string
HostAlias
  ip string go=IP
  hostnames []string
PodSecurityContext
  seLinuxOptions *SELinuxOptions go=SELinuxOptions
  runAsUser *int64
  runAsGroup *int64
  runAsNonRoot *bool
  supplementalGroups []int64
  fsGroup *int64 go=FSGroup
SELinuxOptions
  user string
  role string
  type string
  level string
SecurityContext
  capabilities *Capabilities
  privileged *bool
  seLinuxOptions *SELinuxOptions go=SELinuxOptions
  runAsUser *int64
  runAsGroup *int64
  runAsNonRoot *bool
  readOnlyRootFilesystem *bool
  allowPrivilegeEscalation *bool
Capabilities
  add []string
  drop []string
Affinity
  nodeAffinity *NodeAffinity
  podAffinity *PodAffinity
  podAntiAffinity *PodAffinity
NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution *NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
NodeSelector
  nodeSelectorTerms []NodeSelectorTerm!
NodeSelectorTerm
  matchExpressions []LabelSelectorRequirement!
PreferredSchedulingTerm
  weight int32!
  preference NodeSelectorTerm!
PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
WeightedPodAffinityTerm
  weight int32!
  podAffinityTerm PodAffinityTerm!
PodAffinityTerm
  labelSelector *LabelSelector
  namespaces []string
  topologyKey string!
Toleration
  key string
  operator string
  value string
  effect string
  tolerationSeconds *int64
Container
  name string!
  image string
  command []string
  args []string
  workingDir string
  ports []ContainerPort key=containerPort
  envFrom []EnvFromSource
  env []EnvVar key=name
  resources ResourceRequirements
  volumeMounts []VolumeMount key=mountPath
  volumeDevices []VolumeDevice key=devicePath
  livenessProbe *Probe
  readinessProbe *Probe
  lifecycle *Lifecycle
  terminationMessagePath string
  terminationMessagePolicy string
  imagePullPolicy string
  securityContext *SecurityContext
  stdin bool
  stdinOnce bool
  tty bool go=TTY
ContainerPort
  name string
  hostPort int32
  containerPort int32!
  protocol string
  hostIP string
EnvFromSource
  prefix string
  configMapRef *OptionalReference
  secretRef *OptionalReference
OptionalReference
  name string
  optional *bool
EnvVar
  name string!
  value string
  valueFrom *EnvVarSource
EnvVarSource
  fieldRef *ObjectFieldSelector
  resourceFieldRef *ResourceFieldSelector
  configMapKeyRef *KeySelector
  secretKeyRef *KeySelector
ObjectFieldSelector
  apiVersion string
  fieldPath string!
ResourceFieldSelector
  containerName string
  resource string!
  divisor quantity
KeySelector
  name string
  key string!
  optional *bool
ResourceRequirements
  limits rl
  requests rl
VolumeMount
  name string!
  readOnly bool
  mountPath string!
  subPath string
  mountPropagation *string
VolumeDevice
  name string!
  devicePath string!
Probe
  exec *ExecAction
  httpGet *HTTPGetAction go=HTTPGet
  tcpSocket *TCPSocketAction go=TCPSocket
  initialDelaySeconds int32
  timeoutSeconds int32
  periodSeconds int32
  successThreshold int32
  failureThreshold int32
ExecAction
  command []string
HTTPGetAction
  path string
  port intstr
  host string
  scheme string
  httpHeaders []HTTPHeader go=HTTPHeaders
HTTPHeader
  name string!
  value string!
TCPSocketAction
  port intstr
  host string
Lifecycle
  postStart *Handler
  preStop *Handler
Handler
  exec *ExecAction
  httpGet *HTTPGetAction go=HTTPGet
  tcpSocket *TCPSocketAction go=TCPSocket
Volume
  name string!
  hostPath *HostPathVolumeSource
  emptyDir *EmptyDirVolumeSource
  gcePersistentDisk *GCEPersistentDiskVolumeSource go=GCEPersistentDisk
  awsElasticBlockStore *AWSElasticBlockStoreVolumeSource go=AWSElasticBlockStore
  gitRepo *GitRepoVolumeSource
  secret *SecretVolumeSource
  nfs *NFSVolumeSource go=NFS
  iscsi *ISCSIVolumeSource go=ISCSI
  glusterfs *GlusterfsVolumeSource
  persistentVolumeClaim *PersistentVolumeClaimVolumeSource
  rbd *RBDVolumeSource go=RBD
  flexVolume *FlexVolumeSource
  cinder *CinderVolumeSource
  cephfs *CephFSVolumeSource go=CephFS
  flocker *FlockerVolumeSource
  downwardAPI *DownwardAPIVolumeSource
  fc *FCVolumeSource go=FC
  azureFile *AzureFileVolumeSource
  configMap *ConfigMapVolumeSource
  vsphereVolume *VsphereVirtualDiskVolumeSource
  quobyte *QuobyteVolumeSource
  azureDisk *AzureDiskVolumeSource
  photonPersistentDisk *PhotonPersistentDiskVolumeSource
  projected *ProjectedVolumeSource
  portworxVolume *PortworxVolumeSource
  scaleIO *ScaleIOVolumeSource
  storageos *StorageOSVolumeSource
HostPathVolumeSource
  path string!
  type *string
EmptyDirVolumeSource
  medium string
  sizeLimit *quantity
GCEPersistentDiskVolumeSource
  pdName string!
  fsType string
  partition int32
  readOnly bool
AWSElasticBlockStoreVolumeSource
  volumeID string!
  fsType string
  partition int32
  readOnly bool
GitRepoVolumeSource
  repository string!
  revision string
  directory string
SecretVolumeSource
  secretName string
  items []KeyToPath
  defaultMode *int32
  optional *bool
KeyToPath
  key string!
  path string!
  mode *int32
NFSVolumeSource
  server string!
  path string!
  readOnly bool
ISCSIVolumeSource
  targetPortal string!
  iqn string! go=IQN
  lun int32!
  iscsiInterface string go=ISCSIInterface
  fsType string
  readOnly bool
  portals []string
  chapAuthDiscovery bool
  chapAuthSession bool
  secretRef *SecretReference
  initiatorName *string
GlusterfsVolumeSource
  endpoints string!
  path string!
  readOnly bool
PersistentVolumeClaimVolumeSource
  claimName string!
  readOnly bool
RBDVolumeSource
  monitors []string!
  image string!
  fsType string
  pool string
  user string
  keyring string
  secretRef *SecretReference
  readOnly bool
FlexVolumeSource
  driver string!
  fsType string
  secretRef *SecretReference
  readOnly bool
  options map
CinderVolumeSource
  volumeID string!
  fsType string
  readOnly bool
CephFSVolumeSource
  monitors []string!
  path string
  user string
  secretFile string
  secretRef *SecretReference
  readOnly bool
FlockerVolumeSource
  datasetName string
  datasetUUID string
DownwardAPIVolumeSource
  items []DownwardAPIVolumeFile
  defaultMode *int32
DownwardAPIVolumeFile
  path string!
  fieldRef *ObjectFieldSelector
  resourceFieldRef *ResourceFieldSelector
  mode *int32
FCVolumeSource
  targetWWNs []string
  lun *int32
  fsType string
  readOnly bool
  wwids []string
AzureFileVolumeSource
  secretName string!
  shareName string!
  readOnly bool
  secretNamespace *string
ConfigMapVolumeSource
  name string
  items []KeyToPath
  defaultMode *int32
  optional *bool
VsphereVirtualDiskVolumeSource
  volumePath string!
  fsType string
  storagePolicyName string
  storagePolicyID string
QuobyteVolumeSource
  registry string!
  volume string!
  readOnly bool
  user string
  group string
AzureDiskVolumeSource
  diskName string!
  diskURI string!
  cachingMode *string
  fsType *string
  readOnly *bool
  kind *string
PhotonPersistentDiskVolumeSource
  pdID string!
  fsType string
ProjectedVolumeSource
  sources []VolumeProjection!
  defaultMode *int32
VolumeProjection
  secret *VolumeProjectionItems
  downwardAPI *DownwardAPIProjection
  configMap *VolumeProjectionItems
VolumeProjectionItems
  name string
  items []KeyToPath
  optional *bool
DownwardAPIProjection
  items []DownwardAPIVolumeFile
PortworxVolumeSource
  volumeID string!
  fsType string
  readOnly bool
ScaleIOVolumeSource
  gateway string!
  system string!
  secretRef *SecretReference!
  sslEnabled bool
  protectionDomain string
  storagePool string
  storageMode string
  volumeName string
  fsType string
  readOnly bool
StorageOSVolumeSource
  volumeName string
  volumeNamespace string
  fsType string
  readOnly bool
  secretRef *ObjectReference
PodStatus
  phase string
  conditions []PodCondition key=type
  message string
  reason string
  nominatedNodeName string
  hostIP string
  podIP string
  startTime *time
  initContainerStatuses []ContainerStatus
  containerStatuses []ContainerStatus
  qosClass string
PodCondition
  type string!
  status string!
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
ContainerStatus
  name string!
  state ContainerState
  lastState ContainerState
  ready bool!
  restartCount int32!
  image string!
  imageID string!
  containerID string
ContainerState
  waiting *ContainerStateWaiting
  running *ContainerStateRunning
  terminated *ContainerStateTerminated
ContainerStateWaiting
  reason string
  message string
ContainerStateRunning
  startedAt time
ContainerStateTerminated
  exitCode int32!
  signal int32
  reason string
  message string
  startedAt time
  finishedAt time
  containerID string
Binding
  metadata ObjectMeta
  target ObjectReference

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
ContainerImage
  names []string!
  sizeBytes int64
AttachedVolume
  name string!
  devicePath string!

Namespace
  metadata ObjectMeta
  spec NamespaceSpec
  status NamespaceStatus
NamespaceSpec
  finalizers []string
NamespaceStatus
  phase string

Service
  metadata ObjectMeta
  spec ServiceSpec
  status ServiceStatus
ServiceSpec
  ports []ServicePort key=port
  selector map
  clusterIP string
  type string
  externalIPs []string
  sessionAffinity string
  loadBalancerIP string
  loadBalancerSourceRanges []string
  externalName string
  externalTrafficPolicy string
  healthCheckNodePort int32
  publishNotReadyAddresses bool
  sessionAffinityConfig *SessionAffinityConfig
SessionAffinityConfig
  clientIP *ClientIPConfig
ClientIPConfig
  timeoutSeconds *int32
ServicePort
  name string
  protocol string
  port int32!
  targetPort intstr
  nodePort int32
ServiceStatus
  loadBalancer LoadBalancerStatus
LoadBalancerStatus
  ingress []LoadBalancerIngress
LoadBalancerIngress
  ip string go=IP
  hostname string

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

ConfigMap
  metadata ObjectMeta
  data map
  binaryData map

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
Deployment
  metadata ObjectMeta
  spec DeploymentSpec
  status DeploymentStatus
DeploymentSpec
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
DeploymentStrategy
  type string
  rollingUpdate *RollingUpdateDeployment
RollingUpdateDeployment
  maxUnavailable *intstr
  maxSurge *intstr
DeploymentStatus
  observedGeneration int64
  replicas int32
  updatedReplicas int32
  readyReplicas int32
  availableReplicas int32
  unavailableReplicas int32
  conditions []DeploymentCondition key=type
  collisionCount *int32
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
LocalVolumeSource
  path string!
CSIPersistentVolumeSource
  driver string!
  volumeHandle string!
  readOnly bool
  fsType string
  volumeAttributes map
  controllerPublishSecretRef *SecretReference
  nodeStageSecretRef *SecretReference
  nodePublishSecretRef *SecretReference
VolumeNodeAffinity
  required *NodeSelector
PersistentVolumeStatus
  phase string
  message string
  reason string
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
PersistentVolumeClaimStatus
  phase string
  accessModes []string
  capacity rl
  conditions []PersistentVolumeClaimCondition key=type
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
PodDisruptionBudget
  metadata ObjectMeta
  spec PodDisruptionBudgetSpec
  status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec
  minAvailable *intstr
  selector *LabelSelector
  maxUnavailable *intstr
PodDisruptionBudgetStatus
  observedGeneration int64
  disruptedPods map[time]!
  disruptionsAllowed int32! go=PodDisruptionsAllowed
  currentHealthy int32!
  desiredHealthy int32!
  expectedPods int32!
PriorityClass
  metadata ObjectMeta
  value int32!
  globalDefault bool
  description string
Lease
  metadata ObjectMeta
  spec LeaseSpec
LeaseSpec
  holderIdentity *string
  leaseDurationSeconds *int32
  acquireTime *microtime
  renewTime *microtime
  leaseTransitions *int32
DeleteOptions
  gracePeriodSeconds *int64
  preconditions *Preconditions
  orphanDependents *bool
  propagationPolicy *string
Preconditions
  uid *string go=UID
)";

}  // namespace berth::apiserver
