// The types of the kinds that are new since 1.10, of plain objects that manifests hold, and of reviews. The notation is
// described in schema_types.h.
#include "pkg/api/validation/schema_types.h"

namespace berth::validation {

const char* const kGroupTypes = R"(
CSINode s
  metadata ObjectMeta s{name=node uid resourceVersion
    annotations{storage.alpha.kubernetes.io/migrated-plugins=driver}}
  spec CSINodeSpec! s
CSINodeSpec
  drivers []CSINodeDriver! key=name s
CSINodeDriver
  name string! s=driver
  nodeID string!
  topologyKeys []string!
  allocatable *VolumeNodeResources s
VolumeNodeResources
  count *int32 s
CSIDriver s
  metadata ObjectMeta s{name=driver uid resourceVersion}
  spec CSIDriverSpec! s
CSIDriverSpec
  attachRequired *bool
  podInfoOnMount *bool
  volumeLifecycleModes []string
  storageCapacity *bool s
  fsGroupPolicy *string
  tokenRequests []CSITokenRequest
  requiresRepublish *bool
  seLinuxMount *bool
  nodeAllocatableUpdatePeriodSeconds *int64
  serviceAccountTokenInSecrets *bool
  preventPodSchedulingIfMissing *bool s
CSITokenRequest
  audience string!
  expirationSeconds *int64
CSIStorageCapacity s
  metadata ObjectMeta s
  nodeTopology *LabelSelector s
  storageClassName string! s=name
  capacity *quantity s
  maximumVolumeSize *quantity s
VolumeAttachment s
  metadata ObjectMeta s
  spec VolumeAttachmentSpec! s
  status VolumeAttachmentStatus
VolumeAttachmentSpec
  attacher string! s=driver
  source VolumeAttachmentSource! s
  nodeName string! s=node
VolumeAttachmentSource
  persistentVolumeName *string s=name
  inlineVolumeSpec *PersistentVolumeSpec
VolumeAttachmentStatus
  attached bool!
  attachmentMetadata map
  attachError *VolumeError
  detachError *VolumeError
VolumeError
  time time
  message string
  errorCode *int32

ResourceClaim s
  metadata ObjectMeta s
  spec ResourceClaimSpec!
  status ResourceClaimStatus s
ResourceClaimSpec
  devices DeviceClaim
ResourceClaimTemplate
  metadata ObjectMeta
  spec ResourceClaimTemplateSpec!
ResourceClaimTemplateSpec
  metadata ObjectMeta
  spec ResourceClaimSpec!
DeviceClaim
  requests []DeviceRequest
  constraints []DeviceConstraint
  config []DeviceClaimConfiguration
DeviceRequest
  name string!
  exactly *ExactDeviceRequest
  firstAvailable []DeviceSubRequest
ExactDeviceRequest
  deviceClassName string!
  selectors []DeviceSelector
  allocationMode string
  count int64
  adminAccess *bool
  tolerations []DeviceToleration
  capacity *CapacityRequirements
DeviceSubRequest
  name string!
  deviceClassName string!
  selectors []DeviceSelector
  allocationMode string
  count int64
  tolerations []DeviceToleration
  capacity *CapacityRequirements
CapacityRequirements
  requests rl
DeviceSelector
  cel *CELDeviceSelector go=CEL
CELDeviceSelector
  expression string!
DeviceToleration
  key string
  operator string
  value string
  effect string
  tolerationSeconds *int64
DeviceConstraint
  requests []string
  matchAttribute *string
  distinctAttribute *string
DeviceClaimConfiguration
  requests []string
  opaque *OpaqueDeviceConfiguration
DeviceClassConfiguration
  opaque *OpaqueDeviceConfiguration
OpaqueDeviceConfiguration
  driver string!
  parameters any
ResourceClaimStatus
  allocation *AllocationResult s
  reservedFor []ResourceClaimConsumerReference key=uid
  devices []any
ResourceClaimConsumerReference
  apiGroup string go=APIGroup
  resource string!
  name string!
  uid string! go=UID
AllocationResult
  devices DeviceAllocationResult
  nodeSelector *NodeSelector s
  allocationTimestamp *time
DeviceAllocationResult
  results []any
  config []any
DeviceClass s
  metadata ObjectMeta s
  spec DeviceClassSpec! s
DeviceClassSpec
  selectors []DeviceSelector
  config []DeviceClassConfiguration
  extendedResourceName *string s=resource
ResourceSlice s
  metadata ObjectMeta s
  spec ResourceSliceSpec! s
ResourceSliceSpec
  driver string! s=driver
  pool ResourcePool!
  nodeName *string s=node
  nodeSelector *NodeSelector
  allNodes *bool
  devices []any
  perDeviceNodeSelection *bool
  sharedCounters []any
ResourcePool
  name string!
  generation int64!
  resourceSliceCount int64!

EventsGroupEvent
  metadata ObjectMeta
  eventTime microtime
  series *EventsGroupSeries
  reportingController string
  reportingInstance string
  action string
  reason string
  regarding ObjectReference
  related *ObjectReference
  note string
  type string
  deprecatedSource EventSource
  deprecatedFirstTimestamp time
  deprecatedLastTimestamp time
  deprecatedCount int32
EventsGroupSeries
  count int32!
  lastObservedTime microtime

Secret proto
  metadata ObjectMeta
  immutable *bool n=5
  data map n=2
  stringData map n=4
  type string n=3
ServiceAccount proto
  metadata ObjectMeta
  secrets []ObjectReference key=name
  imagePullSecrets []LocalObjectReference
  automountServiceAccountToken *bool
DaemonSet
  metadata ObjectMeta
  spec DaemonSetSpec
  status DaemonSetStatus
DaemonSetSpec
  selector *LabelSelector
  template PodTemplateSpec
  updateStrategy DaemonSetUpdateStrategy
  minReadySeconds int32
  templateGeneration int64
  revisionHistoryLimit *int32
DaemonSetUpdateStrategy
  type string
  rollingUpdate *RollingUpdateDeployment
DaemonSetStatus
  currentNumberScheduled int32!
  numberMisscheduled int32!
  desiredNumberScheduled int32!
  numberReady int32!
  observedGeneration int64
  updatedNumberScheduled int32
  numberAvailable int32
  numberUnavailable int32
  collisionCount *int32
  conditions []WorkloadCondition key=type
Job proto
  metadata ObjectMeta
  spec JobSpec
  status JobStatus
JobSpec proto
  parallelism *int32 n=1
  completions *int32 n=2
  activeDeadlineSeconds *int64 n=3
  podFailurePolicy any n=11
  backoffLimit *int32 n=7
  backoffLimitPerIndex *int32 n=12
  maxFailedIndexes *int32 n=13
  selector *LabelSelector n=4
  manualSelector *bool n=5
  template PodTemplateSpec n=6
  ttlSecondsAfterFinished *int32 n=8
  completionMode *string n=9
  suspend *bool n=10
  podReplacementPolicy *string n=14
  managedBy *string n=15
  successPolicy any n=16
CronJob proto
  metadata ObjectMeta
  spec CronJobSpec
  status CronJobStatus
CronJobSpec proto
  schedule string! n=1
  timeZone *string n=8
  startingDeadlineSeconds *int64 n=2
  concurrencyPolicy string n=3
  suspend *bool n=4
  jobTemplate JobTemplateSpec! n=5
  successfulJobsHistoryLimit *int32 n=6
  failedJobsHistoryLimit *int32 n=7
JobTemplateSpec proto
  metadata ObjectMeta
  spec JobSpec
CronJobStatus proto
  active []ObjectReference n=1
  lastScheduleTime *time n=4
  lastSuccessfulTime *time n=5
HorizontalPodAutoscaler proto
  metadata ObjectMeta
  spec HorizontalPodAutoscalerSpec
  status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec proto
  scaleTargetRef CrossVersionObjectReference!
  minReplicas *int32
  maxReplicas int32!
  metrics []any
  behavior any
CrossVersionObjectReference proto
  kind string!
  name string!
  apiVersion string
HorizontalPodAutoscalerStatus
  observedGeneration *int64
  lastScaleTime *time
  currentReplicas int32
  desiredReplicas int32!
  currentMetrics []any
  conditions []WorkloadCondition key=type
AutoscalingV1Autoscaler proto
  metadata ObjectMeta
  spec AutoscalingV1Spec
  status AutoscalingV1Status
AutoscalingV1Spec proto
  scaleTargetRef CrossVersionObjectReference!
  minReplicas *int32
  maxReplicas int32!
  targetCPUUtilizationPercentage *int32
AutoscalingV1Status proto
  observedGeneration *int64
  lastScaleTime *time
  currentReplicas int32!
  desiredReplicas int32!
  currentCPUUtilizationPercentage *int32
EndpointSlice
  metadata ObjectMeta
  addressType string!
  endpoints []EndpointOfSlice!
  ports []PortOfSlice!
EndpointOfSlice
  addresses []string!
  conditions *EndpointConditions
  hostname *string
  targetRef *ObjectReference
  deprecatedTopology map
  nodeName *string
  zone *string
  hints any
EndpointConditions
  ready *bool
  serving *bool
  terminating *bool
PortOfSlice
  name *string
  protocol *string
  port *int32
  appProtocol *string
Ingress proto
  metadata ObjectMeta
  spec IngressSpec!
  status any
IngressSpec proto
  ingressClassName *string n=4
  defaultBackend *IngressBackend n=1
  tls []IngressTLS n=2
  rules []IngressRule n=3
IngressBackend proto
  service *IngressServiceBackend n=4
  resource *TypedLocalReference n=3
IngressServiceBackend proto
  name string!
  port ServiceBackendPort
ServiceBackendPort proto
  name string
  number int32
TypedLocalReference proto
  apiGroup *string go=APIGroup
  kind string!
  name string!
IngressTLS proto
  hosts []string
  secretName string
IngressRule proto
  host string n=1
  http *HTTPIngressRuleValue go=HTTP n=1 in=2
HTTPIngressRuleValue proto
  paths []HTTPIngressPath!
HTTPIngressPath proto
  path string n=1
  pathType *string n=3
  backend IngressBackend! n=2
IngressClass
  metadata ObjectMeta
  spec IngressClassSpec!
IngressClassSpec
  controller string
  parameters any
NetworkPolicy
  metadata ObjectMeta
  spec NetworkPolicySpec!
NetworkPolicySpec
  podSelector any
  policyTypes []string
  ingress []any
  egress []any
ControllerRevision
  metadata ObjectMeta
  data any
  revision int64!
JobStatus proto
  conditions []JobCondition key=type
  startTime *time
  completionTime *time
  active int32
  succeeded int32
  failed int32
  terminating *int32 n=11
  completedIndexes string n=7
  failedIndexes *string n=10
  uncountedTerminatedPods any n=8
  ready *int32 n=9
JobCondition
  type string!
  status string!
  lastProbeTime time
  lastTransitionTime time
  reason string
  message string
Role proto
  metadata ObjectMeta
  rules []RbacRule!
ClusterRole proto
  metadata ObjectMeta
  rules []RbacRule!
  aggregationRule *AggregationRule
AggregationRule
  clusterRoleSelectors []LabelSelector
RbacRule proto
  verbs []string!
  apiGroups []string
  resources []string
  resourceNames []string
  nonResourceURLs []string
RoleBinding proto
  metadata ObjectMeta
  subjects []RbacSubject
  roleRef RoleRef!
ClusterRoleBinding proto
  metadata ObjectMeta
  subjects []RbacSubject
  roleRef RoleRef!
RbacSubject proto
  kind string!
  apiGroup string
  name string!
  namespace string
RoleRef proto
  apiGroup string!
  kind string!
  name string!

Eviction proto
  metadata ObjectMeta
  deleteOptions *DeleteOptions
TokenRequest proto
  metadata ObjectMeta
  spec TokenRequestSpec!
  status TokenRequestStatus
TokenRequestSpec proto
  audiences []string
  boundObjectRef *BoundObjectReference n=3
  expirationSeconds *int64 n=4
BoundObjectReference proto
  kind string
  apiVersion string
  name string
  uid string
TokenRequestStatus proto
  token string
  expirationTimestamp time
SelfSubjectAccessReview proto
  metadata ObjectMeta
  spec SelfSubjectAccessReviewSpec!
  status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec proto
  resourceAttributes *ResourceAttributes
  nonResourceAttributes *NonResourceAttributes
SelfSubjectRulesReview proto
  metadata ObjectMeta
  spec SelfSubjectRulesReviewSpec!
SelfSubjectRulesReviewSpec proto
  namespace string
ResourceAttributes proto
  namespace string
  verb string
  group string
  version string
  resource string
  subresource string
  name string
NonResourceAttributes proto
  path string
  verb string
SubjectAccessReviewStatus proto
  allowed bool! n=1
  denied bool n=4
  reason string n=2
  evaluationError string n=3
)";

}  // namespace berth::validation
