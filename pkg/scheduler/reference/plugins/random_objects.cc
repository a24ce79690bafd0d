// Objects are written as JSON so that the decoders are tested along with the rules. Each feature occurs with the chance
// that Likely gives it.
#include "pkg/scheduler/reference/plugins/random_objects.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <functional>

namespace berth::scheduler::reference::plugins {
namespace {

constexpr int kClaimCount = 8, kVolumeCount = 10;

std::string Joined(const std::vector<std::string>& parts) {
  return absl::StrJoin(parts, ",");
}
// Returns between `least` and `most` results of make(), joined.
std::string Several(Random* r, int least, int most, const std::function<std::string()>& make) {
  std::vector<std::string> out(static_cast<size_t>(r->Between(least, most)));
  for (std::string& s : out) s = make();
  return Joined(out);
}
std::string Object(std::string_view kind, std::string_view version, const std::string& meta, const std::string& rest) {
  return absl::StrCat(R"({"apiVersion":")", std::string(version), R"(","kind":")", std::string(kind),
                      R"(","metadata":{)", meta, "}", rest.empty() ? "" : ",", rest, "}");
}

}  // namespace

Likely::Likely(Random* r) {
  for (int* p : {&spread, &pod_affinity, &node_affinity, &volumes, &ports, &taints, &priorities}) {
    *p = r->Chance(40) ? 0 : r->Between(10, 80);
  }
  mistakes = r->Chance(70) ? 0 : 10;
  gates = r->Chance(80) ? 0 : 20;
  deleting = r->Chance(50) ? 0 : 20;
  odd_labels = r->Chance(50) ? 0 : 30;
}

std::string RandomObjects::Name(const std::string& prefix, int n) {
  return absl::StrCat(prefix, random_.Below(n));
}

// Returns members of a labels object, each with a chance in percent.
std::string RandomObjects::Labels(int chance) {
  std::vector<std::string> out;
  if (random_.Chance(chance)) out.push_back(absl::StrCat(R"("app":")", random_.Of({"a", "b", "c"}), "\""));
  if (random_.Chance(chance)) out.push_back(absl::StrCat(R"("tier":")", random_.Of({"x", "y"}), "\""));
  if (random_.Chance(chance / 2)) out.push_back(absl::StrCat(R"("rev":")", random_.Of({"1", "2"}), "\""));
  return Joined(out);
}

std::string RandomObjects::Selector() {
  if (random_.Chance(8)) return "{}";
  const std::string bad = !placed_ && random_.Chance(likely_.mistakes) ? R"({"key":"app","operator":"Sometimes"})" : "";
  if (!bad.empty()) return absl::StrCat(R"({"matchExpressions":[)", bad, "]}");
  switch (random_.Below(4)) {
    case 0:
      return R"({"matchExpressions":[{"key":"app","operator":"In","values":["a","b"]}]})";
    case 1:
      return R"({"matchExpressions":[{"key":"tier","operator":"Exists"}]})";
    case 2:
      return R"({"matchExpressions":[{"key":"app","operator":"NotIn","values":["c"]}]})";
    default:
      return absl::StrCat(R"({"matchLabels":{"app":")", random_.Of({"a", "b", "c"}), "\"}}");
  }
}

std::string RandomObjects::NodeTerm() {
  std::vector<std::string> parts;
  if (random_.Chance(80)) {
    parts.push_back(random_.Of({
        R"("matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["za","zb"]}])",
        R"("matchExpressions":[{"key":"disk","operator":"Exists"}])",
        R"("matchExpressions":[{"key":"disk","operator":"NotIn","values":["ssd"]}])",
        R"("matchExpressions":[{"key":"size","operator":"Gt","values":["2"]}])",
        R"("matchExpressions":[])",
    }));
  }
  if (random_.Chance(12)) {
    parts.push_back(absl::StrCat(R"("matchFields":[{"key":"metadata.name","operator":")", random_.Of({"In", "NotIn"}),
                                 R"(","values":[")", NodeName(), "\"]}]"));
  }
  return absl::StrCat("{", Joined(parts), "}");
}

