#include "pkg/api/pod_spec_fields.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/util/status.h"

namespace berth::api {
namespace {

using enum PodSpecField::Use;

// Reasons that many rows share.
constexpr std::string_view kForKubelet = "the kubelet reads it once the pod is on its node; no release places by it";
constexpr std::string_view kForServer = "the API server replaces it by other fields, which are read";
constexpr std::string_view kAnywhere = "a volume of this kind is mounted on any node and counts toward no limit";
constexpr std::string_view kNameOfEntry = "a name by which other fields refer to this entry";

#define CONTAINER_ROWS(list)                                                                                       \
  {list ".args", kOther, kForKubelet}, {list ".command", kOther, kForKubelet}, {list ".env", kOther, kForKubelet}, \
      {list ".envFrom", kOther, kForKubelet}, {list ".image", kRead, {}},                                          \
      {list ".imagePullPolicy", kOther, kForKubelet}, {list ".lifecycle", kOther, kForKubelet},                    \
      {list ".livenessProbe", kOther, kForKubelet}, {list ".name", kRead, {}},                                     \
      {list ".ports.containerPort", kRead, {}}, {list ".ports.hostIP", kRead, {}},                                 \
      {list ".ports.hostPort", kRead, {}}, {list ".ports.name", kOther, kNameOfEntry},                             \
      {list ".ports.protocol", kRead, {}}, {list ".readinessProbe", kOther, kForKubelet},                          \
      {list ".resizePolicy", kOther, "it says whether a resize restarts the container, not where it runs"},        \
      {list ".resources.claims", kOther, "it names entries of spec.resourceClaims, which are read"},               \
      {list ".resources.limits", kRead, {}}, {list ".resources.requests", kRead, {}},                              \
      {list ".restartPolicy", kRead, {}}, {list ".restartPolicyRules.action", kRead, {}},                          \
      {list ".restartPolicyRules.exitCodes", kOther, kForKubelet}, {list ".securityContext", kOther, kForKubelet}, \
      {list ".startupProbe", kOther, kForKubelet}, {list ".stdin", kOther, kForKubelet},                           \
      {list ".stdinOnce", kOther, kForKubelet}, {list ".terminationMessagePath", kOther, kForKubelet},             \
      {list ".terminationMessagePolicy", kOther, kForKubelet}, {list ".tty", kOther, kForKubelet},                 \
      {list ".volumeDevices", kOther, "it names entries of spec.volumes, which are read"},                         \
      {list ".volumeMounts", kOther, "it names entries of spec.volumes, which are read"}, {                        \
    list ".workingDir", kOther, kForKubelet                                                                        \
  }
#define NODE_TERM_ROWS(term)                                                                 \
  {term ".matchExpressions.key", kRead, {}}, {term ".matchExpressions.operator", kRead, {}}, \
      {term ".matchExpressions.values", kRead, {}}, {term ".matchFields.key", kRead, {}},    \
      {term ".matchFields.operator", kRead, {}}, {                                           \
    term ".matchFields.values", kRead, {}                                                    \
  }
#define SELECTOR_ROWS(selector)                                                        \
  {selector ".matchLabels", kRead, {}}, {selector ".matchExpressions.key", kRead, {}}, \
      {selector ".matchExpressions.operator", kRead, {}}, {                            \
    selector ".matchExpressions.values", kRead, {}                                     \
  }
#define POD_TERM_ROWS(term)                                                                                        \
  SELECTOR_ROWS(term ".labelSelector"), SELECTOR_ROWS(term ".namespaceSelector"), {term ".namespaces", kRead, {}}, \
      {term ".topologyKey", kRead, {}},                                                                            \
      {term ".matchLabelKeys", kOther, "the API server adds the pod's labels to the labelSelector"}, {             \
    term ".mismatchLabelKeys", kOther, "the API server adds the pod's labels to the labelSelector"                 \
  }
#define POD_AFFINITY_ROWS(affinity)                                                                 \
  POD_TERM_ROWS(affinity ".requiredDuringSchedulingIgnoredDuringExecution"),                        \
      POD_TERM_ROWS(affinity ".preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm"), { \
    affinity ".preferredDuringSchedulingIgnoredDuringExecution.weight", kRead, {}                   \
  }

constexpr PodSpecField kRows[] = {
    {"activeDeadlineSeconds", kOther, "it limits how long the pod runs, not where"},
    NODE_TERM_ROWS("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"),
    NODE_TERM_ROWS("affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.preference"),
    {"affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.weight", kRead, {}},
    POD_AFFINITY_ROWS("affinity.podAffinity"),
    POD_AFFINITY_ROWS("affinity.podAntiAffinity"),
    {"automountServiceAccountToken", kOther, kForKubelet},
    CONTAINER_ROWS("containers"),
    {"dnsConfig", kOther, kForKubelet},
    {"dnsPolicy", kOther, kForKubelet},
    {"enableServiceLinks", kOther, kForKubelet},
    {"ephemeralContainers", kOther, "they may not have resources or ports, and are added to pods that run"},
    {"hostAliases", kOther, kForKubelet},
    {"hostIPC", kOther, kForKubelet},
    {"hostNetwork", kRead, {}},
    {"hostPID", kOther, kForKubelet},
    {"hostUsers", kRead, {}},
    {"hostname", kOther, kForKubelet},
    {"hostnameOverride", kOther, kForKubelet},
    {"imagePullSecrets", kOther, kForKubelet},
    CONTAINER_ROWS("initContainers"),
    {"nodeName", kRead, {}},
    {"nodeSelector", kRead, {}},
    {"os", kOther, "no release places by it; pods of one system are sent to its nodes by labels and taints"},
    {"overhead", kRead, {}},
    {"preemptionPolicy", kRead, {}},
    {"priority", kRead, {}},
    {"priorityClassName", kOther, kForServer},
    {"readinessGates", kOther, kForKubelet},
    {"resourceClaims.name", kRead, {}},
    {"resourceClaims.resourceClaimName", kRead, {}},
    {"resourceClaims.resourceClaimTemplateName", kRead, {}},
    {"resourceClaims.source", kRead, {}},
    {"resources.claims", kOther, "it names entries of spec.resourceClaims, which are read"},
    {"resources.limits", kRead, {}},
    {"resources.requests", kRead, {}},
    {"restartPolicy", kOther, "it says what follows when a container ends, not where the pod runs"},
    {"runtimeClassName", kOther, kForServer},
    {"schedulerName", kRead, {}},
    {"schedulingGates.name", kRead, {}},
    {"schedulingGroup", kRead, {}},
    {"securityContext", kOther, kForKubelet},
    {"serviceAccount", kOther, kForKubelet},
    {"serviceAccountName", kOther, kForKubelet},
    {"setHostnameAsFQDN", kOther, kForKubelet},
    {"shareProcessNamespace", kOther, kForKubelet},
    {"subdomain", kOther, kForKubelet},
    {"terminationGracePeriodSeconds", kOther, "it says how the pod ends, not where it runs"},
    {"tolerations.effect", kRead, {}},
    {"tolerations.key", kRead, {}},
    {"tolerations.operator", kRead, {}},
    {"tolerations.tolerationSeconds", kOther, "it says how long a pod stays after a taint is added"},
    {"tolerations.value", kRead, {}},
    SELECTOR_ROWS("topologySpreadConstraints.labelSelector"),
    {"topologySpreadConstraints.matchLabelKeys", kRead, {}},
    {"topologySpreadConstraints.maxSkew", kRead, {}},
    {"topologySpreadConstraints.minDomains", kRead, {}},
    {"topologySpreadConstraints.nodeAffinityPolicy", kRead, {}},
    {"topologySpreadConstraints.nodeTaintsPolicy", kRead, {}},
    {"topologySpreadConstraints.topologyKey", kRead, {}},
    {"topologySpreadConstraints.whenUnsatisfiable", kRead, {}},
    {"volumes.awsElasticBlockStore.fsType", kOther, kForKubelet},
    {"volumes.awsElasticBlockStore.partition", kOther, kForKubelet},
    {"volumes.awsElasticBlockStore.readOnly", kOther, "a disk of EBS is never shared, read only or not"},
    {"volumes.awsElasticBlockStore.volumeID", kRead, {}},
    {"volumes.azureDisk.cachingMode", kOther, kForKubelet},
    {"volumes.azureDisk.diskName", kRead, {}},
    {"volumes.azureDisk.diskURI", kRead, {}},
    {"volumes.azureDisk.fsType", kOther, kForKubelet},
    {"volumes.azureDisk.kind", kOther, kForKubelet},
    {"volumes.azureDisk.readOnly", kOther, "limits count disks that are read only as well"},
    {"volumes.azureFile", kOther, kAnywhere},
    {"volumes.cephfs", kOther, kAnywhere},
    {"volumes.cinder.fsType", kOther, kForKubelet},
    {"volumes.cinder.readOnly", kOther, "limits count disks that are read only as well"},
    {"volumes.cinder.secretRef", kOther, kForKubelet},
    {"volumes.cinder.volumeID", kRead, {}},
    {"volumes.configMap", kOther, kAnywhere},
    {"volumes.csi", kOther, "limits count no inline volumes of CSI drivers"},
    {"volumes.downwardAPI", kOther, kAnywhere},
    {"volumes.emptyDir", kOther, "its size is not a request; no release compares it with a node"},
    {"volumes.ephemeral", kRead, {}},
    {"volumes.fc", kOther, kAnywhere},
    {"volumes.flexVolume", kOther, kAnywhere},
    {"volumes.flocker", kOther, kAnywhere},
    {"volumes.gcePersistentDisk.fsType", kOther, kForKubelet},
    {"volumes.gcePersistentDisk.partition", kOther, kForKubelet},
    {"volumes.gcePersistentDisk.pdName", kRead, {}},
    {"volumes.gcePersistentDisk.readOnly", kRead, {}},
    {"volumes.gitRepo", kOther, kAnywhere},
    {"volumes.glusterfs", kOther, kAnywhere},
    {"volumes.hostPath", kOther, kAnywhere},
    {"volumes.image.pullPolicy", kOther, kForKubelet},
    {"volumes.image.reference", kRead, {}},
    {"volumes.iscsi.chapAuthDiscovery", kOther, kForKubelet},
    {"volumes.iscsi.chapAuthSession", kOther, kForKubelet},
    {"volumes.iscsi.fsType", kOther, kForKubelet},
    {"volumes.iscsi.initiatorName", kOther, kForKubelet},
    {"volumes.iscsi.iqn", kRead, {}},
    {"volumes.iscsi.iscsiInterface", kOther, kForKubelet},
    {"volumes.iscsi.lun", kOther, "Kubernetes compares targets by their iqn alone"},
    {"volumes.iscsi.portals", kOther, kForKubelet},
    {"volumes.iscsi.readOnly", kRead, {}},
    {"volumes.iscsi.secretRef", kOther, kForKubelet},
    {"volumes.iscsi.targetPortal", kOther, kForKubelet},
    {"volumes.name", kRead, {}},
    {"volumes.nfs", kOther, kAnywhere},
    {"volumes.persistentVolumeClaim.claimName", kRead, {}},
    {"volumes.persistentVolumeClaim.readOnly", kOther, "the claim says how its volume may be used"},
    {"volumes.photonPersistentDisk", kOther, kAnywhere},
    {"volumes.portworxVolume.fsType", kOther, kForKubelet},
    {"volumes.portworxVolume.readOnly", kOther, "limits count disks that are read only as well"},
    {"volumes.portworxVolume.volumeID", kRead, {}},
    {"volumes.projected", kOther, kAnywhere},
    {"volumes.quobyte", kOther, kAnywhere},
    {"volumes.rbd.fsType", kOther, kForKubelet},
    {"volumes.rbd.image", kRead, {}},
    {"volumes.rbd.keyring", kOther, kForKubelet},
    {"volumes.rbd.monitors", kRead, {}},
    {"volumes.rbd.pool", kRead, {}},
    {"volumes.rbd.readOnly", kRead, {}},
    {"volumes.rbd.secretRef", kOther, kForKubelet},
    {"volumes.rbd.user", kOther, kForKubelet},
    {"volumes.scaleIO", kOther, kAnywhere},
    {"volumes.secret", kOther, kAnywhere},
    {"volumes.storageos", kOther, kAnywhere},
    {"volumes.vsphereVolume", kOther, "volumes without a claim count toward no limit of vSphere's driver"},
    {"workloadRef", kRead, {}},
};

#undef CONTAINER_ROWS
#undef NODE_TERM_ROWS
#undef SELECTOR_ROWS
#undef POD_TERM_ROWS
#undef POD_AFFINITY_ROWS

// The rows as a tree. A node without children covers everything below it.
struct Branch {
  std::string_view name;
  std::vector<Branch> children;

