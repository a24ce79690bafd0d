// Every field of a pod's spec up to Kubernetes 1.36 is read, or stands in the table with a reason, and others are seen.
#include "pkg/api/pod_spec_fields.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "pkg/api/decode.h"

namespace berth::api {
namespace {

// The members of PodSpec, Container, ContainerPort, ResourceRequirements and Volume in the API of 1.36.
constexpr std::string_view kPodSpecOf136[] = {"activeDeadlineSeconds",
                                              "affinity",
                                              "automountServiceAccountToken",
                                              "containers",
                                              "dnsConfig",
                                              "dnsPolicy",
                                              "enableServiceLinks",
                                              "ephemeralContainers",
                                              "hostAliases",
                                              "hostIPC",
                                              "hostNetwork",
                                              "hostPID",
                                              "hostUsers",
                                              "hostname",
                                              "hostnameOverride",
                                              "imagePullSecrets",
                                              "initContainers",
                                              "nodeName",
                                              "nodeSelector",
                                              "os",
                                              "overhead",
                                              "preemptionPolicy",
                                              "priority",
                                              "priorityClassName",
                                              "readinessGates",
                                              "resourceClaims",
                                              "resources",
                                              "restartPolicy",
                                              "runtimeClassName",
                                              "schedulerName",
                                              "schedulingGates",
                                              "schedulingGroup",
                                              "securityContext",
                                              "serviceAccount",
                                              "serviceAccountName",
                                              "setHostnameAsFQDN",
                                              "shareProcessNamespace",
                                              "subdomain",
                                              "terminationGracePeriodSeconds",
                                              "tolerations",
                                              "topologySpreadConstraints",
                                              "volumes"};
constexpr std::string_view kContainerOf136[] = {"args",
                                                "command",
                                                "env",
                                                "envFrom",
                                                "image",
                                                "imagePullPolicy",
                                                "lifecycle",
                                                "livenessProbe",
                                                "name",
                                                "ports",
                                                "readinessProbe",
                                                "resizePolicy",
                                                "resources",
                                                "restartPolicy",
                                                "restartPolicyRules",
                                                "securityContext",
                                                "startupProbe",
                                                "stdin",
                                                "stdinOnce",
                                                "terminationMessagePath",
                                                "terminationMessagePolicy",
                                                "tty",
                                                "volumeDevices",
                                                "volumeMounts",
                                                "workingDir"};
constexpr std::string_view kVolumeOf136[] = {"awsElasticBlockStore",
                                             "azureDisk",
                                             "azureFile",
                                             "cephfs",
                                             "cinder",
                                             "configMap",
                                             "csi",
                                             "downwardAPI",
                                             "emptyDir",
                                             "ephemeral",
                                             "fc",
                                             "flexVolume",
                                             "flocker",
                                             "gcePersistentDisk",
                                             "gitRepo",
                                             "glusterfs",
                                             "hostPath",
                                             "image",
                                             "iscsi",
                                             "name",
                                             "nfs",
                                             "persistentVolumeClaim",
                                             "photonPersistentDisk",
                                             "portworxVolume",
                                             "projected",
                                             "quobyte",
                                             "rbd",
                                             "scaleIO",
                                             "secret",
                                             "storageos",
                                             "vsphereVolume"};

const std::set<std::string, std::less<>> kLists = {"containers",
                                                   "initContainers",
                                                   "ports",
                                                   "restartPolicyRules",
                                                   "nodeSelectorTerms",
                                                   "matchExpressions",
                                                   "matchFields",
                                                   "resourceClaims",
                                                   "schedulingGates",
                                                   "tolerations",
                                                   "topologySpreadConstraints",
                                                   "volumes"};

// What a member is when the field is given; others are the text "x".
const std::map<std::string, std::string, std::less<>> kValues = {{"limits", R"({"cpu":"1"})"},
                                                                 {"requests", R"({"cpu":"1"})"},
                                                                 {"overhead", R"({"cpu":"1"})"},
                                                                 {"nodeSelector", R"({"a":"b"})"},
                                                                 {"matchLabels", R"({"a":"b"})"},
                                                                 {"values", R"(["a"])"},
                                                                 {"namespaces", R"(["a"])"},
                                                                 {"matchLabelKeys", R"(["a"])"},
                                                                 {"monitors", R"(["a"])"},
                                                                 {"hostPort", "80"},
                                                                 {"containerPort", "80"},
                                                                 {"priority", "7"},
                                                                 {"weight", "7"},
                                                                 {"maxSkew", "7"},
                                                                 {"minDomains", "7"},
                                                                 {"readOnly", "true"},
                                                                 {"hostNetwork", "true"},
                                                                 {"hostUsers", "false"},
                                                                 {"preemptionPolicy", R"("Never")"},
                                                                 {"ephemeral", "{}"},
                                                                 {"whenUnsatisfiable", R"("DoNotSchedule")"},
                                                                 {"nodeAffinityPolicy", R"("Ignore")"},
                                                                 {"nodeTaintsPolicy", R"("Honor")"},
                                                                 {"restartPolicy", R"("Always")"},
                                                                 {"action", R"("RestartAllContainers")"},
                                                                 {"schedulingGroup", "{}"},
                                                                 {"workloadRef", "{}"}};

struct Both {
  std::string without, with;
};
// Fields that matter only beside others.
const std::map<std::string, Both, std::less<>> kContexts = {
    {"hostNetwork", {R"("hostUsers":false)", R"("hostUsers":false,"hostNetwork":true)"}},
    {"hostUsers", {R"("hostNetwork":true)", R"("hostNetwork":true,"hostUsers":false)"}},
    {"volumes.name", {R"("volumes":[{"ephemeral":{}}])", R"("volumes":[{"name":"x","ephemeral":{}}])"}},
    {"resourceClaims.name", {"", R"("resourceClaims":[{"name":"x"}])"}},
    {"resourceClaims.resourceClaimName", {"", R"("resourceClaims":[{"resourceClaimName":"x"}])"}},
    {"resourceClaims.resourceClaimTemplateName", {"", R"("resourceClaims":[{"resourceClaimTemplateName":"x"}])"}}};

// Returns the members of the spec with the field, or with what it stands in.
std::string Spec(std::string_view path, bool with) {
  const std::vector<std::string> names = absl::StrSplit(absl::string_view(path.data(), path.size()), '.');
  std::string out;
  for (size_t i = names.size(); i-- > 0;) {
    const bool last = i + 1 == names.size();
    std::string value;
    if (last && i > 0 && names[i - 1] == "matchExpressions") {
      // A requirement means something only as a whole.
      std::map<std::string, std::string> whole = {{"key", "\"k\""}, {"operator", "\"In\""}, {"values", R"(["b"])"}};
      if (with) whole[names[i]] = names[i] == "operator" ? "\"NotIn\"" : names[i] == "key" ? "\"x\"" : R"(["a"])";
      out = absl::StrCat(R"("key":)", whole["key"], R"(,"operator":)", whole["operator"], R"(,"values":)",
                         whole["values"]);
      continue;
    }
    if (last) {
      if (!with) continue;
      const auto it = kValues.find(names[i]);
      value = it == kValues.end() ? "\"x\"" : it->second;
    } else {
      const bool in_pod_affinity = names.size() > 1 && (names[1] == "podAffinity" || names[1] == "podAntiAffinity");
      const bool list = kLists.contains(names[i]) || names[i].starts_with("preferredDuring") ||
                        (names[i].starts_with("requiredDuring") && in_pod_affinity);
      value = absl::StrCat(list ? "[{" : "{", out, list ? "}]" : "}");
    }
    out = absl::StrCat("\"", names[i], "\":", value);
  }
  return out;
}

PodPtr Decoded(const std::string& spec) {
  Document d;
  REQUIRE(d.Parse(R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{)" + spec + "}}").ok());
  auto pod = DecodePod(d.root());
  INFO(spec);
  REQUIRE(pod.ok());
  return *pod;
}

std::vector<std::string> Unknown(const std::string& spec) {
  Document d;
  REQUIRE(d.Parse("{" + spec + "}").ok());
  return UnknownPodSpecFields(d.root());
}

TEST_CASE("pod spec: each field of the table is read, or reading it changes nothing") {
  for (const PodSpecField& row : PodSpecFields()) {
    INFO(row.path);
    if (row.path.ends_with("ontainers.name")) continue;  // decode_resize_test.cc
    const auto context = kContexts.find(row.path);
    const Both both = context != kContexts.end() ? context->second : Both{Spec(row.path, false), Spec(row.path, true)};
    const PodPtr without = Decoded(both.without), with = Decoded(both.with);
    const bool same = without->tmpl == with->tmpl && without->node_name == with->node_name;
    CHECK(same == (row.use == PodSpecField::Use::kOther));
    CHECK(row.why.empty() == (row.use == PodSpecField::Use::kRead));
    CHECK(with->tmpl->unknown_fields.empty());
  }
}

TEST_CASE("pod spec: the table has every field of the API of 1.36") {
  for (std::string_view name : kPodSpecOf136) CHECK(Unknown(absl::StrCat("\"", std::string(name), "\":1")).empty());
  for (std::string_view name : kContainerOf136) {
    for (const char* list : {"containers", "initContainers"}) {
      CHECK(Unknown(absl::StrCat("\"", list, "\":[{\"", std::string(name), "\":1}]")).empty());
    }
  }
  for (std::string_view name : kVolumeOf136) {
    CHECK(Unknown(absl::StrCat("\"volumes\":[{\"", std::string(name), "\":1}]")).empty());
  }
}

TEST_CASE("pod spec: other fields are reported by their paths, each once, and not without end") {
  CHECK(Unknown(R"("containers":[{"new":1},{"new":2}],"newer":{"a":1},"none":null,"NodeName":"a")") ==
        std::vector<std::string>{"spec.containers[].new", "spec.newer"});
  CHECK(Unknown(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"near":1}]}})") ==
        std::vector<std::string>{"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].near"});
  CHECK(Decoded(R"("newer":1)")->tmpl->unknown_fields == std::vector<std::string>{"spec.newer"});
  CHECK(Decoded(R"("newer":1)")->tmpl != Decoded("")->tmpl);
  std::string many = R"("a":1)";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&many, ",\"f", i, std::string(1000, 'x'), "\":1");
  const auto found = Unknown(many);
  CHECK(found.size() == 32);
  CHECK(found[1].size() < 100);
}

}  // namespace
}  // namespace berth::api
