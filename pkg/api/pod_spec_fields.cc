#include "pkg/api/pod_spec_fields.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/scheduling_fields.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

// Reasons that many rows share.
constexpr std::string_view kForKubelet = "the kubelet reads it once the pod is on its node; no release places by it";
constexpr std::string_view kForServer = "the API server replaces it by other fields, which are read";
constexpr std::string_view kAnywhere = "a volume of this kind is mounted on any node and counts toward no limit";
constexpr std::string_view kForSelector = "the API server adds the pod's labels to the labelSelector";
constexpr std::string_view kNameOfEntry = "a name by which other fields refer to this entry";

// What is recorded of a spec is read, but for these fields of it: the API server resolves them, or they matter once the
// pod runs.
#define POD_TERM_ROWS(term)                 \
  {term ".matchLabelKeys", kForSelector}, { \
    term ".mismatchLabelKeys", kForSelector \
  }
#define CONTAINER_ROWS(list)                                                                                           \
  {list ".args", kForKubelet}, {list ".command", kForKubelet}, {list ".env", kForKubelet},                             \
      {list ".envFrom", kForKubelet}, {list ".imagePullPolicy", kForKubelet}, {list ".lifecycle", kForKubelet},        \
      {list ".livenessProbe", kForKubelet}, {list ".ports.name", kNameOfEntry}, {list ".readinessProbe", kForKubelet}, \
      {list ".resizePolicy", "it says whether a resize restarts the container, not where it runs"},                    \
      {list ".resources.claims", "it names entries of spec.resourceClaims, which are read"},                           \
      {list ".restartPolicyRules.exitCodes", kForKubelet}, {list ".securityContext", kForKubelet},                     \
      {list ".startupProbe", kForKubelet}, {list ".stdin", kForKubelet}, {list ".stdinOnce", kForKubelet},             \
      {list ".terminationMessagePath", kForKubelet}, {list ".terminationMessagePolicy", kForKubelet},                  \
      {list ".tty", kForKubelet}, {list ".volumeDevices", "it names entries of spec.volumes, which are read"},         \
      {list ".volumeMounts", "it names entries of spec.volumes, which are read"}, {                                    \
    list ".workingDir", kForKubelet                                                                                    \
  }