std::string RandomObjects::PodTerm() {
  std::string out =
      absl::StrCat(R"({"topologyKey":")", random_.Of({"kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"}),
                   R"(","labelSelector":)", Selector());
  if (random_.Chance(25)) out += R"(,"namespaces":["other"])";
  if (random_.Chance(25)) {
    absl::StrAppend(&out, R"(,"namespaceSelector":)",
                    random_.Of({"{}", R"({"matchLabels":{"team":"t1"}})", R"({"matchLabels":{"team":"none"}})"}));
  }
  return out + "}";
}

std::string RandomObjects::Spread() {
  std::vector<std::string> out;
  for (const char* key : {"topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"}) {
    if (!random_.Chance(50)) continue;
    const bool hard = random_.Chance(55);
    std::string c =
        absl::StrCat(R"({"topologyKey":")", key, R"(","maxSkew":)", random_.Between(1, 3), R"(,"whenUnsatisfiable":")",
                     hard ? "DoNotSchedule" : "ScheduleAnyway", R"(","labelSelector":)", Selector());
    if (hard && random_.Chance(40)) absl::StrAppend(&c, R"(,"minDomains":)", random_.Between(1, 5));
    if (random_.Chance(40)) absl::StrAppend(&c, R"(,"nodeAffinityPolicy":")", random_.Of({"Honor", "Ignore"}), "\"");
    if (random_.Chance(40)) absl::StrAppend(&c, R"(,"nodeTaintsPolicy":")", random_.Of({"Honor", "Ignore"}), "\"");
    if (random_.Chance(25)) c += R"(,"matchLabelKeys":["rev"])";
    out.push_back(c + "}");
  }
  return Joined(out);
}

std::string RandomObjects::Affinity() {
  std::vector<std::string> kinds;
  if (random_.Chance(likely_.node_affinity)) {
    std::vector<std::string> parts;
    if (random_.Chance(60)) {
      parts.push_back(absl::StrCat(R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)",
                                   Several(&random_, 1, 2, [&] { return NodeTerm(); }), "]}"));
    }
    if (random_.Chance(60)) {
      auto one = [&] {
        return absl::StrCat(R"({"weight":)", random_.Between(1, 100), R"(,"preference":)", NodeTerm(), "}");
      };
      parts.push_back(
          absl::StrCat(R"("preferredDuringSchedulingIgnoredDuringExecution":[)", Several(&random_, 1, 2, one), "]"));
    }
    kinds.push_back(absl::StrCat(R"("nodeAffinity":{)", Joined(parts), "}"));
  }
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    if (!random_.Chance(likely_.pod_affinity)) continue;
    std::vector<std::string> parts;
    if (random_.Chance(50)) {
      parts.push_back(absl::StrCat(R"("requiredDuringSchedulingIgnoredDuringExecution":[)",
                                   Several(&random_, 1, 2, [&] { return PodTerm(); }), "]"));
    }
    if (random_.Chance(60)) {
      auto one = [&] {
        return absl::StrCat(R"({"weight":)", random_.Between(1, 100), R"(,"podAffinityTerm":)", PodTerm(), "}");
      };
      parts.push_back(
          absl::StrCat(R"("preferredDuringSchedulingIgnoredDuringExecution":[)", Several(&random_, 1, 2, one), "]"));
    }
    kinds.push_back(absl::StrCat("\"", kind, R"(":{)", Joined(parts), "}"));
  }
  return Joined(kinds);
}

std::string RandomObjects::Volumes(int number) {
  auto one = [&] {
    const std::string name = absl::StrCat(R"("name":"v)", random_.Below(3), "\"");
    switch (random_.Below(8)) {
      case 0:
        return absl::StrCat("{", name, R"(,"awsElasticBlockStore":{"volumeID":")", Name("vol-", 4), "\"}}");
      case 1:
        return absl::StrCat("{", name, R"(,"gcePersistentDisk":{"pdName":")", Name("pd", 4), R"(","readOnly":)",
                            random_.Of({"true", "false"}), "}}");
      case 2:
        return absl::StrCat("{", name, R"(,"ephemeral":{"volumeClaimTemplate":{"spec":{}}}})");
      default:
        return absl::StrCat("{", name, R"(,"persistentVolumeClaim":{"claimName":")",
                            random_.Chance(3) ? "gone" : Name("c", kClaimCount), "\"}}");
    }
  };
  (void)number;
  return Several(&random_, 1, 2, one);
}

