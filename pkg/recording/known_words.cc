#include "pkg/recording/known_words.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>

#include <algorithm>
#include <initializer_list>

#include "pkg/releases/gates.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/util/status.h"

namespace berth::recording {
namespace {

constexpr std::string_view kEnumerations[] = {
    // operators, effects, policies
    "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "NoSchedule", "PreferNoSchedule", "NoExecute",
    "DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore", "Always", "OnFailure", "Never", "PreemptLowerPriority",
    "Restart", "RestartAllContainers",
    // protocols, phases, statuses
    "TCP", "UDP", "SCTP", "Pending", "Running", "Succeeded", "Failed", "Unknown", "Bound", "Available", "Released",
    "Lost", "True", "False", "true", "false",
    // volumes
    "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", "Filesystem", "Block", "Immediate",
    "WaitForFirstConsumer", "yes",
    // types and reasons of conditions and events
    "Ready", "OutOfDisk", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "ConfigOK",
    "PodScheduled", "Initialized", "ContainersReady", "DisruptionTarget", "PodReadyToStartContainers",
    "PodResizePending", "PodResizeInProgress", "Unschedulable", "SchedulerError", "SchedulingGated", "Infeasible",
    "Deferred", "PreemptionByScheduler", "Scheduled", "FailedScheduling", "Preempted", "Preempting",
    "VolumeBindingFailed", "WaitingForGates", "DeletionByTaintManager", "EvictionByEvictionAPI", "TerminationByKubelet",
    // kinds and versions
    "Pod", "Node", "Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Deployment", "DaemonSet", "Job",
    "CronJob", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "PodDisruptionBudget", "Namespace",
    "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "List", "Scenario", "Policy",
    "KubeSchedulerConfiguration", "v1", "apps/v1", "apps/v1beta1", "apps/v1beta2", "extensions/v1beta1", "batch/v1",
    "batch/v1beta1", "policy/v1", "policy/v1beta1", "storage.k8s.io/v1", "storage.k8s.io/v1beta1", "schedsim/v1",
    "kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v1beta2",
    "kubescheduler.config.k8s.io/v1beta1", "componentconfig/v1alpha1",
    // arguments of plugins and of a Policy
    "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", "System", "List", "DefaultPreemptionArgs",
    "InterPodAffinityArgs", "NodeAffinityArgs", "NodeResourcesBalancedAllocationArgs", "NodeResourcesFitArgs",
    "PodTopologySpreadArgs", "VolumeBindingArgs", "DefaultProvider", "ClusterAutoscalerProvider", "filter",
    "prioritize", "preempt", "preemption", "bind", "*",
    // lines of recordings: kinds of inputs, answers and outputs
    "reply", "tick", "schedule", "stop", "extender", "end", "decision", "condition", "nominate", "delete", "get",
    "getNode", "volume", "event", "patch", "markVictim", "claim", "assigned", "assignedByKey", "name", "key", "ok",
    "notFound", "conflict", "refused", "serverError", "lost"};

constexpr std::string_view kKeys[] = {
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "kubernetes.io/metadata.name",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "node-role.kubernetes.io/master",
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/worker",
    "pod-template-hash",
    "controller-revision-hash",
    "metadata.name",
    // taints
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/out-of-disk",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/out-of-service",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.alpha.kubernetes.io/notReady",
    "node.alpha.kubernetes.io/unreachable",
};
constexpr std::string_view kValues[] = {"", "true", "false", "amd64", "arm64", "linux", "windows"};
constexpr std::string_view kResources[] = {
    "cpu",
    "memory",
    "pods",
    "storage",
    "ephemeral-storage",
    "alpha.kubernetes.io/nvidia-gpu",
    "nvidia.com/gpu",
    "amd.com/gpu",
    "attachable-volumes-aws-ebs",
    "attachable-volumes-gce-pd",
    "attachable-volumes-azure-disk",
    "attachable-volumes-cinder",
};
constexpr std::string_view kDrivers[] = {
    "kubernetes.io/aws-ebs",    "kubernetes.io/gce-pd",          "kubernetes.io/azure-disk",
    "kubernetes.io/azure-file", "kubernetes.io/cinder",          "kubernetes.io/vsphere-volume",
    "kubernetes.io/rbd",        "kubernetes.io/portworx-volume", "kubernetes.io/no-provisioner",
    "ebs.csi.aws.com",          "pd.csi.storage.gke.io",         "disk.csi.azure.com",
    "file.csi.azure.com",       "cinder.csi.openstack.org",      "csi.vsphere.vmware.com",
};
constexpr std::string_view kAddresses[] = {"", "0.0.0.0", "127.0.0.1", "::", "::1"};

template <typename List>
bool Among(const List& list, std::string_view s) {
  return std::find(std::begin(list), std::end(list), s) != std::end(list);
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

size_t Digits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// A number, and after it a suffix of a quantity.
bool IsQuantity(std::string_view text) {
  size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t whole = Digits(text, at);
  size_t digits = whole - at;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const size_t end = Digits(text, at + 1);
    digits += end - at - 1;
    at = end;
  }
  if (digits == 0 || digits > 40) return false;
  const std::string_view suffix = text.substr(at);
  if (Among(std::initializer_list<std::string_view>{"", "n", "u", "m", "k", "K", "M", "G", "T", "P", "E", "Ki", "Mi",
                                                    "Gi", "Ti", "Pi", "Ei"},
            suffix)) {
    return true;
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return false;
  const size_t sign = suffix.size() > 1 && (suffix[1] == '-' || suffix[1] == '+') ? 2 : 1;
  return sign < suffix.size() && suffix.size() - sign <= 4 && Digits(suffix, sign) == suffix.size();
}

// Numbers, each with a unit of time.
bool IsDuration(std::string_view text) {
  if (text.empty() || text.size() > 40) return false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    while (at < text.size() && (IsDigit(text[at]) || text[at] == '.')) ++at;
    const size_t unit = at;
    while (at < text.size() && text[at] >= 'a' && text[at] <= 'z') ++at;
    if (unit == begin || !Among(std::initializer_list<std::string_view>{"h", "m", "s", "ms", "us", "ns"},
                                text.substr(unit, at - unit))) {
      return false;
    }
  }
  return true;
}

// "2026-11-26T00:35:07.123Z", "...+01:00".
bool IsTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() <= kForm.size() || text.size() > 40) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !IsDigit(text[i]) : text[i] != kForm[i]) return false;
  }
  return std::all_of(text.begin() + kForm.size(), text.end(),
                     [](char c) { return IsDigit(c) || c == '.' || c == '+' || c == '-' || c == ':' || c == 'Z'; });
}

}  // namespace