struct Unread {
  std::string_view path, why;
};
constexpr Unread kUnread[] = {
    {"activeDeadlineSeconds", "it limits how long the pod runs, not where"},
    POD_TERM_ROWS("affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm"),
    POD_TERM_ROWS("affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
    POD_TERM_ROWS("affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm"),
    POD_TERM_ROWS("affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
    {"automountServiceAccountToken", kForKubelet},
    CONTAINER_ROWS("containers"),
    {"dnsConfig", kForKubelet},
    {"dnsPolicy", kForKubelet},
    {"enableServiceLinks", kForKubelet},
    {"ephemeralContainers", "they may not have resources or ports, and are added to pods that run"},
    {"hostAliases", kForKubelet},
    {"hostIPC", kForKubelet},
    {"hostPID", kForKubelet},
    {"hostname", kForKubelet},
    {"hostnameOverride", kForKubelet},
    {"imagePullSecrets", kForKubelet},
    CONTAINER_ROWS("initContainers"),
    {"os", "no release places by it; pods of one system are sent to its nodes by labels and taints"},
    {"priorityClassName", kForServer},
    {"readinessGates", kForKubelet},
    {"resourceClaims.source", "a pod with claims waits in the releases that have it, whatever it says"},
    {"resources.claims", "it names entries of spec.resourceClaims, which are read"},
    {"restartPolicy", "it says what follows when a container ends, not where the pod runs"},
    {"runtimeClassName", kForServer},
    {"securityContext", kForKubelet},
    {"serviceAccount", kForKubelet},
    {"serviceAccountName", kForKubelet},
    {"setHostnameAsFQDN", kForKubelet},
    {"shareProcessNamespace", kForKubelet},
    {"subdomain", kForKubelet},
    {"terminationGracePeriodSeconds", "it says how the pod ends, not where it runs"},
    {"tolerations.tolerationSeconds", "it says how long a pod stays after a taint is added"},
    {"volumes.awsElasticBlockStore.fsType", kForKubelet},
    {"volumes.awsElasticBlockStore.partition", kForKubelet},
    {"volumes.awsElasticBlockStore.readOnly", "a disk of EBS is never shared, read only or not"},
    {"volumes.azureDisk.cachingMode", kForKubelet},
    {"volumes.azureDisk.fsType", kForKubelet},
    {"volumes.azureDisk.kind", kForKubelet},
    {"volumes.azureDisk.readOnly", "limits count disks that are read only as well"},
    {"volumes.azureFile", kAnywhere},
    {"volumes.cephfs", kAnywhere},
    {"volumes.cinder.fsType", kForKubelet},
    {"volumes.cinder.readOnly", "limits count disks that are read only as well"},
    {"volumes.cinder.secretRef", kForKubelet},
    {"volumes.configMap", kAnywhere},
    {"volumes.csi", "limits count no inline volumes of CSI drivers"},
    {"volumes.downwardAPI", kAnywhere},
    {"volumes.emptyDir", "its size is not a request; no release compares it with a node"},
    {"volumes.fc", kAnywhere},
    {"volumes.flexVolume", kAnywhere},
    {"volumes.flocker", kAnywhere},
    {"volumes.gcePersistentDisk.fsType", kForKubelet},
    {"volumes.gcePersistentDisk.partition", kForKubelet},
    {"volumes.gitRepo", kAnywhere},
    {"volumes.glusterfs", kAnywhere},
    {"volumes.hostPath", kAnywhere},
    {"volumes.image.pullPolicy", kForKubelet},
    {"volumes.iscsi.chapAuthDiscovery", kForKubelet},
    {"volumes.iscsi.chapAuthSession", kForKubelet},
    {"volumes.iscsi.fsType", kForKubelet},
    {"volumes.iscsi.initiatorName", kForKubelet},
    {"volumes.iscsi.iscsiInterface", kForKubelet},
    {"volumes.iscsi.lun", "Kubernetes compares targets by their iqn alone"},
    {"volumes.iscsi.portals", kForKubelet},
    {"volumes.iscsi.secretRef", kForKubelet},
    {"volumes.iscsi.targetPortal", kForKubelet},
    {"volumes.nfs", kAnywhere},
    {"volumes.persistentVolumeClaim.readOnly", "the claim says how its volume may be used"},
    {"volumes.photonPersistentDisk", kAnywhere},
    {"volumes.portworxVolume.fsType", kForKubelet},
    {"volumes.portworxVolume.readOnly", "limits count disks that are read only as well"},
    {"volumes.projected", kAnywhere},
    {"volumes.quobyte", kAnywhere},
    {"volumes.rbd.fsType", kForKubelet},
    {"volumes.rbd.keyring", kForKubelet},
    {"volumes.rbd.secretRef", kForKubelet},
    {"volumes.rbd.user", kForKubelet},
    {"volumes.scaleIO", kAnywhere},
    {"volumes.secret", kAnywhere},
    {"volumes.storageos", kAnywhere},
    {"volumes.vsphereVolume", "volumes without a claim count toward no limit of vSphere's driver"},
};

#undef CONTAINER_ROWS
#undef POD_TERM_ROWS

// Returns the paths that recordings keep of a spec and that have nothing below them, without those in kUnread.
std::vector<std::string> ReadPaths() {
  std::set<std::string> kept;
  for (const std::string& path : SchedulingFieldPaths("Pod")) {
    if (path.starts_with("spec.")) kept.insert(path.substr(5, path.find_first_of("=:") - 5));
  }
  std::vector<std::string> read;
  for (auto it = kept.begin(); it != kept.end(); ++it) {
    const auto below = kept.lower_bound(*it + ".");
    const bool is_leaf = below == kept.end() || !below->starts_with(*it + ".");
    if (is_leaf && std::ranges::find(kUnread, *it, &Unread::path) == std::end(kUnread)) read.push_back(*it);
  }
  return read;
}

const std::vector<PodSpecField>& Rows() {
  static const auto* const kRead = new std::vector<std::string>(ReadPaths());
  static const auto* const kRows = [] {
    auto* rows = new std::vector<PodSpecField>;
    for (const Unread& unread : kUnread) rows->push_back({unread.path, PodSpecField::Use::kOther, unread.why});
    for (const std::string& path : *kRead) rows->push_back({path, PodSpecField::Use::kRead, {}});
    return rows;
  }();
  return *kRows;
}

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
    for (const PodSpecField& row : Rows()) {
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
  return Rows();
}

std::vector<std::string> UnknownPodSpecFields(Json spec) {
  std::set<std::string> found;
  Collect(spec, Tree(), "spec", &found);
  return {found.begin(), found.end()};
}

}  // namespace berth::api
