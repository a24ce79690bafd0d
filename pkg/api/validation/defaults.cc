// A default is written only where the member is absent, so that applying the defaults twice changes nothing. What
// counts as absent depends on the field's type in Go: for a pointer only a missing or null member, for a string also
// "", and for a number that is not a pointer also 0.
#include "pkg/api/validation/defaults.h"

#include <absl/strings/escaping.h>

#include <algorithm>
#include <map>

#include "pkg/api/quantity.h"

namespace berth::validation {
namespace {

bool Missing(const Value& v, std::string_view key) {
  const Value* m = v.Find(key);
  return m == nullptr || m->IsNull() || (m->IsString() && m->text().empty());
}
bool Absent(const Value& v, std::string_view key) {
  const Value* m = v.Find(key);
  return m == nullptr || m->IsNull();
}
void Default(Value& v, std::string_view key, std::string_view text) {
  if (Missing(v, key)) v.Set(key, Value::String(text));
}
void Default(Value& v, std::string_view key, int64_t n) {
  const Value* m = v.Find(key);
  if (m == nullptr || m->IsNull()) v.Set(key, Value::Int(n));
}
// Sets a default for a member that is not a pointer in Go, where 0 counts as absent.
void DefaultNonZero(Value& v, std::string_view key, int64_t n) {
  const Value* m = v.Find(key);
  if (m == nullptr || m->AsInt() == 0) v.Set(key, Value::Int(n));
}

template <typename F>
void Each(Value& v, std::string_view list, F f) {
  if (Value* l = v.Find(list)) {
    for (Value& e : l->items) f(e);
  }
}
template <typename F>
void With(Value& v, std::string_view member, F f) {
  if (Value* m = v.Find(member); m != nullptr && m->IsObject()) f(*m);
}

// Returns the default pull policy: "Always" for images whose tag may move.
std::string_view PullPolicy(std::string_view image) {
  size_t slash = image.rfind('/');
  std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  size_t at = last.find('@');
  bool digest = at != std::string_view::npos;
  last = last.substr(0, at);
  size_t colon = last.find(':');
  std::string_view tag = colon == std::string_view::npos ? (digest ? "" : "latest") : last.substr(colon + 1);
  return tag == "latest" ? "Always" : "IfNotPresent";
}

void FieldRef(Value& holder) {
  With(holder, "fieldRef", [](Value& ref) { Default(ref, "apiVersion", "v1"); });
}

void HttpGet(Value& action) {
  With(action, "httpGet", [](Value& get) {
    Default(get, "path", "/");
    Default(get, "scheme", "HTTP");
  });
}

void ContainerDefaults(Value& c) {
  Default(c, "imagePullPolicy", PullPolicy(c.Str("image")));
  Default(c, "terminationMessagePath", "/dev/termination-log");
  Default(c, "terminationMessagePolicy", "File");
  Each(c, "ports", [](Value& p) { Default(p, "protocol", "TCP"); });
  Each(c, "env", [](Value& e) { With(e, "valueFrom", FieldRef); });
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    With(c, probe, [](Value& p) {
      DefaultNonZero(p, "timeoutSeconds", 1);
      DefaultNonZero(p, "periodSeconds", 10);
      DefaultNonZero(p, "successThreshold", 1);
      DefaultNonZero(p, "failureThreshold", 3);
      HttpGet(p);
    });
  }
  With(c, "lifecycle", [](Value& l) {
    With(l, "postStart", HttpGet);
    With(l, "preStop", HttpGet);
  });
}

// Applies defaults to volume sources of pods and persistent volumes.
void VolumeSourceDefaults(Value& v) {
  With(v, "hostPath", [](Value& s) {
    if (Absent(s, "type")) s.Set("type", Value::String(""));
  });
  With(v, "iscsi", [](Value& s) { Default(s, "iscsiInterface", "default"); });
  With(v, "rbd", [](Value& s) {
    Default(s, "pool", "rbd");
    Default(s, "user", "admin");
    Default(s, "keyring", "/etc/ceph/keyring");
  });
  With(v, "azureDisk", [](Value& s) {
    if (Absent(s, "cachingMode")) s.Set("cachingMode", Value::String("ReadWrite"));
    if (Absent(s, "fsType")) s.Set("fsType", Value::String("ext4"));
    if (Absent(s, "readOnly")) s.Set("readOnly", Value::Bool(false));
    if (Absent(s, "kind")) s.Set("kind", Value::String("Shared"));
  });
  With(v, "scaleIO", [](Value& s) {
    Default(s, "storageMode", "ThinProvisioned");
    Default(s, "fsType", "xfs");
  });
}

void VolumeDefaults(Value& v) {
  constexpr int kMode = 0644;
  bool any = false;
  for (size_t i = 0; i < v.keys.size(); ++i) any |= v.keys[i] != "name" && !v.items[i].IsNull();
  if (!any) v.Set("emptyDir", Value::Object());
  VolumeSourceDefaults(v);
  With(v, "secret", [](Value& s) { Default(s, "defaultMode", kMode); });
  With(v, "configMap", [](Value& s) { Default(s, "defaultMode", kMode); });
  With(v, "image", [](Value& s) { Default(s, "pullPolicy", PullPolicy(s.Str("reference"))); });
  With(v, "downwardAPI", [](Value& s) {
    Default(s, "defaultMode", kMode);
    Each(s, "items", FieldRef);
  });
  With(v, "projected", [](Value& s) {
    Default(s, "defaultMode", kMode);
    Each(s, "sources",
         [](Value& source) { With(source, "downwardAPI", [](Value& d) { Each(d, "items", FieldRef); }); });
  });
}

void PodSpecDefaults(Value& spec, Version release) {
  Each(spec, "volumes", VolumeDefaults);
  Each(spec, "initContainers", ContainerDefaults);
  Each(spec, "containers", ContainerDefaults);
  Default(spec, "restartPolicy", "Always");
  Default(spec, "terminationGracePeriodSeconds", 30);
  Default(spec, "dnsPolicy", "ClusterFirst");
  if (Absent(spec, "securityContext")) spec.Set("securityContext", Value::Object());
  Default(spec, "schedulerName", "default-scheduler");
  if (kVolumeModes.Has(release)) {
    Each(spec, "volumes", [](Value& v) {
      With(v, "ephemeral", [](Value& e) {
        With(e, "volumeClaimTemplate", [](Value& t) { Default(t.Child("spec"), "volumeMode", "Filesystem"); });
      });
    });
  }
  // The service account has two fields with the same meaning.
  if (Missing(spec, "serviceAccountName") && !Missing(spec, "serviceAccount")) {
    spec.Set("serviceAccountName", Value::String(spec.Str("serviceAccount")));
  }
  if (!Missing(spec, "serviceAccountName")) {
    spec.Set("serviceAccount", Value::String(spec.Str("serviceAccountName")));
  }
  const Value* host = spec.Find("hostNetwork");
  if (host != nullptr && host->AsBool()) {
    for (std::string_view list : {"initContainers", "containers"}) {
      Each(spec, list, [](Value& c) {
        Each(c, "ports", [](Value& p) {
          const Value* port = p.Find("containerPort");
          if (port != nullptr) DefaultNonZero(p, "hostPort", port->AsInt());
        });
      });
    }
  }
}

// Uses limits as requests that are not given.
void RequestsFromLimits(Value& container) {
  Value* resources = container.Find("resources");
  const Value* limits = resources == nullptr ? nullptr : resources->Find("limits");
  if (limits == nullptr || limits->empty()) return;
  Value copy = *limits;
  Value& requests = resources->Child("requests");
  for (size_t i = 0; i < copy.keys.size(); ++i) {
    if (requests.Find(copy.keys[i]) == nullptr) requests.Set(copy.keys[i], copy.items[i]);
  }
}

void TemplateDefaults(Value& spec, Version release) {
  With(spec, "template", [&](Value& t) { PodSpecDefaults(t.Child("spec"), release); });
}

// Takes labels and selector from the template, as the older versions do.
void LabelsFromTemplate(Value* object, bool selector_is_map) {
  Value& spec = object->Child("spec");
  const Value* labels = spec.At({"template", "metadata", "labels"});
  if (labels == nullptr || labels->empty()) return;
  Value copy = *labels;
  const Value* selector = spec.Find("selector");
  if (selector == nullptr || selector->IsNull() || (selector_is_map && selector->empty())) {
    if (selector_is_map) {
      spec.Set("selector", copy);
    } else {
      spec.Set("selector", Value::Object()).Set("matchLabels", copy);
    }
  }
  Value& meta = object->Child("metadata");
  const Value* own = meta.Find("labels");
  if (own == nullptr || own->empty()) meta.Set("labels", std::move(copy));
}

void DeploymentDefaults(const GroupVersion& v, Value* object) {
  Value& spec = object->Child("spec");
  bool hides_labels = v.group == "apps" && v.version != "v1beta1";
  if (!hides_labels) LabelsFromTemplate(object, false);
  Default(spec, "replicas", 1);
  Value& strategy = spec.Child("strategy");
  Default(strategy, "type", "RollingUpdate");
  if (strategy.Str("type") == "RollingUpdate") {
    Value& rolling = strategy.Child("rollingUpdate");
    bool one = v.group == "extensions";
    for (std::string_view key : {"maxUnavailable", "maxSurge"}) {
      if (Absent(rolling, key)) rolling.Set(key, one ? Value::Int(1) : Value::String("25%"));
    }
  }
  if (v.group == "apps") {
    Default(spec, "revisionHistoryLimit", hides_labels ? 10 : 2);
    Default(spec, "progressDeadlineSeconds", 600);
  }
}

void StatefulSetDefaults(const GroupVersion& v, Version release, Value* object) {
  Value& spec = object->Child("spec");
  bool old = v.version == "v1beta1";
  if (old) LabelsFromTemplate(object, false);
  Default(spec, "replicas", 1);
  Default(spec, "podManagementPolicy", "OrderedReady");
  Value& strategy = spec.Child("updateStrategy");
  Default(strategy, "type", old ? "OnDelete" : "RollingUpdate");
  if (!old && strategy.Str("type") == "RollingUpdate") Default(strategy.Child("rollingUpdate"), "partition", 0);
  Default(spec, "revisionHistoryLimit", 10);
  if (kClaimRetention.Has(release)) {
    Value& retention = spec.Child("persistentVolumeClaimRetentionPolicy");
    Default(retention, "whenDeleted", "Retain");
    Default(retention, "whenScaled", "Retain");
  }
  Each(spec, "volumeClaimTemplates", [](Value& claim) { Default(claim.Child("status"), "phase", "Pending"); });
}

void ServiceDefaults(Value& spec) {
  Default(spec, "sessionAffinity", "None");
  Default(spec, "type", "ClusterIP");
  Each(spec, "ports", [](Value& p) {
    Default(p, "protocol", "TCP");
    const Value* target = p.Find("targetPort");
    bool unset = target == nullptr || target->text().empty() || target->text() == "0";
    if (unset && p.Find("port") != nullptr) p.Set("targetPort", *p.Find("port"));
  });
  if (spec.Str("sessionAffinity") == "ClientIP") {
    constexpr int kThreeHours = 10800;
    Default(spec.Child("sessionAffinityConfig").Child("clientIP"), "timeoutSeconds", kThreeHours);
  }
  if (spec.Str("type") == "NodePort" || spec.Str("type") == "LoadBalancer") {
    Default(spec, "externalTrafficPolicy", "Cluster");
  }
}

void ServiceFamilyDefaults(Value& spec) {
  if (spec.Str("type") == "ExternalName") return;
  Default(spec, "internalTrafficPolicy", "Cluster");
  Default(spec, "ipFamilyPolicy", "SingleStack");
  if (Absent(spec, "ipFamilies")) spec.Set("ipFamilies", Value::Array()).Append(Value::String("IPv4"));
  if (spec.Str("type") == "LoadBalancer" && Absent(spec, "allocateLoadBalancerNodePorts")) {
    spec.Set("allocateLoadBalancerNodePorts", Value::Bool(true));
  }
}

void JobDefaults(Value& spec, Version release) {
  TemplateDefaults(spec, release);
  if (Absent(spec, "completions") && Absent(spec, "parallelism")) spec.Set("completions", Value::Int(1));
  Default(spec, "parallelism", 1);
  constexpr int kUsualRetries = 6;
  constexpr int64_t kNoLimit = 2147483647;
  Default(spec, "backoffLimit", Absent(spec, "backoffLimitPerIndex") ? kUsualRetries : kNoLimit);
  if (!kCompletionModes.Has(release)) return;
  Default(spec, "completionMode", "NonIndexed");
  if (Absent(spec, "suspend")) spec.Set("suspend", Value::Bool(false));
  if (kPodReplacementPolicies.Has(release)) {
    Default(spec, "podReplacementPolicy", Absent(spec, "podFailurePolicy") ? "TerminatingOrFailed" : "Failed");
  }
}

void CronJobDefaults(Value& spec, Version release) {
  Default(spec, "concurrencyPolicy", "Allow");
  if (Absent(spec, "suspend")) spec.Set("suspend", Value::Bool(false));
  Default(spec, "successfulJobsHistoryLimit", 3);
  Default(spec, "failedJobsHistoryLimit", 1);
  // The Job gets its own defaults when it is made; its template gets those of pods.
  TemplateDefaults(spec.Child("jobTemplate").Child("spec"), release);
}

void AutoscalerDefaults(Value& spec, const GroupVersion& v) {
  constexpr int64_t kPercent = 80;  // of the requested cpu, if nothing else is aimed at
  Default(spec, "minReplicas", 1);
  if (v.version == "v1") return Default(spec, "targetCPUUtilizationPercentage", kPercent);
  if (!OrEmpty(spec.Find("metrics")).empty()) return;
  Value target = Value::Object(), metric = Value::Object();
  target.Set("type", Value::String("Utilization"));
  target.Set("averageUtilization", Value::Int(kPercent));
  metric.Set("type", Value::String("Resource"));
  Value& resource = metric.Child("resource");
  resource.Set("name", Value::String("cpu"));
  resource.Set("target", std::move(target));
  spec.Set("metrics", Value::Array()).Append(std::move(metric));
}

void CsiDriverDefaults(Value& spec) {
  auto flag = [&](std::string_view key, bool value) {
    if (Absent(spec, key)) spec.Set(key, Value::Bool(value));
  };
  flag("attachRequired", true);
  flag("podInfoOnMount", false);
  flag("storageCapacity", false);
  flag("requiresRepublish", false);
  Default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
  if (Absent(spec, "volumeLifecycleModes")) {
    spec.Set("volumeLifecycleModes", Value::Array()).Append(Value::String("Persistent"));
  }
}

void RbacDefaults(Value* object) {
  constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
  With(*object, "roleRef", [&](Value& ref) { Default(ref, "apiGroup", kGroup); });
  Each(*object, "subjects", [&](Value& s) {
    if (s.Str("kind") != "ServiceAccount") Default(s, "apiGroup", kGroup);
  });
}

// Moves a secret's stringData, which is plain text, into data, which is base64.
void SecretDefaults(Value* object) {
  Default(*object, "type", "Opaque");
  if (const Value* plain = object->Find("stringData")) {
    Value texts = *plain;
    Value& data = object->Child("data");
    for (size_t i = 0; i < texts.keys.size(); ++i) {
      data.Set(texts.keys[i], Value::String(absl::Base64Escape(texts.items[i].text())));
    }
  }
  object->Erase("stringData");
}

// Applies defaults to kinds that need few.
// A request for devices is one for a number of them, which is 1 unless it says otherwise.
void ClaimOfDevicesDefaults(Value& spec) {
  auto one = [](Value& request) {
    Default(request, "allocationMode", "ExactCount");
    if (request.Str("allocationMode") == "ExactCount") Default(request, "count", 1);
  };
  Each(spec.Child("devices"), "requests", [&](Value& request) {
    if (Value* exactly = request.Find("exactly"); exactly != nullptr && exactly->IsObject()) one(*exactly);
    Each(request, "firstAvailable", one);
  });
}

void MoreDefaults(const ResourceInfo& r, const GroupVersion& v, Value* object) {
  const std::string& kind = r.kind;
  const Version release = r.release;
  if (kind == "DaemonSet") {
    Value& spec = object->Child("spec");
    TemplateDefaults(spec, release);
    Value& strategy = spec.Child("updateStrategy");
    Default(strategy, "type", v.group == "extensions" ? "OnDelete" : "RollingUpdate");
    if (strategy.Str("type") == "RollingUpdate") {
      Value& rolling = strategy.Child("rollingUpdate");
      if (Absent(rolling, "maxUnavailable")) rolling.Set("maxUnavailable", Value::Int(1));
      if (kMaxSurgeOfDaemonSets.Has(release) && Absent(rolling, "maxSurge")) rolling.Set("maxSurge", Value::Int(0));
    }
    Default(spec, "revisionHistoryLimit", 10);
  } else if (kind == "Job") {
    JobDefaults(object->Child("spec"), release);
  } else if (kind == "CronJob") {
    CronJobDefaults(object->Child("spec"), release);
  } else if (kind == "HorizontalPodAutoscaler") {
    AutoscalerDefaults(object->Child("spec"), r.versions.front());
  } else if (kind == "CSIDriver") {
    CsiDriverDefaults(object->Child("spec"));
  } else if (kind == "RoleBinding" || kind == "ClusterRoleBinding") {
    RbacDefaults(object);
  } else if (kind == "Secret") {
    SecretDefaults(object);
  } else if (kind == "ResourceClaim") {
    ClaimOfDevicesDefaults(object->Child("spec"));
  } else if (kind == "ResourceClaimTemplate") {
    ClaimOfDevicesDefaults(object->Child("spec").Child("spec"));
  }
}

}  // namespace