std::string RandomObjects::Containers() {
  auto one = [&] {
    std::vector<std::string> requests;
    if (random_.Chance(70)) requests.push_back(absl::StrCat(R"("cpu":")", random_.Between(1, 15) * 100, "m\""));
    if (random_.Chance(60)) requests.push_back(absl::StrCat(R"("memory":")", random_.Between(1, 20) * 100, "Mi\""));
    if (random_.Chance(10)) requests.push_back(R"("example.com/gpu":"1")");
    if (random_.Chance(5)) requests.push_back(R"("x.kubernetes.io/thing":"1")");
    if (random_.Chance(5)) requests.push_back(R"("ephemeral-storage":"1Gi")");
    std::string out = absl::StrCat(R"({"image":")", random_.Of({"img-a", "img-b:1", "r.io/p/img-c:2"}),
                                   R"(","resources":{"requests":{)", Joined(requests), "}}");
    if (random_.Chance(likely_.ports)) {
      absl::StrAppend(&out, R"(,"ports":[{"containerPort":80,"hostPort":)", random_.Between(80, 82),
                      random_.Chance(30) ? R"(,"protocol":"UDP")" : "",
                      random_.Chance(30) ? R"(,"hostIP":"10.0.0.1")" : "", "}]");
    }
    return out + "}";
  };
  std::string out = absl::StrCat(R"("containers":[)", Several(&random_, 1, 2, one), "]");
  if (random_.Chance(20)) {
    auto init = [&] {
      return absl::StrCat("{", random_.Chance(50) ? R"("restartPolicy":"Always",)" : "",
                          R"("resources":{"requests":{"cpu":")", random_.Between(1, 20) * 100, "m\"}}}");
    };
    absl::StrAppend(&out, R"(,"initContainers":[)", Several(&random_, 1, 2, init), "]");
  }
  if (random_.Chance(10)) out += R"(,"overhead":{"cpu":"50m","memory":"64Mi"})";
  if (placed_ && random_.Chance(10)) {
    absl::StrAppend(&out, R"(,"resources":{"requests":{"cpu":")", random_.Between(1, 30) * 100, R"(m"}})");
  }
  return out;
}

std::string RandomObjects::Pod(int number, const std::string& node) {
  placed_ = !node.empty();
  std::vector<std::string> spec = {Containers(), R"("schedulerName":"default-scheduler")"};
  std::vector<std::string> status;
  if (!node.empty()) spec.push_back(absl::StrCat(R"("nodeName":")", node, "\""));
  if (random_.Chance(likely_.spread)) spec.push_back(absl::StrCat(R"("topologySpreadConstraints":[)", Spread(), "]"));
  if (const std::string affinity = Affinity(); !affinity.empty()) {
    spec.push_back(absl::StrCat(R"("affinity":{)", affinity, "}"));
  }
  if (random_.Chance(likely_.node_affinity / 2)) spec.push_back(R"("nodeSelector":{"disk":"ssd"})");
  if (random_.Chance(likely_.volumes)) spec.push_back(absl::StrCat(R"("volumes":[)", Volumes(number), "]"));
  if (random_.Chance(likely_.priorities)) spec.push_back(absl::StrCat(R"("priority":)", random_.Below(4) * 10));
  if (random_.Chance(5)) spec.push_back(R"("preemptionPolicy":"Never")");
  if (node.empty() && random_.Chance(likely_.gates)) spec.push_back(R"("schedulingGates":[{"name":"g"}])");
  if (random_.Chance(likely_.taints)) {
    spec.push_back(absl::StrCat(R"("tolerations":[{"key":"k","operator":"Exists","effect":")",
                                random_.Of({"NoSchedule", "NoExecute", "PreferNoSchedule"}), "\"}]"));
  }
  if (node.empty() && random_.Chance(10)) {
    status.push_back(absl::StrCat(R"("nominatedNodeName":")", NodeName(), "\""));
  }
  if (random_.Chance(50))
    status.push_back(absl::StrCat(R"("startTime":"2024-01-0)", random_.Between(1, 9), "T00:00:00Z\""));
  std::string meta =
      absl::StrCat(R"("name":"p)", number, R"(","namespace":")", random_.Chance(85) ? "default" : "other",
                   R"(","uid":"u)", number, R"(","labels":{)", Labels(70), "}");
  if (random_.Chance(50)) {
    absl::StrAppend(&meta, R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs)",
                    random_.Below(2), R"(","uid":"rs","controller":true}])");
  }
  if (!node.empty() && random_.Chance(likely_.deleting)) meta += R"(,"deletionTimestamp":"2024-01-29T00:00:00Z")";
  return Object("Pod", "v1", meta, absl::StrCat(R"("spec":{)", Joined(spec), R"(},"status":{)", Joined(status), "}"));
}

