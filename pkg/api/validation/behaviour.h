// What an API server does in some releases and not in others, where no table of types, fields or resources says it.
// Each row has the releases that do it; those that are emulated between two rows follow from it.
#pragma once
#include "pkg/release/release.h"

namespace berth::validation {

using release::Version;

// Objects and lists have a selfLink.
inline constexpr release::Span kSelfLinks = release::Until(20);
// A Node must have spec.externalID, which is made of its name.
inline constexpr release::Span kExternalIds = release::Until(11);
// A term of a node selector must have an expression.
inline constexpr release::Span kTermsNeedExpressions = release::Until(11);
// The spec of a PodDisruptionBudget cannot change.
inline constexpr release::Span kBudgetsAreFixed = release::Until(15);

// Pods get spec.enableServiceLinks.
inline constexpr release::Span kServiceLinks = release::Since(13);
// Volumes and claims get spec.volumeMode.
inline constexpr release::Span kVolumeModes = release::Since(13);
// Pods get the preemptionPolicy of their class.
inline constexpr release::Span kPreemptionPolicies = release::Since(19);
// Services get IP families and policies of traffic.
inline constexpr release::Span kIpFamilies = release::Since(20);
// StatefulSets say what becomes of the claims of their pods.
inline constexpr release::Span kClaimRetention = release::Since(27);
// DaemonSets get maxSurge; Jobs get a completion mode and may be suspended.
inline constexpr release::Span kMaxSurgeOfDaemonSets = release::Since(22);
inline constexpr release::Span kCompletionModes = release::Since(22);
inline constexpr release::Span kPodReplacementPolicies = release::Since(29);
inline constexpr release::Span kGenerationOfJobs = release::Since(16);
// A DaemonSet counts its templates in an annotation instead of a member.
inline constexpr release::Span kDaemonGenerations = release::Since(16);
// Pods have a generation, and conditions say for which one they were found.
inline constexpr release::Span kGenerationOfPods = release::Since(33);
// A binding clears the pod's nomination.
inline constexpr release::Span kBindingsEndNominations = release::Since(34);

// Amounts of huge pages: a pod has those of one size, beside cpu or memory, and whole pages
// (AllowIndivisibleHugePagesValues for older pods).
inline constexpr release::Span kOneSizeOfHugePages = release::Until(19);
inline constexpr release::Span kHugePagesNeedOthers = release::Since(11);
inline constexpr release::Span kWholeHugePages = release::Since(21);
// alpha.kubernetes.io/nvidia-gpu must be limited like an extended resource.
inline constexpr release::Span kGpuIsExtended = release::Until(11);
// Pods may configure their DNS, alpha and off in 1.9.
inline constexpr release::Span kCustomDns = release::Since(10);
// SCTP is a protocol, beta and on in 1.19, GA in 1.20.
inline constexpr release::Span kSctpIsAProtocol = release::Since(19);
// The labelSelector of a spread constraint is checked.
inline constexpr release::Span kSpreadSelectors = release::Since(27);
// Every container may have a restartPolicy: ContainerRestartRules, alpha and off in 1.34, beta and on in 1.35.
inline constexpr release::Span kRestartPolicies = release::Since(35);
// Services may have names that begin with a digit: RelaxedServiceNameValidation, beta and on in 1.36.
inline constexpr release::Span kRelaxedServiceNames = release::Since(36);
// Errors about names speak of "a lowercase RFC 1123 label" and no longer of "a DNS-1123 label".
inline constexpr release::Span kSaysLowercase = release::Since(20);

// What came after 1.10 in pods and classes is checked.
inline constexpr release::Span kChecksNewPodFields = release::Since(11);
inline constexpr release::Span kChecksPriorityClasses = release::Since(14);
// A pod with scheduling gates may get another node selector and affinity.
inline constexpr release::Span kGatedChanges = release::Since(26);
// An update of a Lease must name the version that it is based on.
inline constexpr release::Span kLeasesNeedVersions = release::Since(14);
// A namespace must exist before there are objects in it, and is not being deleted.
inline constexpr release::Span kChecksNamespaces = release::Since(14);
// Namespaces have the label kubernetes.io/metadata.name.
inline constexpr release::Span kNamesOfNamespaces = release::Since(21);
// The uid in a Binding is compared.
inline constexpr release::Span kUidsOfBindings = release::Since(16);
// The selectors of Deployments, ReplicaSets and DaemonSets cannot change in any version that is served.
inline constexpr release::Span kSelectorsAreFixed = release::Since(16);
// A budget with neither bound lets no pod be evicted.
inline constexpr release::Span kEmptyBudgetsHold = release::Since(21);
// An evicted pod gets a condition that says so.
inline constexpr release::Span kDisruptionTargets = release::Since(26);
inline constexpr release::Span kEvictionsV1 = release::Since(22);

// What clients see: /livez and /readyz, the namespace of node leases, the authorities of clients in a ConfigMap, tables
// of meta.k8s.io/v1, bookmarks, and warnings about unknown fields.
inline constexpr release::Span kLivez = release::Since(16);
inline constexpr release::Span kNodeLeases = release::Since(14);
inline constexpr release::Span kClientAuthorities = release::Since(13);
inline constexpr release::Span kTablesV1 = release::Since(15);
// The options of a table are checked as such, and not row by row.
inline constexpr release::Span kChecksTableOptions = release::Since(15);
inline constexpr release::Span kBookmarks = release::Since(16);
inline constexpr release::Span kFieldWarnings = release::Since(25);
// A watch may begin with the objects that exist and a bookmark behind them (sendInitialEvents).
inline constexpr release::Span kWatchLists = release::Since(34);

}  // namespace berth::validation