bool IsKnownWord(std::string_view text) {
  static const auto& words = *[] {
    auto* all = new absl::flat_hash_set<std::string>;
    for (std::string_view w : kEnumerations) all->emplace(w);
    for (const util::FeatureGate& g : releases::DefaultGates()) all->emplace(g.name);
    for (const release::Id& id : release::All()) {
      all->emplace(id.name);
      const scheduler::Release& decides = releases::Of(id).decides;
      for (const std::string& name : scheduler::ListRegisteredFitPredicates(decides)) all->insert(name);
      for (const std::string& name : scheduler::ListRegisteredPriorityFunctions(decides)) all->insert(name);
      if (decides.plugins == nullptr) continue;
      for (const std::string& name : scheduler::PluginsToConfigure(decides).Names()) all->insert(name);
    }
    return all;
  }();
  return text.empty() || words.contains(std::string(text));
}

bool IsAmountOrTime(std::string_view text) {
  return IsQuantity(text) || IsDuration(text) || IsTime(text);
}

bool IsKnownKey(std::string_view text) {
  return Among(kKeys, text);
}
bool IsKnownValue(std::string_view text) {
  int64_t n = 0;
  return Among(kValues, text) || absl::SimpleAtoi(util::ToAbsl(text), &n);
}
bool IsKnownResource(std::string_view text) {
  constexpr std::string_view kHuge = "hugepages-";
  return Among(kResources, text) || (text.starts_with(kHuge) && IsQuantity(text.substr(kHuge.size())));
}
bool IsKnownDriver(std::string_view text) {
  return Among(kDrivers, text);
}
bool IsKnownAddress(std::string_view text) {
  return Among(kAddresses, text);
}

}  // namespace berth::recording