std::string RandomObjects::Node(int number) {
  std::vector<std::string> labels = {absl::StrCat(R"("kubernetes.io/hostname":"n)", number, "\"")};
  if (!random_.Chance(likely_.odd_labels)) {
    labels.push_back(absl::StrCat(R"("topology.kubernetes.io/zone":")", random_.Of({"za", "zb", "zc"}), "\""));
  }
  if (random_.Chance(70)) labels.push_back(absl::StrCat(R"("rack":"r)", number / 2, "\""));
  if (random_.Chance(60)) labels.push_back(absl::StrCat(R"("disk":")", random_.Of({"ssd", "hdd"}), "\""));
  if (random_.Chance(50)) labels.push_back(absl::StrCat(R"("size":")", random_.Of({"1", "3", "big"}), "\""));
  std::vector<std::string> spec;
  if (random_.Chance(likely_.taints)) {
    spec.push_back(absl::StrCat(R"("taints":[{"key":"k","value":")", random_.Of({"", "v"}), R"(","effect":")",
                                random_.Of({"NoSchedule", "NoExecute", "PreferNoSchedule"}), "\"}]"));
  }
  if (random_.Chance(likely_.taints / 4)) spec.push_back(R"("unschedulable":true)");
  std::string allocatable = absl::StrCat(R"("cpu":")", random_.Between(2, 6), R"(","memory":")", random_.Between(3, 9),
                                         R"(Gi","pods":")", random_.Between(4, 12), "\"");
  if (random_.Chance(40)) allocatable += R"(,"example.com/gpu":"2")";
  if (random_.Chance(30)) allocatable += R"(,"x.kubernetes.io/thing":"1","ephemeral-storage":"10Gi")";
  if (random_.Chance(20)) allocatable += R"(,"attachable-volumes-aws-ebs":"2")";
  std::string images;
  if (random_.Chance(60)) {
    images = absl::StrCat(R"(,"images":[{"names":[")", random_.Of({"img-a:latest", "img-b:1", "r.io/p/img-c:2"}),
                          R"("],"sizeBytes":500000000}])");
  }
  return Object(
      "Node", "v1", absl::StrCat(R"("name":"n)", number, R"(","labels":{)", Joined(labels), "}"),
      absl::StrCat(R"("spec":{)", Joined(spec), R"(},"status":{"allocatable":{)", allocatable, "}", images, "}"));
}

std::string RandomObjects::Volume(int number) {
  std::vector<std::string> spec = {
      absl::StrCat(R"("capacity":{"storage":")", random_.Between(1, 4), "Gi\"}"),
      absl::StrCat(R"("storageClassName":")", random_.Of({"wait", "wait", "wait", "now", "local"}), "\""),
      absl::StrCat(R"("accessModes":[)", random_.Of({R"("ReadWriteOnce")", R"("ReadWriteOnce","ReadWriteMany")"}),
                   "]")};
  switch (random_.Below(4)) {
    case 0:
      spec.push_back(absl::StrCat(R"("awsElasticBlockStore":{"volumeID":")", Name("vol-", 4), "\"}"));
      break;
    case 1:
      spec.push_back(R"("local":{"path":"/d"})");
      break;
    default:
      spec.push_back(absl::StrCat(R"("csi":{"driver":"csi.example.com","volumeHandle":"h)", number, "\"}"));
  }
  if (random_.Chance(60)) {
    const std::string term =
        random_.Chance(50)
            ? std::string(R"({"key":"topology.kubernetes.io/zone","operator":"In","values":["za","zb"]})")
            : absl::StrCat(R"({"key":"kubernetes.io/hostname","operator":"In","values":[")", NodeName(), "\"]}");
    spec.push_back(
        absl::StrCat(R"("nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[)", term, "]}]}}"));
  }
  const bool bound = random_.Chance(40);
  if (bound) {
    spec.push_back(absl::StrCat(R"("claimRef":{"namespace":"default","name":")", Name("c", kClaimCount), "\"}"));
  }
  std::string meta = absl::StrCat(R"("name":"pv)", number, "\"");
  if (random_.Chance(20)) {
    absl::StrAppend(&meta, R"(,"labels":{"topology.kubernetes.io/zone":")", random_.Of({"za", "zb", "za__zb"}), "\"}");
  }
  return Object("PersistentVolume", "v1", meta,
                absl::StrCat(R"("spec":{)", Joined(spec), R"(},"status":{"phase":")",
                             bound ? "Bound" : random_.Of({"Available", "Available", "Released"}), "\"}"));
}

