// What came and went with releases of Kubernetes: the features of an API server, of controllers, Policies and
// configurations that some releases have and others do not. Each is a span of releases with a name; those that are
// emulated between two of them follow from it. Whoever adds a release adds here what is new in it, and code elsewhere
// asks whether the span has its release. The flags of kube-scheduler are a table of their own, because each of them has
// a row there anyway (cmd/kube-scheduler/release_flags.cc).
#pragma once
#include <string_view>

#include "pkg/release/release.h"

namespace berth::release::history {

// ---- what an API server does ----

// Objects and lists have a selfLink.
inline constexpr Span kSelfLinks = Until(20);
// A Node must have spec.externalID, which is made of its name.
inline constexpr Span kExternalIds = Until(11);
// A term of a node selector must have an expression.
inline constexpr Span kTermsNeedExpressions = Until(11);
// The spec of a PodDisruptionBudget cannot change.
inline constexpr Span kBudgetsAreFixed = Until(15);

// Pods get spec.enableServiceLinks.
inline constexpr Span kServiceLinks = Since(13);
// Volumes and claims get spec.volumeMode.
inline constexpr Span kVolumeModes = Since(13);
// Pods get the preemptionPolicy of their class.
inline constexpr Span kPreemptionPolicies = Since(19);
// Services get IP families and policies of traffic.
inline constexpr Span kIpFamilies = Since(20);
// StatefulSets say what becomes of the claims of their pods.
inline constexpr Span kClaimRetention = Since(27);
// DaemonSets get maxSurge; Jobs get a completion mode and may be suspended.
inline constexpr Span kMaxSurgeOfDaemonSets = Since(22);
inline constexpr Span kCompletionModes = Since(22);
inline constexpr Span kPodReplacementPolicies = Since(29);
inline constexpr Span kGenerationOfJobs = Since(16);
// A DaemonSet counts its templates in an annotation instead of a member.
inline constexpr Span kDaemonGenerations = Since(16);
// Pods have a generation, and conditions say for which one they were found.
inline constexpr Span kGenerationOfPods = Since(33);
// A binding clears the pod's nomination.
inline constexpr Span kBindingsEndNominations = Since(34);

// Amounts of huge pages: a pod has those of one size, beside cpu or memory, and whole pages
// (AllowIndivisibleHugePagesValues for older pods).
inline constexpr Span kOneSizeOfHugePages = Until(19);
inline constexpr Span kHugePagesNeedOthers = Since(11);
inline constexpr Span kWholeHugePages = Since(21);
// alpha.kubernetes.io/nvidia-gpu must be limited like an extended resource.
inline constexpr Span kGpuIsExtended = Until(11);
// Pods may configure their DNS, alpha and off in 1.9.
inline constexpr Span kCustomDns = Since(10);
// SCTP is a protocol, beta and on in 1.19, GA in 1.20.
inline constexpr Span kSctpIsAProtocol = Since(19);
// Errors about requests say how much the limit is.
inline constexpr Span kNamesLimits = Since(27);
// The labelSelector of a spread constraint is checked.
inline constexpr Span kSpreadSelectors = Since(27);
// Every container may have a restartPolicy: ContainerRestartRules, alpha and off in 1.34, beta and on in 1.35.
inline constexpr Span kRestartPolicies = Since(35);
// Services may have names that begin with a digit: RelaxedServiceNameValidation, beta and on in 1.36.
inline constexpr Span kRelaxedServiceNames = Since(36);
// Errors about names speak of "a lowercase RFC 1123 label" and no longer of "a DNS-1123 label".
inline constexpr Span kSaysLowercase = Since(20);

// What came after 1.10 in pods and classes is checked.
inline constexpr Span kChecksNewPodFields = Since(11);
inline constexpr Span kChecksPriorityClasses = Since(14);
// A pod with scheduling gates may get another node selector and affinity.
inline constexpr Span kGatedChanges = Since(26);
// An update of a Lease must name the version that it is based on.
inline constexpr Span kLeasesNeedVersions = Since(14);
// A namespace must exist before there are objects in it, and is not being deleted.
inline constexpr Span kChecksNamespaces = Since(14);
// Namespaces have the label kubernetes.io/metadata.name.
inline constexpr Span kNamesOfNamespaces = Since(21);
// The uid in a Binding is compared.
inline constexpr Span kUidsOfBindings = Since(16);
// The selectors of Deployments, ReplicaSets and DaemonSets cannot change in any version that is served.
inline constexpr Span kSelectorsAreFixed = Since(16);
// A budget with neither bound lets no pod be evicted.
inline constexpr Span kEmptyBudgetsHold = Since(21);
// An evicted pod gets a condition that says so.
inline constexpr Span kDisruptionTargets = Since(26);
inline constexpr Span kEvictionsV1 = Since(22);

// What clients see: /livez and /readyz, the namespace of node leases, the authorities of clients in a ConfigMap, tables
// of meta.k8s.io/v1, bookmarks, and warnings about unknown fields.
inline constexpr Span kLivez = Since(16);
inline constexpr Span kNodeLeases = Since(14);
inline constexpr Span kClientAuthorities = Since(13);
inline constexpr Span kTablesV1 = Since(15);
// The options of a table are checked as such, and not row by row.
inline constexpr Span kChecksTableOptions = Since(15);
inline constexpr Span kBookmarks = Since(16);
inline constexpr Span kFieldWarnings = Since(25);
// A watch may begin with the objects that exist and a bookmark behind them (sendInitialEvents).
inline constexpr Span kWatchLists = Since(34);

// What is checked, and how it is said.
// Init containers may be sidecars, which have hooks and probes: beta and on in 1.29, alpha in 1.28.
inline constexpr Span kSidecars = Since(29);
// Names of environment variables are any printable texts: RelaxedEnvironmentVariableValidation, beta and on in 1.32.
inline constexpr Span kRelaxedVariableNames = Since(32);
// The pods of a StatefulSet are checked as those of other workloads, with the volumes of its claim templates.
inline constexpr Span kChecksStatefulPods = Since(34);
// Errors show what was wrong as JSON and no longer as Go prints a struct.
inline constexpr Span kShowsJson = Since(34);
// Ports of services have an appProtocol.
inline constexpr Span kAppProtocols = Since(18);
// Indexed Jobs may get other completions: ElasticIndexedJob, beta and on in 1.27.
inline constexpr Span kElasticJobs = Since(27);
// The pods of a suspended Job may get other rules of scheduling (1.23), and other resources (1.36).
inline constexpr Span kMutableSuspendedJobs = Since(23);
inline constexpr Span kMutableJobResources = Since(36);
// Volumes may be for one pod: ReadWriteOncePod, beta and on in 1.27, alpha in 1.22.
inline constexpr Span kOncePerPod = Since(27);
// Claims without a class may get the default one later: RetroactiveDefaultStorageClass, beta and on in 1.26.
inline constexpr Span kClassesComeLater = Since(26);
// The class of a volume's attributes may change: VolumeAttributesClass, GA in 1.34.
inline constexpr Span kAttributesChange = Since(34);
// A local volume must say on which nodes it is: without alpha annotations since 1.10.
inline constexpr Span kLocalNeedsAffinity = Since(10);
// Patches may be applied: ServerSideApply, beta and on in 1.16.
inline constexpr Span kServerSideApply = Since(16);

// ---- what an API server has ----

// Kinds that came after 1.10, by the release in which their stable version did.
inline constexpr Span kVolumeAttachments = Since(13), kRuntimeClasses = Since(14), kCsiNodes = Since(17),
                      kCsiDrivers = Since(18), kIngresses = Since(19), kCronJobs = Since(21),
                      kEndpointSlices = Since(21), kTokenRequests = Since(22), kCsiCapacities = Since(24),
                      kResizes = Since(33), kDevices = Since(34);

// The versions in which kinds are served: "apps/v1beta1@-16" until 1.16, "policy/v1@21-" since 1.21. The first one that
// a release serves is the one that others are shown in.
inline constexpr std::string_view kEventVersions = "v1 events.k8s.io/v1@19-";
inline constexpr std::string_view kDeploymentVersions =
    "apps/v1 apps/v1beta2@-16 apps/v1beta1@-16 extensions/v1beta1@-16";
inline constexpr std::string_view kReplicaSetVersions = "extensions/v1beta1@-16 apps/v1 apps/v1beta2@-16";
inline constexpr std::string_view kStatefulSetVersions = "apps/v1 apps/v1beta2@-16 apps/v1beta1@-16";
inline constexpr std::string_view kDaemonSetVersions = "apps/v1 apps/v1beta2@-16 extensions/v1beta1@-16";
inline constexpr std::string_view kAutoscalerVersions = "autoscaling/v2@25- autoscaling/v1";
inline constexpr std::string_view kBudgetVersions = "policy/v1@21- policy/v1beta1@-25 policy/v1@-21";
inline constexpr std::string_view kPriorityClassVersions =
    "scheduling.k8s.io/v1@14- scheduling.k8s.io/v1alpha1@-14 scheduling.k8s.io/v1beta1@-22 scheduling.k8s.io/v1@-14";
inline constexpr std::string_view kRuntimeClassVersions = "node.k8s.io/v1@20- node.k8s.io/v1beta1@14-25";
inline constexpr std::string_view kStorageClassVersions = "storage.k8s.io/v1 storage.k8s.io/v1beta1@-22";
inline constexpr std::string_view kLeaseVersions = "coordination.k8s.io/v1 coordination.k8s.io/v1beta1@-22";
inline constexpr std::string_view kRbacVersions = "rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1beta1@-22";

// The groups that discovery lists, in its order: one word for each group, its name and versions.
inline constexpr From<std::string_view> kGroups[] = {
    {{0},
     "apps/v1/v1beta2/v1beta1 extensions/v1beta1 policy/v1beta1/v1 scheduling.k8s.io/v1alpha1/v1beta1/v1 "
     "storage.k8s.io/v1/v1beta1 coordination.k8s.io/v1/v1beta1 batch/v1 rbac.authorization.k8s.io/v1/v1beta1 "
     "authorization.k8s.io/v1 autoscaling/v1"},
    {{16},
     "events.k8s.io/v1 authorization.k8s.io/v1 apps/v1 batch/v1 autoscaling/v1 policy/v1beta1/v1 "
     "networking.k8s.io/v1 rbac.authorization.k8s.io/v1/v1beta1 storage.k8s.io/v1/v1beta1 "
     "scheduling.k8s.io/v1/v1beta1 coordination.k8s.io/v1/v1beta1 node.k8s.io/v1beta1"},
    {{20},
     "events.k8s.io/v1 authorization.k8s.io/v1 apps/v1 batch/v1 autoscaling/v1 policy/v1beta1/v1 "
     "networking.k8s.io/v1 rbac.authorization.k8s.io/v1/v1beta1 storage.k8s.io/v1/v1beta1 "
     "scheduling.k8s.io/v1/v1beta1 coordination.k8s.io/v1/v1beta1 node.k8s.io/v1/v1beta1"},
    {{22},
     "events.k8s.io/v1 authorization.k8s.io/v1 apps/v1 batch/v1 autoscaling/v1 policy/v1/v1beta1 "
     "networking.k8s.io/v1 rbac.authorization.k8s.io/v1 storage.k8s.io/v1 scheduling.k8s.io/v1 "
     "coordination.k8s.io/v1 discovery.k8s.io/v1 node.k8s.io/v1/v1beta1"},
    {{25},
     "events.k8s.io/v1 authentication.k8s.io/v1 authorization.k8s.io/v1 apps/v1 batch/v1 autoscaling/v2/v1 "
     "networking.k8s.io/v1 policy/v1 rbac.authorization.k8s.io/v1 "
     "storage.k8s.io/v1 scheduling.k8s.io/v1 coordination.k8s.io/v1 discovery.k8s.io/v1 node.k8s.io/v1"},
    {{34},
     "events.k8s.io/v1 authentication.k8s.io/v1 authorization.k8s.io/v1 apps/v1 batch/v1 autoscaling/v2/v1 "
     "networking.k8s.io/v1 policy/v1 rbac.authorization.k8s.io/v1 "
     "storage.k8s.io/v1 scheduling.k8s.io/v1 coordination.k8s.io/v1 discovery.k8s.io/v1 resource.k8s.io/v1 "
     "node.k8s.io/v1"}};

// Members of types that came or went, by the names in pkg/api/validation/schema_types*.cc. Where a type has a member in
// two forms, the one that is always written has a "!".
struct MemberRow {
  Span span;
  std::string_view members;
};
inline constexpr MemberRow kMembers[] = {
    {Until(11), "NodeSelectorTerm.matchExpressions!"},
    {Until(16), "DeploymentSpec.rollbackTo DaemonSetSpec.templateGeneration"},
    {Until(19), "EventSeries.state"},
    {Until(21), "PodDisruptionBudgetStatus.disruptedPods!"},
    {Until(24), "ObjectMeta.clusterName"},
    {Until(31), "PodResourceClaim.source"},
    {{.since = {16}, .until = {20}}, "ServiceSpec.ipFamily"},
    {{.since = {17}, .until = {22}}, "ServiceSpec.topologyKeys"},
    {Since(11),
     "PodSpec.readinessGates PodSecurityContext.sysctls NodeSelectorTerm.matchExpressions "
     "NodeSelectorTerm.matchFields CinderVolumeSource.secretRef VolumeProjection.serviceAccountToken "
     "NodeStatus.config StorageClass.allowedTopologies ResourceQuotaSpec.scopeSelector"},
    {Since(12),
     "PodSpec.runtimeClassName SecurityContext.procMount LocalVolumeSource.fsType "
     "PersistentVolumeClaimSpec.dataSource JobSpec.ttlSecondsAfterFinished"},
    {Since(13), "PodSpec.enableServiceLinks"},
    {Since(14),
     "ObjectMeta.managedFields PodSecurityContext.windowsOptions SecurityContext.windowsOptions "
     "VolumeMount.subPathExpr CSIPersistentVolumeSource.controllerExpandSecretRef"},
    {Since(15), "PodSpec.preemptionPolicy Volume.csi"},
    {Since(16),
     "PodSpec.overhead PodSpec.topologySpreadConstraints PodSpec.ephemeralContainers Container.startupProbe "
     "Container.targetContainerName PodStatus.podIPs PodStatus.ephemeralContainerStatuses ContainerStatus.started "
     "NodeSpec.podCIDRs RuntimeClass.overhead RuntimeClass.scheduling"},
    {Since(18),
     "PodSecurityContext.fsGroupChangePolicy ServicePort.appProtocol EndpointPort.appProtocol ConfigMap.immutable "
     "Secret.immutable"},
    {Since(19),
     "PodSpec.setHostnameAsFQDN PodSecurityContext.seccompProfile SecurityContext.seccompProfile Volume.ephemeral"},
    {Since(20),
     "NamespaceStatus.conditions ServiceSpec.clusterIPs ServiceSpec.ipFamilies ServiceSpec.ipFamilyPolicy "
     "ServiceSpec.allocateLoadBalancerNodePorts ServiceStatus.conditions LoadBalancerIngress.ports "
     "PodDisruptionBudgetStatus.conditions"},
    {Since(21),
     "PodAffinityTerm.namespaceSelector Probe.terminationGracePeriodSeconds ServiceSpec.loadBalancerClass "
     "ServiceSpec.internalTrafficPolicy PodDisruptionBudgetStatus.disruptedPods JobSpec.completionMode "
     "JobSpec.suspend JobStatus.completedIndexes"},
    {Since(22),
     "StatefulSetSpec.minReadySeconds StatefulSetStatus.availableReplicas PersistentVolumeClaimSpec.dataSourceRef "
     "JobStatus.uncountedTerminatedPods"},
    {Since(23), "PodSpec.os Probe.grpc StatefulSetSpec.persistentVolumeClaimRetentionPolicy JobStatus.ready"},
    {Since(24), "RollingUpdateStatefulSetStrategy.maxUnavailable CronJobSpec.timeZone"},
    {Since(25),
     "PodSpec.hostUsers CSIPersistentVolumeSource.nodeExpandSecretRef JobSpec.podFailurePolicy "
     "CSIDriverSpec.seLinuxMount"},
    {Since(26),
     "PodSpec.schedulingGates PodSpec.resourceClaims ResourceRequirements.claims PodStatus.resourceClaimStatuses "
     "StatefulSetSpec.ordinals PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy"},
    {Since(27),
     "Container.resizePolicy PodStatus.resize ContainerStatus.allocatedResources ContainerStatus.resources "
     "PersistentVolumeClaimStatus.allocatedResources"},
    {Since(28),
     "Container.restartPolicy PodStatus.hostIPs PersistentVolumeStatus.lastPhaseTransitionTime "
     "PersistentVolumeClaimStatus.allocatedResourceStatuses JobSpec.backoffLimitPerIndex JobSpec.maxFailedIndexes "
     "JobSpec.podReplacementPolicy JobStatus.terminating JobStatus.failedIndexes"},
    {Since(29),
     "PodAffinityTerm.matchLabelKeys PodAffinityTerm.mismatchLabelKeys Handler.sleep "
     "VolumeProjection.clusterTrustBundle LoadBalancerIngress.ipMode "
     "PersistentVolumeSpec.volumeAttributesClassName PersistentVolumeClaimSpec.volumeAttributesClassName "
     "PersistentVolumeClaimStatus.currentVolumeAttributesClassName PersistentVolumeClaimStatus.modifyVolumeStatus"},
    {Since(30),
     "NodeStatus.features JobSpec.managedBy JobSpec.successPolicy ContainerStatus.volumeMounts "
     "NodeStatus.runtimeHandlers PodSecurityContext.appArmorProfile SecurityContext.appArmorProfile "
     "ServiceSpec.trafficDistribution VolumeMount.recursiveReadOnly"},
    {Since(31),
     "PodResourceClaim.resourceClaimName PodResourceClaim.resourceClaimTemplateName "
     "ResourceClaimOfContainer.request ContainerStatus.allocatedResourcesStatus ContainerStatus.user "
     "LeaseSpec.preferredHolder LeaseSpec.strategy PodSecurityContext.supplementalGroupsPolicy Volume.image"},
    {Since(32), "PodSpec.resources PodSecurityContext.seLinuxChangePolicy"},
    {Since(33),
     "PodStatus.observedGeneration PodCondition.observedGeneration "
     "CSIDriverSpec.nodeAllocatableUpdatePeriodSeconds ContainerStatus.stopSignal Lifecycle.stopSignal "
     "VolumeError.errorCode"},
    {Since(34),
     "PodSpec.hostnameOverride Container.restartPolicyRules PodStatus.extendedResourceClaimStatus "
     "EnvVarSource.fileKeyRef NodeSystemInfo.swap VolumeProjection.podCertificate"},
    {Since(35),
     "PodStatus.allocatedResources PodStatus.resources NodeStatus.declaredFeatures "
     "ReplicaStatus.terminatingReplicas DeploymentStatus.terminatingReplicas "
     "CSIDriverSpec.serviceAccountTokenInSecrets"},
    {Since(36), "PodSpec.schedulingGroup CSIDriverSpec.preventPodSchedulingIfMissing"},
};

// What `kubectl get` shows: ages have two units where the first one is small, the restarts of a pod say when the last
// one was, and bindings of roles name the role.
inline constexpr Span kHumanAges = Since(13), kRestartsHaveAges = Since(23), kRolesOfBindings = Since(18);
// The columns of `kubectl get`.
inline constexpr Span kColumnsOfJobs = Since(11), kNominatedNodeColumn = Since(12), kInternalIpColumn = Since(12),
                      kReadinessGatesColumn = Since(13),
                      kColumnsOfEvents = Since(15),  // events are shown by their series, and named by their object
    kReadyOfWanted = Since(15),                      // Deployments and StatefulSets show "ready/wanted" in one column
    kVolumeModeColumn = Since(16), kColumnsOfQuotas = Since(17), kColumnsOfStorageClasses = Since(18),
                      kAttributesClassColumn = Since(29), kTimeZoneColumn = Since(30), kJobStatusColumn = Since(31),
                      kPreemptionPolicyColumn = Since(33);

// ---- what controllers and admission do (pkg/world) ----
// Sources: the feature gates and controllers of Kubernetes 1.10, 1.13, 1.19, 1.29 and 1.36.

inline constexpr Span kPriority = Since(11);
inline constexpr Span kDaemonPodsAreScheduled = Since(12);
inline constexpr Span kTellsComputedPriority = Since(12);
inline constexpr Span kNodeTaints = Since(13);
inline constexpr Span kDaemonsToleratePidPressure = Since(14);
inline constexpr Span kScalesOfAnyKind = Since(15);
inline constexpr Span kRuntimeClassScheduling = Since(16);
inline constexpr Span kRuntimeClassOverhead = Since(18);
inline constexpr Span kInitContainersCountOnNodes = Since(19);
inline constexpr Span kCronNamesInMinutes = Since(21);
inline constexpr Span kEmptyBudgetsSelectAll = Since(21);
inline constexpr Span kEphemeralClaims = Since(21);
inline constexpr Span kIndexedJobs = Since(22);
inline constexpr Span kKubeletsHeedTaints = Since(22);
inline constexpr Span kJobFinalizer = Since(23);
inline constexpr Span kJobFailurePolicy = Since(26);
inline constexpr Span kNewestDefaultClass = Since(26);
inline constexpr Span kLateDefaultClass = Since(26);
inline constexpr Span kPrefixedJobLabels = Since(27);
inline constexpr Span kStatefulStart = Since(27);
inline constexpr Span kUnhealthyPodEvictionPolicy = Since(27);
inline constexpr Span kJobIndexLabel = Since(28);
inline constexpr Span kStatefulIndexLabel = Since(28);
inline constexpr Span kJobIndexLimits = Since(29);
inline constexpr Span kJobSuccessPolicy = Since(31);
inline constexpr Span kMergesAffinityKeys = Since(31);
inline constexpr Span kJobManagedBy = Since(32);
inline constexpr Span kLongNodeGrace = Since(32);
inline constexpr Span kResizesPods = Since(33);
inline constexpr Span kDaemonsLookAtLoneNodes = Since(33);
inline constexpr Span kMergesSpreadKeys = Since(34);
inline constexpr Span kPodLevelResources = Since(34);
inline constexpr Span kZoneLabelsOfNode = Since(35);

// ---- what schedulers read ----

// Members of pods, nodes and CSINodes that take part in decisions.
inline constexpr Span kCsiLimits = Since(17), kSpreadConstraints = Since(18), kEphemeralVolumes = Since(21),
                      kNamespaceSelectors = Since(22), kPodLevelRequests = Since(36), kSchedulingGroups = Since(36),
                      kNodeFeatures = Since(36);
// What no emulated release understands.
inline constexpr Span kNever = Since(255);
// Extenders may preempt and be ignored when they fail; they answer that evictions cannot help on a node.
inline constexpr Span kExtenderFailures = Since(11), kAnswersUnresolvable = Since(21);
// Feature gates are refused as "unrecognized feature gate" and no longer as "unrecognized key"; they may be written
// with the name of the component.
inline constexpr Span kSaysFeatureGate = Since(19), kTakesComponents = Since(33);

// ---- Policies ----

// Policies are read strictly, and may be YAML.
inline constexpr Span kStrictPolicies = Since(18);
inline constexpr Span kRatioArguments = Since(12);
// Predicates and priorities. Node conditions became taints by default (gate TaintNodesByCondition), and the predicates
// about them went.
inline constexpr Span kConditionPredicates = Until(12), kConditionTaints = Since(12);
inline constexpr Span kPidPressurePredicate = {.since = {11}, .until = {12}};
inline constexpr Span kNoVolumeNodeConflict = Until(9), kCheckVolumeBinding = Since(9), kResourceLimits = Since(9);
inline constexpr Span kMaxCsiVolumeCount = Since(12), kMaxCinderVolumeCount = Since(14), kEvenPodsSpread = Since(16);
// Members of extenders, and whether preemption can be turned off; before, it was off by default.
inline constexpr Span kManagedResources = Since(10), kPreemptVerb = Since(11), kIgnorable = Since(12);
inline constexpr Span kDisablesPreemption = Since(11);

// ---- configurations ----

// The versions of KubeSchedulerConfiguration. 1.29 itself no longer reads v1beta3; it is accepted because its defaults
// are those of v1.
inline constexpr Span kComponentConfigV1Alpha1 = {.since = {9}, .until = {12}};
inline constexpr Span kConfigurationV1Alpha1 = {.since = {12}, .until = {18}};
inline constexpr Span kConfigurationV1Alpha2 = {.since = {18}, .until = {19}};
inline constexpr Span kConfigurationV1Beta1 = {.since = {19}, .until = {23}};
inline constexpr Span kConfigurationV1Beta2 = {.since = {22}, .until = {28}};
inline constexpr Span kConfigurationV1Beta3 = {.since = {23}, .until = {30}};
inline constexpr Span kConfigurationV1 = Since(25);
// Where a release says that a kind is not registered.
inline constexpr From<std::string_view> kConfigurationScheme[] = {
    {{0}, ""},
    {{12}, R"( in scheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:29")"},
    {{18}, R"( in scheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:30")"},
    {{20}, R"( in scheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme/scheme.go:29")"},
};
// Whether flags of leader election that are given act beside a configuration file.
inline constexpr Span kLeaderElectionFlagsActBesideFile = Since(23);
// Members for groups of pods, arguments of DynamicResources, and mistakes in other words.
inline constexpr Span kPlacementPoints = Since(36), kDeviceArguments = Since(36), kConfigurationInNewWords = Since(36);

// ---- decisions that this program once made otherwise (pkg/recording/corrections.h) ----

inline constexpr Span kDecidesByProfiles = Since(19);
inline constexpr Span kKnowsOverheadAlone = {.since = {19},
                                             .until = {20}};  // and neither sidecars nor pod-level requests
inline constexpr Span kTakesSidecarsForInitContainers = Until(20);
inline constexpr Span kConditionsTellAttempts = {.since = {13}, .until = {14}};
inline constexpr Span kEvictsWithoutBackOff = Until(9);
inline constexpr Span kReadsPreemptors = {.since = {19}, .until = {20}};
inline constexpr Span kVolumeErrorsEndNominations = {.since = {29}, .until = {30}};
inline constexpr Span kWakesByObjects = Since(36);
inline constexpr Span kNominatesByAnnotation = Until(10);
inline constexpr Span kPreemptsByLists = Until(14);

}  // namespace berth::release::history