  const Branch* Find(std::string_view key) const {
    for (const Branch& b : children) {
      if (b.name == key) return &b;
    }
    for (const Branch& b : children) {
      if (absl::EqualsIgnoreCase(util::ToAbsl(b.name), util::ToAbsl(key))) return &b;
    }
    return nullptr;
  }
};

const Branch& Tree() {
  static const Branch* const kTree = [] {
    auto* root = new Branch;
    for (const PodSpecField& row : kRows) {
      Branch* at = root;
      for (std::string_view rest = row.path; !rest.empty();) {
        const size_t dot = std::min(rest.find('.'), rest.size());
        const std::string_view name = rest.substr(0, dot);
        rest.remove_prefix(std::min(dot + 1, rest.size()));
        auto it =
            std::find_if(at->children.begin(), at->children.end(), [&](const Branch& b) { return b.name == name; });
        at = it != at->children.end() ? &*it : &at->children.emplace_back(Branch{name, {}});
      }
    }
    return root;
  }();
  return *kTree;
}

constexpr size_t kMostUnknown = 32;
constexpr size_t kLongestName = 64;  // of a member that is reported

void Collect(Json j, const Branch& branch, const std::string& path, std::set<std::string>* out) {
  if (branch.children.empty() || out->size() >= kMostUnknown) return;
  if (j.IsArray()) {
    for (auto element : j.Children()) Collect(element.value, branch, absl::StrCat(path, "[]"), out);
    return;
  }
  if (!j.IsObject()) return;
  for (auto [key, value] : j.Children()) {
    if (value.IsNull()) continue;
    const Branch* below = branch.Find(key);
    if (below == nullptr) {
      if (out->size() < kMostUnknown) out->insert(absl::StrCat(path, ".", std::string(key.substr(0, kLongestName))));
    } else if (!below->children.empty()) {
      Collect(value, *below, absl::StrCat(path, ".", std::string(below->name)), out);
    }
  }
}

}  // namespace

std::span<const PodSpecField> PodSpecFields() {
  return kRows;
}

std::vector<std::string> UnknownPodSpecFields(Json spec) {
  std::set<std::string> found;
  Collect(spec, Tree(), "spec", &found);
  return {found.begin(), found.end()};
}

}  // namespace berth::api