std::string RandomObjects::Claim(int number) {
  const bool bound = random_.Chance(40);
  std::vector<std::string> spec = {
      absl::StrCat(R"("accessModes":[")", random_.Of({"ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"}), "\"]"),
      absl::StrCat(R"("resources":{"requests":{"storage":")", random_.Between(1, 3), "Gi\"}}"),
      absl::StrCat(R"("storageClassName":")", random_.Of({"wait", "wait", "local", "now", "gone"}), "\"")};
  if (bound) spec.push_back(absl::StrCat(R"("volumeName":")", Name("pv", kVolumeCount), "\""));
  std::vector<std::string> notes;
  if (bound) notes.push_back(R"("pv.kubernetes.io/bind-completed":"yes")");
  if (!bound && random_.Chance(15)) {
    notes.push_back(absl::StrCat(R"("volume.kubernetes.io/selected-node":")", NodeName(), "\""));
  }
  return Object(
      "PersistentVolumeClaim", "v1",
      absl::StrCat(R"("name":"c)", number, R"(","namespace":")", random_.Chance(90) ? "default" : "other",
                   R"(","uid":"c)", number, R"(","annotations":{)", Joined(notes), "}"),
      absl::StrCat(R"("spec":{)", Joined(spec), R"(},"status":{"phase":")", bound ? "Bound" : "Pending", "\"}"));
}

std::vector<std::string> RandomObjects::Cluster() {
  std::vector<std::string> out;
  for (int i = 0; i < kNodes; ++i) out.push_back(Node(i));
  out.push_back(Object("Namespace", "v1", R"("name":"default","labels":{"team":"t1"})", ""));
  if (random_.Chance(70)) out.push_back(Object("Namespace", "v1", R"("name":"other","labels":{"team":"t2"})", ""));
  if (random_.Chance(60)) {
    out.push_back(Object("Service", "v1", R"("name":"s","namespace":"default")", R"("spec":{"selector":{"app":"a"}})"));
  }
  for (int i = 0; i < 2; ++i) {
    out.push_back(Object("ReplicaSet", "apps/v1", absl::StrCat(R"("name":"rs)", i, R"(","namespace":"default")"),
                         absl::StrCat(R"("spec":{"selector":)", Selector(), "}")));
  }
  auto storage_class = [&](const char* name, const char* mode, const char* provisioner, const char* rest) {
    out.push_back(
        Object("StorageClass", "storage.k8s.io/v1", absl::StrCat(R"("name":")", name, "\""),
               absl::StrCat(R"("provisioner":")", provisioner, R"(","volumeBindingMode":")", mode, "\"", rest)));
  };
  storage_class("wait", "WaitForFirstConsumer", "csi.example.com",
                random_.Chance(30) ? R"(,"allowedTopologies":[{"matchLabelExpressions":[{"key":)"
                                     R"("topology.kubernetes.io/zone","values":["za","zc"]}]}])"
                                   : "");
  storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner", "");
  storage_class("now", "Immediate", "csi.example.com", "");
  out.push_back(Object("CSIDriver", "storage.k8s.io/v1", R"("name":"csi.example.com")",
                       absl::StrCat(R"("spec":{"storageCapacity":)", random_.Of({"true", "false"}), "}")));
  for (int i = 0; i < 3; ++i) {
    out.push_back(Object("CSIStorageCapacity", "storage.k8s.io/v1",
                         absl::StrCat(R"("name":"cap)", i, R"(","namespace":"default")"),
                         absl::StrCat(R"("storageClassName":"wait","capacity":")", random_.Between(1, 3),
                                      R"(Gi","nodeTopology":{"matchLabels":{"topology.kubernetes.io/zone":")",
                                      random_.Of({"za", "zb", "zc"}), "\"}}")));
  }
  for (int i = 0; i < kNodes; ++i) {
    if (random_.Chance(30)) continue;
    const std::string annotations =
        random_.Chance(30)
            ? R"(,"annotations":{"storage.alpha.kubernetes.io/migrated-plugins":"kubernetes.io/aws-ebs"})"
            : "";
    out.push_back(
        Object("CSINode", "storage.k8s.io/v1", absl::StrCat(R"("name":"n)", i, "\"", annotations),
               absl::StrCat(R"("spec":{"drivers":[{"name":"csi.example.com","nodeID":"n","allocatable":{"count":)",
                            random_.Between(1, 4), "}}]}")));
  }
  for (int i = 0; i < kVolumeCount; ++i) out.push_back(Volume(i));
  for (int i = 0; i < kClaimCount; ++i) out.push_back(Claim(i));
  if (random_.Chance(30)) {
    out.push_back(Object("VolumeAttachment", "storage.k8s.io/v1", R"("name":"at0")",
                         absl::StrCat(R"("spec":{"attacher":"csi.example.com","nodeName":")", NodeName(),
                                      R"(","source":{"persistentVolumeName":")", Name("pv", kVolumeCount), "\"}}")));
  }
  if (random_.Chance(40)) {
    out.push_back(Object("PodDisruptionBudget", "policy/v1", R"("name":"b","namespace":"default")",
                         absl::StrCat(R"("spec":{"selector":)", Selector(), R"(},"status":{"disruptionsAllowed":)",
                                      random_.Below(2), "}")));
  }
  return out;
}