void ApplyDefaults(const ResourceInfo& r, const GroupVersion& v, Value* object) {
  const std::string& kind = r.kind;
  const Version release = r.release;
  if (kind == "Pod") {
    Value& spec = object->Child("spec");
    PodSpecDefaults(spec, release);
    if (kServiceLinks.Has(release) && Absent(spec, "enableServiceLinks"))
      spec.Set("enableServiceLinks", Value::Bool(true));
    Each(spec, "initContainers", RequestsFromLimits);
    Each(spec, "containers", RequestsFromLimits);
  } else if (kind == "Node") {
    const Value* meta = object->Find("metadata");
    std::string name(meta == nullptr ? std::string_view() : meta->Str("name"));  // a copy: adding spec moves metadata
    if (kExternalIds.Has(release) && !name.empty()) Default(object->Child("spec"), "externalID", name);
    With(*object, "status", [](Value& status) {
      const Value* capacity = status.Find("capacity");
      const Value* allocatable = status.Find("allocatable");
      if (capacity != nullptr && (allocatable == nullptr || allocatable->empty())) {
        Value copy = *capacity;
        status.Set("allocatable", std::move(copy));
      }
    });
  } else if (kind == "ReplicationController" || kind == "ReplicaSet") {
    bool map = kind == "ReplicationController";
    TemplateDefaults(object->Child("spec"), release);
    if (map || v.group == "extensions") LabelsFromTemplate(object, map);
    Default(object->Child("spec"), "replicas", 1);
  } else if (kind == "Deployment") {
    TemplateDefaults(object->Child("spec"), release);
    DeploymentDefaults(v, object);
  } else if (kind == "StatefulSet") {
    TemplateDefaults(object->Child("spec"), release);
    StatefulSetDefaults(v, release, object);
  } else if (kind == "Service") {
    ServiceDefaults(object->Child("spec"));
    if (kIpFamilies.Has(release)) ServiceFamilyDefaults(object->Child("spec"));
  } else if (kind == "Endpoints") {
    Each(*object, "subsets", [](Value& s) { Each(s, "ports", [](Value& p) { Default(p, "protocol", "TCP"); }); });
  } else if (kind == "PersistentVolume") {
    Value& spec = object->Child("spec");
    VolumeSourceDefaults(spec);
    Default(spec, "persistentVolumeReclaimPolicy", "Retain");
    if (kVolumeModes.Has(release)) Default(spec, "volumeMode", "Filesystem");
    Default(object->Child("status"), "phase", "Pending");
  } else if (kind == "PersistentVolumeClaim") {
    if (kVolumeModes.Has(release)) Default(object->Child("spec"), "volumeMode", "Filesystem");
    Default(object->Child("status"), "phase", "Pending");
  } else if (kind == "StorageClass") {
    Default(*object, "reclaimPolicy", "Delete");
    Default(*object, "volumeBindingMode", "Immediate");
  } else if (kind == "Namespace") {
    Default(object->Child("status"), "phase", "Active");
  } else {
    MoreDefaults(r, v, object);
  }
}

std::string QosClass(const Value& pod) {
  std::map<std::string, int64_t> requests, limits;  // in thousandths
  bool guaranteed = true;
  const Value* containers = pod.At({"spec", "containers"});
  if (containers == nullptr) return "BestEffort";
  auto add = [](const Value& container, std::string_view which, std::map<std::string, int64_t>* sums) {
    int found = 0;
    const Value* list = container.At({"resources", which});
    if (list == nullptr) return found;
    for (std::string_view name : {"cpu", "memory"}) {
      auto q = api::Quantity::Parse(list->Str(name));
      if (!q.ok() || q->Sign() <= 0) continue;
      ++found;
      int64_t& sum = (*sums)[std::string(name)];
      if (__builtin_add_overflow(sum, q->MilliValue(), &sum)) sum = INT64_MAX;
    }
    return found;
  };
  for (const Value& c : containers->items) {
    add(c, "requests", &requests);
    if (add(c, "limits", &limits) != 2) guaranteed = false;
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return guaranteed && requests == limits ? "Guaranteed" : "Burstable";
}

}  // namespace berth::validation
