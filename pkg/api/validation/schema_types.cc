// The types that every object and pods are made of. schema_types.h explains the notation.
#include "pkg/api/validation/schema_types.h"

namespace berth::validation {

const char* const kPodTypes = R"(
ObjectMeta proto
  name string s=name
  generateName string
  namespace string s=namespace
  selfLink string
  uid string go=UID s=uid
  resourceVersion string s
  generation int64
  creationTimestamp time s
  deletionTimestamp *time s
  deletionGracePeriodSeconds *int64
  labels map
  annotations map
  ownerReferences []OwnerReference key=uid
  finalizers []string merge
  clusterName string
  managedFields []ManagedFieldsEntry n=17
ManagedFieldsEntry proto
  manager string
  operation string
  apiVersion string
  time *time
  fieldsType string n=6
  fieldsV1 any n=7
  subresource string n=8
OwnerReference proto
  apiVersion string! n=5 s
  kind string! n=1 s
  name string! n=3 s=name
  uid string! go=UID n=4 s=uid
  controller *bool n=6 s
  blockOwnerDeletion *bool n=7
LabelSelector proto
  matchLabels map s
  matchExpressions []LabelSelectorRequirement s
LabelSelectorRequirement proto
  key string! s=key
  operator string! s
  values []string s=value
ObjectReference
  kind string
  namespace string s=namespace
  name string s=name
  uid string go=UID s=uid
  apiVersion string
  resourceVersion string
  fieldPath string
LocalObjectReference proto
  name string
SecretReference
  name string
  namespace string

Pod proto s
  metadata ObjectMeta s{* name/ uid/ resourceVersion/ creationTimestamp/ deletionTimestamp/ labels ownerReferences}
  spec PodSpec s{* workloadRef{}}
  status PodStatus s
PodTemplateSpec proto
  metadata ObjectMeta s{labels}
  spec PodSpec
PodSpec proto
  volumes []Volume key=name retain n=1 s
  initContainers []Container key=name n=20 s
  containers []Container! key=name n=2 s
  restartPolicy string n=3
  terminationGracePeriodSeconds *int64 n=4
  activeDeadlineSeconds *int64 n=5
  dnsPolicy string go=DNSPolicy n=6
  nodeSelector map n=7 s
  serviceAccountName string n=8
  serviceAccount string go=DeprecatedServiceAccount n=9
  automountServiceAccountToken *bool n=21
  nodeName string n=10 s=node/
  hostNetwork bool n=11 s
  hostPID bool n=12
  hostIPC bool n=13
  shareProcessNamespace *bool n=27
  securityContext *PodSecurityContext n=14
  imagePullSecrets []LocalObjectReference key=name n=15
  hostname string n=16
  subdomain string n=17
  affinity *Affinity n=18 s
  schedulerName string n=19 s=scheduler
  tolerations []Toleration n=22 s
  hostAliases []HostAlias key=ip n=23
  priorityClassName string n=24
  priority *int32 n=25 s
  dnsConfig *PodDNSConfig go=DNSConfig n=26
  readinessGates []PodReadinessGate n=28
  runtimeClassName *string n=29
  enableServiceLinks *bool n=30
  preemptionPolicy *string n=31 s
  overhead rl n=32 s
  topologySpreadConstraints []TopologySpreadConstraint key=topologyKey n=33 s
  ephemeralContainers []Container key=name n=34
  setHostnameAsFQDN *bool n=35
  os *PodOS go=OS n=36
  hostUsers *bool n=37 s
  schedulingGates []PodSchedulingGate key=name n=38 s
  resourceClaims []PodResourceClaim key=name n=39 s
  resources *ResourceRequirements n=40 s
  hostnameOverride *string n=41
  schedulingGroup *PodSchedulingGroup n=43 s
PodSchedulingGroup
  podGroupName *string
PodReadinessGate proto
  conditionType string!
PodOS proto
  name string!
PodSchedulingGate proto
  name string! s=name
PodResourceClaim
  name string! s=name
  source PodResourceClaimSource
  resourceClaimName *string s=name
  resourceClaimTemplateName *string s=name
PodResourceClaimSource
  resourceClaimName *string
  resourceClaimTemplateName *string
TopologySpreadConstraint proto
  maxSkew int32! s
  topologyKey string! s=key
  whenUnsatisfiable string! s
  labelSelector *LabelSelector s
  minDomains *int32 s
  nodeAffinityPolicy *string s
  nodeTaintsPolicy *string s
  matchLabelKeys []string s=key
PodDNSConfig proto
  nameservers []string
  searches []string
  options []PodDNSConfigOption
PodDNSConfigOption proto
  name string
  value *string
HostAlias proto
  ip string go=IP
  hostnames []string
PodSecurityContext proto
  seLinuxOptions *SELinuxOptions go=SELinuxOptions n=1
  runAsUser *int64 n=2
  runAsGroup *int64 n=6
  runAsNonRoot *bool n=3
  supplementalGroups []int64 n=4
  supplementalGroupsPolicy *string n=12
  fsGroup *int64 go=FSGroup n=5
  sysctls []Sysctl n=7
  windowsOptions *WindowsOptions n=8
  fsGroupChangePolicy *string n=9
  seccompProfile *SeccompProfile n=10
  appArmorProfile *SeccompProfile n=11
  seLinuxChangePolicy *string n=13
Sysctl proto
  name string!
  value string!
WindowsOptions proto
  gmsaCredentialSpecName *string
  gmsaCredentialSpec *string
  runAsUserName *string
  hostProcess *bool
SeccompProfile proto
  type string!
  localhostProfile *string
SELinuxOptions proto
  user string
  role string
  type string
  level string
SecurityContext proto
  capabilities *Capabilities
  privileged *bool
  seLinuxOptions *SELinuxOptions go=SELinuxOptions
  runAsUser *int64 n=4
  runAsGroup *int64 n=8
  runAsNonRoot *bool n=5
  readOnlyRootFilesystem *bool n=6
  allowPrivilegeEscalation *bool n=7
  procMount *string n=9
  windowsOptions *WindowsOptions n=10
  seccompProfile *SeccompProfile n=11
  appArmorProfile *SeccompProfile n=12
Capabilities proto
  add []string
  drop []string
Affinity proto
  nodeAffinity *NodeAffinity s
  podAffinity *PodAffinity s
  podAntiAffinity *PodAffinity s
NodeAffinity proto
  requiredDuringSchedulingIgnoredDuringExecution *NodeSelector s
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm s
NodeSelector proto
  nodeSelectorTerms []NodeSelectorTerm! s
NodeSelectorTerm proto
  matchExpressions []LabelSelectorRequirement! s
  matchExpressions []LabelSelectorRequirement n=1 s
  matchFields []LabelSelectorRequirement n=2 s{key=word operator values=node}
PreferredSchedulingTerm proto
  weight int32! s
  preference NodeSelectorTerm! s
PodAffinity proto
  requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm s
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm s
WeightedPodAffinityTerm proto
  weight int32! s
  podAffinityTerm PodAffinityTerm! s
PodAffinityTerm proto
  labelSelector *LabelSelector s
  namespaces []string s=namespace
  topologyKey string! s=key
  namespaceSelector *LabelSelector s
  matchLabelKeys []string s=key
  mismatchLabelKeys []string s=key
Toleration proto
  key string s=key
  operator string s
  value string s=value
  effect string s
  tolerationSeconds *int64 s
Container proto
  name string! n=1 s=name+
  image string n=2 s=image
  command []string n=3
  args []string n=4
  workingDir string n=5
  ports []ContainerPort key=containerPort n=6 s
  envFrom []EnvFromSource n=19
  env []EnvVar key=name n=7
  resources ResourceRequirements n=8 s
  volumeMounts []VolumeMount key=mountPath n=9
  volumeDevices []VolumeDevice key=devicePath n=21
  livenessProbe *Probe n=10
  readinessProbe *Probe n=11
  lifecycle *Lifecycle n=12
  terminationMessagePath string n=13
  terminationMessagePolicy string n=20
  imagePullPolicy string n=14
  securityContext *SecurityContext n=15
  stdin bool n=16
  stdinOnce bool n=17
  tty bool go=TTY n=18
  startupProbe *Probe n=22
  resizePolicy []ContainerResizePolicy n=23
  restartPolicy *string n=24 s
  restartPolicyRules []ContainerRestartRule n=26 s
  targetContainerName string n=25
ContainerRestartRule proto
  action string s
  exitCodes *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes proto
  operator string
  values []int32
ContainerResizePolicy proto
  resourceName string!
  restartPolicy string!
ContainerPort proto
  name string
  hostPort int32 s
  containerPort int32! s
  protocol string s
  hostIP string s=address
EnvFromSource proto
  prefix string
  configMapRef *OptionalReference
  secretRef *OptionalReference
OptionalReference proto
  name string n=1 in=1
  optional *bool n=2
EnvVar proto
  name string!
  value string
  valueFrom *EnvVarSource
EnvVarSource proto
  fieldRef *ObjectFieldSelector
  resourceFieldRef *ResourceFieldSelector
  configMapKeyRef *KeySelector
  secretKeyRef *KeySelector
  fileKeyRef *FileKeySelector
FileKeySelector proto
  volumeName string!
  path string!
  key string!
  optional *bool
ObjectFieldSelector proto
  apiVersion string
  fieldPath string!
ResourceFieldSelector proto
  containerName string
  resource string!
  divisor quantity
KeySelector proto
  name string n=1 in=1
  key string! n=2
  optional *bool n=3
ResourceRequirements proto
  limits rl s
  requests rl s
  claims []ResourceClaimOfContainer key=name
ResourceClaimOfContainer proto
  name string!
  request string
VolumeMount proto
  name string!
  readOnly bool n=2
  recursiveReadOnly *string n=7
  mountPath string! n=3
  subPath string n=4
  mountPropagation *string n=5
  subPathExpr string n=6
VolumeDevice proto
  name string!
  devicePath string!
Probe proto
  exec *ExecAction n=1 in=1
  httpGet *HTTPGetAction go=HTTPGet n=2 in=1
  tcpSocket *TCPSocketAction go=TCPSocket n=3 in=1
  initialDelaySeconds int32 n=2
  timeoutSeconds int32 n=3
  periodSeconds int32 n=4
  successThreshold int32 n=5
  failureThreshold int32 n=6
  terminationGracePeriodSeconds *int64 n=7
  grpc *GRPCAction go=GRPC n=4 in=1
GRPCAction proto
  port int32!
  service *string
ExecAction proto
  command []string
HTTPGetAction proto
  path string
  port intstr
  host string
  scheme string
  httpHeaders []HTTPHeader go=HTTPHeaders
HTTPHeader proto
  name string!
  value string!
TCPSocketAction proto
  port intstr
  host string
Lifecycle proto
  postStart *Handler
  preStop *Handler
  stopSignal *string
Handler proto
  exec *ExecAction
  httpGet *HTTPGetAction go=HTTPGet
  tcpSocket *TCPSocketAction go=TCPSocket
  sleep *SleepAction
SleepAction proto
  seconds int64!
Volume proto
  name string! s=name
  hostPath *HostPathVolumeSource n=1 in=2
  emptyDir *EmptyDirVolumeSource n=2 in=2
  gcePersistentDisk *GCEPersistentDiskVolumeSource go=GCEPersistentDisk n=3 in=2 s
  awsElasticBlockStore *AWSElasticBlockStoreVolumeSource go=AWSElasticBlockStore n=4 in=2 s
  gitRepo *GitRepoVolumeSource n=5 in=2
  secret *SecretVolumeSource n=6 in=2
  nfs *NFSVolumeSource go=NFS n=7 in=2
  iscsi *ISCSIVolumeSource go=ISCSI n=8 in=2 s
  glusterfs *GlusterfsVolumeSource n=9 in=2
  persistentVolumeClaim *PersistentVolumeClaimVolumeSource n=10 in=2 s
  rbd *RBDVolumeSource go=RBD n=11 in=2 s
  flexVolume *FlexVolumeSource n=12 in=2
  cinder *CinderVolumeSource n=13 in=2 s
  cephfs *CephFSVolumeSource go=CephFS n=14 in=2
  flocker *FlockerVolumeSource n=15 in=2
  downwardAPI *DownwardAPIVolumeSource n=16 in=2
  fc *FCVolumeSource go=FC n=17 in=2
  azureFile *AzureFileVolumeSource n=18 in=2
  configMap *ConfigMapVolumeSource n=19 in=2
  vsphereVolume *VsphereVirtualDiskVolumeSource n=20 in=2
  quobyte *QuobyteVolumeSource n=21 in=2
  azureDisk *AzureDiskVolumeSource n=22 in=2 s
  photonPersistentDisk *PhotonPersistentDiskVolumeSource n=23 in=2
  projected *ProjectedVolumeSource n=26 in=2
  portworxVolume *PortworxVolumeSource n=24 in=2 s
  scaleIO *ScaleIOVolumeSource n=25 in=2
  storageos *StorageOSVolumeSource n=27 in=2
  csi *CSIVolumeSource go=CSI n=28 in=2
  ephemeral *EphemeralVolumeSource n=29 in=2 s
  image *ImageVolumeSource n=30 in=2 s
ImageVolumeSource proto
  reference string s=image
  pullPolicy string
CSIVolumeSource proto
  driver string!
  readOnly *bool
  fsType *string
  volumeAttributes map
  nodePublishSecretRef *LocalObjectReference
EphemeralVolumeSource
  volumeClaimTemplate *PersistentVolumeClaimTemplate
HostPathVolumeSource proto
  path string!
  type *string
EmptyDirVolumeSource proto
  medium string
  sizeLimit *quantity
GCEPersistentDiskVolumeSource proto
  pdName string! s=name
  fsType string
  partition int32
  readOnly bool s
AWSElasticBlockStoreVolumeSource proto
  volumeID string! s=name
  fsType string
  partition int32
  readOnly bool s
GitRepoVolumeSource proto
  repository string!
  revision string
  directory string
SecretVolumeSource proto
  secretName string
  items []KeyToPath
  defaultMode *int32
  optional *bool
KeyToPath proto
  key string!
  path string!
  mode *int32
NFSVolumeSource proto
  server string!
  path string!
  readOnly bool
ISCSIVolumeSource
  targetPortal string!
  iqn string! go=IQN s=name
  lun int32!
  iscsiInterface string go=ISCSIInterface
  fsType string
  readOnly bool s
  portals []string
  chapAuthDiscovery bool
  chapAuthSession bool
  secretRef *SecretReference
  initiatorName *string
GlusterfsVolumeSource
  endpoints string!
  path string!
  readOnly bool
PersistentVolumeClaimVolumeSource proto
  claimName string! s=name
  readOnly bool s
RBDVolumeSource
  monitors []string! s=name
  image string! s=name
  fsType string
  pool string s=name
  user string
  keyring string
  secretRef *SecretReference
  readOnly bool s
FlexVolumeSource
  driver string!
  fsType string
  secretRef *SecretReference
  readOnly bool
  options map
CinderVolumeSource
  volumeID string! s=name
  fsType string
  readOnly bool
  secretRef *SecretReference
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
DownwardAPIVolumeSource proto
  items []DownwardAPIVolumeFile
  defaultMode *int32
DownwardAPIVolumeFile proto
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
ConfigMapVolumeSource proto
  name string n=1 in=1
  items []KeyToPath n=2
  defaultMode *int32 n=3
  optional *bool n=4
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
  diskName string! s=name
  diskURI string! s=name
  cachingMode *string
  fsType *string
  readOnly *bool
  kind *string
PhotonPersistentDiskVolumeSource
  pdID string!
  fsType string
ProjectedVolumeSource proto
  sources []VolumeProjection!
  defaultMode *int32
VolumeProjection proto
  secret *VolumeProjectionItems
  downwardAPI *DownwardAPIProjection
  configMap *VolumeProjectionItems
  serviceAccountToken *ServiceAccountTokenProjection
  clusterTrustBundle any
  podCertificate any
ServiceAccountTokenProjection proto
  audience string
  expirationSeconds *int64
  path string!
VolumeProjectionItems proto
  name string n=1 in=1
  items []KeyToPath n=2
  optional *bool n=4
DownwardAPIProjection proto
  items []DownwardAPIVolumeFile
PortworxVolumeSource
  volumeID string! s=name
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
  observedGeneration int64
  phase string s/
  conditions []PodCondition key=type s/
  message string
  reason string
  nominatedNodeName string s=node/
  hostIP string
  podIP string
  startTime *time s/
  initContainerStatuses []ContainerStatus s+
  containerStatuses []ContainerStatus s+
  qosClass string
  hostIPs []HostIP key=ip go=HostIPs
  podIPs []HostIP key=ip go=PodIPs
  ephemeralContainerStatuses []ContainerStatus
  resize string
  resourceClaimStatuses []PodResourceClaimStatus key=name s/
  extendedResourceClaimStatus *ExtendedResourceClaimStatus
  allocatedResources rl s+
  resources *ResourceRequirements s+{requests}
ExtendedResourceClaimStatus
  requestMappings []ExtendedResourceRequestMapping
  resourceClaimName string!
ExtendedResourceRequestMapping
  containerName string!
  resourceName string!
  requestName string!
HostIP
  ip string go=IP
PodResourceClaimStatus
  name string! s=name
  resourceClaimName *string s=name
PodCondition
  type string! s
  observedGeneration int64
  status string! s
  lastProbeTime time s
  lastTransitionTime time s
  reason string s
  message string s=text
ContainerStatus
  name string! s=name
  state ContainerState
  lastState ContainerState
  ready bool!
  restartCount int32!
  image string!
  imageID string!
  containerID string
  started *bool
  allocatedResources rl s+
  resources *ResourceRequirements s+{requests}
  volumeMounts []any
  user any
  allocatedResourcesStatus []any
  stopSignal *string
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
)";

}  // namespace berth::validation