std::string RandomObjects::Configuration() {
  std::vector<std::string> args;
  if (random_.Chance(50)) {
    const std::string strategy = random_.Of(
        {R"({"type":"MostAllocated","resources":[{"name":"cpu","weight":2},{"name":"memory","weight":1}]})",
         R"({"type":"LeastAllocated","resources":[{"name":"cpu","weight":1},{"name":"example.com/gpu","weight":5}]})",
         R"({"type":"RequestedToCapacityRatio","resources":[{"name":"cpu","weight":1}],"requestedToCapacityRatio":)"
         R"({"shape":[{"utilization":0,"score":0},{"utilization":70,"score":10},{"utilization":100,"score":3}]}})"});
    args.push_back(absl::StrCat(R"({"name":"NodeResourcesFit","args":{"scoringStrategy":)", strategy,
                                random_.Chance(30) ? R"(,"ignoredResources":["example.com/gpu"])" : "", "}}"));
  }
  if (random_.Chance(40)) {
    args.push_back(absl::StrCat(R"({"name":"InterPodAffinity","args":{"hardPodAffinityWeight":)", random_.Below(100),
                                R"(,"ignorePreferredTermsOfExistingPods":)", random_.Of({"true", "false"}), "}}"));
  }
  if (random_.Chance(40)) {
    args.push_back(R"({"name":"PodTopologySpread","args":{"defaultingType":"List","defaultConstraints":[{"maxSkew":1,)"
                   R"("topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule"},{"maxSkew":2,)"
                   R"("topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway"}]}})");
  }
  if (random_.Chance(20)) {
    args.push_back(
        R"({"name":"NodeAffinity","args":{"addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
        R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"disk","operator":"Exists"}]}]}}}})");
  }
  std::string plugins;
  if (random_.Chance(30)) {
    plugins = absl::StrCat(R"(,"plugins":{"score":{"disabled":[{"name":")",
                           random_.Of({"ImageLocality", "NodeResourcesBalancedAllocation", "InterPodAffinity"}),
                           R"("}],"enabled":[{"name":"NodeResourcesFit","weight":)", random_.Between(1, 9), "}]}}");
  }
  return absl::StrCat(R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",)"
                      R"("profiles":[{"schedulerName":"default-scheduler","pluginConfig":[)",
                      Joined(args), "]", plugins, "}]}");
}

}  // namespace berth::scheduler::reference::plugins
