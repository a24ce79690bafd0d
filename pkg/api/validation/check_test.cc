#include "pkg/api/validation/check.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include "pkg/api/validation/validation.h"

namespace berth::validation {
namespace {

// Returns lines like "refused path: message".
std::string Problems(std::string_view json, Version release = Version{10}) {
  auto v = ParseJson(json);
  REQUIRE(v.ok());
  std::string out;
  static constexpr const char* kKinds[] = {"refused", "unknown", "ignored", "suspicious"};
  for (const Problem& p : CheckObject(Catalog::Of(release), *v)) {
    absl::StrAppend(&out, kKinds[static_cast<size_t>(p.kind)], " ", p.path, ": ", p.message, "\n");
  }
  return out;
}

std::string Pod(std::string_view spec, Version release = Version{10}) {
  return Problems(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)", std::string(spec),
                               R"("containers":[{"name":"c","image":"i"}]}})"),
                  release);
}

TEST_CASE("a good object has no problems, under either release") {
  for (Version release : {Version{10}, Version{29}}) {
    CHECK(Pod("", release).empty());
    CHECK(Pod(R"("tolerations":[{"operator":"Exists"}],"nodeSelector":{"a":"b"},)", release).empty());
    CHECK(Problems(R"({"kind":"Cow","apiVersion":"farm/v1","metadata":5})", release).empty());
    CHECK(
        Problems(
            R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4","memory":"8Gi"}}})",
            release)
            .empty());
  }
  CHECK(Problems(R"({"kind":"Pod","apiVersion":"v1","metadata":{"generateName":"web-"},"spec":{"containers":
      [{"name":"c","image":"i"}]}})")
            .empty());
}

TEST_CASE("unknown fields are named with a suggestion, fields of the other release with that release") {
  CHECK(
      Problems(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"request":{"cpu":"1"}}}]}})") ==
      "unknown spec.containers[0].resources.request: unknown field (did you mean \"requests\"?)\n");
  CHECK(Pod(R"("nodeSelctor":{"a":"b"},"qqqqqqqqqq":1,)") ==
        "unknown spec.nodeSelctor: unknown field (did you mean \"nodeSelector\"?)\nunknown spec.qqqqqqqqqq: unknown "
        "field\n");
  CHECK(Pod(R"("schedulingGates":[{"name":"g"}],)") ==
        "ignored spec.schedulingGates: is a field of Kubernetes 1.26 and later; release 1.10 does not have it\n");
  CHECK(Pod(R"("schedulingGates":[{"name":"g"}],)", Version{29}).empty());
}

TEST_CASE("values of a wrong type and bad quantities are named by their path") {
  CHECK(Pod(R"("tolerations":{"key":"a"},"priority":"high","hostNetwork":1,)") ==
        "refused spec.tolerations: Invalid value: {\"key\":\"a\"}: must be a list, not an object\n"
        "refused spec.priority: Invalid value: \"high\": must be a whole number, not a string\n"
        "refused spec.hostNetwork: Invalid value: 1: must be true or false, not a number\n");
  CHECK(Problems(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"status":{"capacity":{"cpu":"4 cores"}}})")
            .find("refused status.capacity[cpu]: Invalid value: \"4 cores\": quantities must match") == 0);
}

TEST_CASE("amounts that are accepted but hardly meant") {
  auto with = [](std::string_view resources) {
    return Problems(
        absl::StrCat(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"containers":[{"name":"c",
      "image":"i","resources":)",
                     std::string(resources), "}]}}"));
  };
  CHECK(with(R"({"requests":{"memory":"512m"}})") ==
        "suspicious spec.containers[0].resources.requests[memory]: 512m is not a whole number of bytes (the suffix m "
        "means "
        "thousandths); did you mean 512Mi?\n");
  CHECK(with(R"({"requests":null})") ==
        "suspicious spec.containers[0].resources.requests: is null: no amount is given\n");
  CHECK(with(R"({"requests":{"cpu":null}})") ==
        "suspicious spec.containers[0].resources.requests[cpu]: is null: no amount is given\n");
  CHECK(with(R"({"requests":{"cpu":"500m","memory":"1e3"}})").empty());
}

TEST_CASE("what a server refuses: operators, effects, topology keys, names") {
  CHECK(Pod(R"("tolerations":[{"key":"a","operator":"Equals","value":"b","effect":"Noschedule"}],)") ==
        "refused spec.tolerations[0].operator: Unsupported value: \"Equals\": supported values: \"Equal\", \"Exists\"\n"
        "refused spec.tolerations[0].effect: Unsupported value: \"Noschedule\": supported values: \"NoSchedule\", "
        "\"PreferNoSchedule\", \"NoExecute\"\n");
  CHECK(Pod(R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{
      "matchExpressions":[{"key":"a","operator":"in","values":["b"]}]}]}}},)") ==
        "refused spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
        "matchExpressions[0].operator: Invalid value: \"in\": not a valid selector operator\n");
  CHECK(
      Pod(R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{}}]}},)")
          .find("topologyKey: Required value: can not be empty") != std::string::npos);
  CHECK(Problems(R"({"kind":"Node","apiVersion":"v1","metadata":{"labels":{"a":"b"}}})") ==
        "refused metadata.name: Required value: name or generateName is required\n");
  CHECK(
      Problems(
          R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"Never"}]}})")
          .find("refused metadata.taints[0].effect: Unsupported value: \"Never\"") == 0);
  CHECK(Problems(R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},"spec":{"template":{"spec":{
      "containers":[{"name":"c","image":"i"}],"restartPolicy":"Sometimes"}}}})")
            .find("refused spec.template.spec.restartPolicy: Unsupported value: \"Sometimes\"") != std::string::npos);
}

TEST_CASE("strict decoding names unknown and doubled fields as the server does") {
  auto v =
      ParseJson(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"nosuch":1,"priority":1,"priority":2,
      "containers":[{"name":"c","wrong":1}]}})");
  REQUIRE(v.ok());
  CHECK(StrictErrors(*v, TypeOf("Pod", Version{29})) ==
        std::vector<std::string>{"unknown field \"spec.nosuch\"", "duplicate field \"spec.priority\"",
                                 "unknown field \"spec.containers[0].wrong\""});
}

// A pod with one container that has these members.
std::string Container(std::string_view members, Version release) {
  return Problems(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{)",
                               R"("name":"c","image":"i",)", std::string(members), "}]}}"),
                  release);
}

TEST_CASE("the pods of a StatefulSet may mount claim templates, and are looked at no further") {
  const auto set = [](std::string_view pod) {
    return absl::StrCat(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{)",
                        R"("selector":{"matchLabels":{"a":"b"}},"serviceName":"s","volumeClaimTemplates":[{)",
                        R"("metadata":{"name":"data"}}],"template":{"metadata":{"labels":{"a":"b"}},"spec":{)",
                        std::string(pod), "}}}}");
  };
  for (Version release : {Version{10}, Version{29}}) {
    const char* const mount = R"([{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}])";
    CHECK(Problems(set(absl::StrCat(R"("containers":)", mount)), release).empty());
    CHECK(Problems(set(absl::StrCat(R"("containers":)", mount, R"(,"initContainers":)", mount)), release).empty());
    CHECK(Problems(set(R"("containers":[],"restartPolicy":"Never")"), release) ==
          "refused spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"\n");
  }
}

TEST_CASE("SCTP is a protocol since 1.19") {
  const auto port = [](const char* protocol) {
    return absl::StrCat(R"("ports":[{"containerPort":1,"protocol":")", protocol, "\"}]");
  };
  const auto service = [](const char* protocol) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":1,)",
                        R"("protocol":")", protocol, "\"}]}}");
  };
  CHECK(Container(port("SCTP"), Version{29}).empty());
  CHECK(Problems(service("SCTP"), Version{29}).empty());
  const std::string ten = "Unsupported value: \"SCTP\": supported values: \"TCP\", \"UDP\"\n",
                    later = "Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", \"UDP\"\n";
  CHECK(Container(port("SCTP"), Version{10}) == "refused spec.containers[0].ports[0].protocol: " + ten);
  CHECK(Container(port("ICMP"), Version{29}) == "refused spec.containers[0].ports[0].protocol: " + later);
  CHECK(Problems(service("SCTP"), Version{10}) == "refused spec.ports[0].protocol: " + ten);
}

TEST_CASE("names of ports are service names, and a container has each once") {
  const auto ports = [](const char* first, const char* second) {
    return absl::StrCat(R"("ports":[{"containerPort":1,"name":")", first, R"("},{"containerPort":2,"name":")", second,
                        "\"}]");
  };
  const std::string at = "refused spec.containers[0].ports[1].name: ";
  for (Version release : {Version{8}, Version{10}, Version{29}, Version{36}}) {
    CHECK(Container(ports("http", "h-2"), release).empty());
    CHECK(Container(ports("", ""), release).empty());
    CHECK(Container(ports("http", "http"), release) == at + "Duplicate value: \"http\"\n");
    CHECK(Container(ports("http", "Http"), release) ==
          at + "Invalid value: \"Http\": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)\n");
    CHECK(Container(ports("http", "8080"), release) ==
          at + "Invalid value: \"8080\": must contain at least one letter (a-z)\n");
    CHECK(Container(ports("http", "a-name-of-sixteen"), release) ==
          at + "Invalid value: \"a-name-of-sixteen\": must be no more than 15 characters\n");
    CHECK(Container(ports("http", "a--b"), release) ==
          at + "Invalid value: \"a--b\": must not contain consecutive hyphens\n");
    CHECK(Container(ports("http", "-b"), release) ==
          at + "Invalid value: \"-b\": must not begin or end with a hyphen\n");
  }
}

TEST_CASE("huge pages are asked for in whole pages and with cpu or memory, in 1.10 of one size only") {
  const auto asks = [](const std::string& amounts) {
    return absl::StrCat(R"("resources":{"limits":{)", amounts, R"(},"requests":{)", amounts, "}}");
  };
  for (Version release : {Version{10}, Version{29}}) {
    CHECK(Container(asks(R"("hugepages-2Mi":"4Mi","cpu":"1")"), release).empty());
  }
  CHECK(Container(asks(R"("hugepages-2Mi":"4Mi")"), Version{29}) ==
        "refused spec.containers[0].resources: Forbidden: HugePages require cpu or memory\n");
  CHECK(Container(asks(R"("hugepages-2Mi":"3Mi","cpu":"1")"), Version{29})
            .find("3Mi is not positive integer multiple of hugepages-2Mi") != std::string::npos);
  const std::string two = asks(R"("hugepages-2Mi":"4Mi","hugepages-1Gi":"1Gi","cpu":"1")");
  CHECK(Container(two, Version{29}).empty());
  CHECK(Container(two, Version{10}).find("must use a single hugepage size in a pod spec") != std::string::npos);
}

TEST_CASE("what servers accept is not refused: host ports of init containers, names of roles") {
  const char* const port = R"("image":"i","ports":[{"containerPort":1,"hostPort":1}]})";
  for (Version release : {Version{10}, Version{29}}) {
    CHECK(
        Pod(absl::StrCat(R"("initContainers":[{"name":"a",)", port, R"(,{"name":"b",)", port, "],"), release).empty());
    CHECK(
        Problems(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"system:x"}})",
                 release)
            .empty());
  }
}

TEST_CASE("what a release accepts is not refused in it, and what came later is refused before") {
  const auto accepted = [](const std::string& object, std::vector<uint8_t> in, std::vector<uint8_t> not_in) {
    INFO(object);
    for (uint8_t minor : in) CHECK(Problems(object, Version{minor}).find("refused") == std::string::npos);
    for (uint8_t minor : not_in) CHECK(Problems(object, Version{minor}).find("refused") == 0);
  };
  const auto pod = [](const std::string& spec) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)" + spec + "}}";
  };
  const auto containers = [&](const std::string& members) {
    return pod(R"("containers":[{"name":"c","image":"i",)" + members + "}]");
  };
  // ContainerRestartRules is on since 1.35.
  accepted(containers(R"("restartPolicy":"OnFailure")"), {36}, {29});
  accepted(containers(R"("restartPolicy":"Sometimes")"), {}, {29, 36});
  accepted(pod(R"("containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"d","image":"i",)"
               R"("restartPolicy":"Never"}])"),
           {36}, {29});
  // RelaxedServiceNameValidation is on in 1.36.
  accepted(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"1st"},"spec":{"ports":[{"port":1}]}})", {36},
           {8, 10, 29});
  // Huge pages need cpu or memory since 1.11, and are whole since 1.21.
  const std::string huge = R"("hugepages-2Mi":"2Mi")", half = R"("cpu":"1","hugepages-2Mi":"1Mi")";
  accepted(containers(R"("resources":{"limits":{)" + huge + R"(},"requests":{)" + huge + "}}"), {8, 10}, {13, 19, 29});
  accepted(containers(R"("resources":{"limits":{)" + half + R"(},"requests":{)" + half + "}}"), {8, 10, 13, 19},
           {29, 36});
  // Selectors of spread constraints are checked since 1.27.
  accepted(pod(R"("containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a",)"
               R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"-"}}}])"),
           {19}, {29, 36});
  accepted(
      pod(R"("dnsPolicy":"None","dnsConfig":{"nameservers":["10.0.0.1"]},"containers":[{"name":"c","image":"i"}])"),
      {10, 29}, {8, 9});
  // Names of events are parts of paths; new events about nodes may be in kube-system.
  const auto event = [](const std::string& name, const std::string& ns, const std::string& more) {
    return R"({"apiVersion":"v1","kind":"Event","metadata":{"name":")" + name + R"(","namespace":")" + ns +
           R"("},"involvedObject":{"kind":"Node","name":"n"})" + more + "}";
  };
  accepted(event("Web_1.16", "default", ""), {8, 10, 29, 36}, {});
  accepted(event("a/b", "default", ""), {}, {8, 10, 29, 36});
  accepted(event("e", "kube-system", R"(,"eventTime":"2024-01-01T00:00:00.000000Z")"), {10, 29, 36}, {});
  accepted(event("e", "kube-system", ""), {}, {8, 10, 29, 36});
  // What a controller keeps running cannot end.
  const auto workload = [](const std::string& kind, const std::string& restart) {
    return R"({"apiVersion":"apps/v1","kind":")" + kind +
           R"(","metadata":{"name":"w"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":)"
           R"({"a":"b"}},"spec":{"restartPolicy":")" +
           restart + R"(","containers":[{"name":"c","image":"i"}]}}}})";
  };
  for (const char* kind : {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"}) {
    accepted(workload(kind, "Always"), {10, 29, 36}, {});
    accepted(workload(kind, "OnFailure"), {}, {10, 29, 36});
  }
}

// Returns the errors of an update of `before` to `now`.
std::string UpdateErrors(std::string_view kind, std::string_view before, std::string_view now, Version release) {
  const Catalog& catalog = Catalog::Of(release);
  auto a = ParseJson(before), b = ParseJson(now);
  REQUIRE((a.ok() && b.ok()));
  std::string out;
  for (const FieldError& e : ValidateUpdate(*catalog.FindKind("v1", kind), *b, *a)) {
    absl::StrAppend(&out, e.field, ": ", e.message.substr(0, 60), "\n");
  }
  return out;
}

TEST_CASE("updates that servers accept: seconds of a toleration, the first ranges of a node") {
  const auto pod = [](const char* seconds) {
    return absl::StrCat(R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",)",
                        R"("image":"i"}],"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute")", seconds,
                        "}]}}");
  };
  const char* const node = R"({"metadata":{"name":"n","uid":"u"},"spec":{"externalID":"n"}})";
  const auto ranges = [](const char* range) {
    return absl::StrCat(R"({"metadata":{"name":"n","uid":"u"},"spec":{"externalID":"n","podCIDR":")", range,
                        R"(","podCIDRs":[")", range, "\"]}}");
  };
  for (uint8_t minor : {10, 29, 36}) {
    const Version release{minor};
    CHECK(UpdateErrors("Pod", pod(""), pod(R"(,"tolerationSeconds":5)"), release).empty());
    CHECK(UpdateErrors("Pod", pod(R"(,"tolerationSeconds":7)"), pod(R"(,"tolerationSeconds":5)"), release).empty());
  }
  for (uint8_t minor : {19, 29, 36}) {
    const Version release{minor};
    CHECK(UpdateErrors("Node", node, ranges("10.0.0.0/24"), release).empty());
    CHECK(UpdateErrors("Node", ranges("10.0.0.0/24"), ranges("10.0.1.0/24"), release).find("spec.podCIDR") == 0);
  }
}

std::string Workload(std::string_view kind, std::string_view spec, std::string_view pod, Version release) {
  return Problems(
      absl::StrCat(R"({"apiVersion":"apps/v1","kind":")", std::string(kind), R"(","metadata":{"name":"w"},)",
                   R"("spec":{)", std::string(spec), R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{)",
                   std::string(pod), R"("containers":[{"name":"c","image":"i"}]}}}})"),
      release);
}

TEST_CASE("names in a pod are DNS labels, and what a container has is there once") {
  const std::string label =
      "DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
      "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\n";
  const Version ten{10};
  CHECK(Problems(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"My_App",
                 "image":"i"}]}})",
                 ten) == "refused spec.containers[0].name: Invalid value: \"My_App\": a " + label);
  CHECK(Pod(R"("volumes":[{"name":"a.b"}],)") == "refused spec.volumes[0].name: Invalid value: \"a.b\": a " + label);
  CHECK(Pod(R"("hostname":"A",)") == "refused spec.hostname: Invalid value: \"A\": a " + label);
  CHECK(Container(R"("volumeMounts":[{"name":"v","mountPath":"/d"}])", ten) ==
        "refused spec.containers[0].volumeMounts[0].name: Not found: \"v\"\n");
  CHECK(Pod(R"("volumes":[{"name":"v"}],"initContainers":[{"name":"i","image":"i","volumeMounts":[
        {"name":"v","mountPath":"/d"},{"name":"v","mountPath":"/d"}]}],)") ==
        "refused spec.initContainers[0].volumeMounts[1].mountPath: Invalid value: \"/d\": must be unique\n");
  CHECK(Pod(R"("volumes":[{"name":"v","persistentVolumeClaim":{}},{"name":"w","secret":{}}],)") ==
        "refused spec.volumes[0].persistentVolumeClaim.claimName: Required value\n"
        "refused spec.volumes[1].secret.secretName: Required value\n");
  CHECK(Pod(R"("activeDeadlineSeconds":0,)") ==
        "refused spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive\n");
  CHECK(Pod(R"("dnsPolicy":"None",)") ==
        "refused spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None\n");
}

TEST_CASE("variables, probes and hooks of containers") {
  const auto variable = [](const char* name) {
    return absl::StrCat(R"("env":[{"name":")", name, R"(","value":"x"}])");
  };
  for (Version release : {Version{8}, Version{10}, Version{29}, Version{36}}) {
    for (const char* name : {"A", "a_b", "my.env-name", "_"}) CHECK(Container(variable(name), release).empty());
    CHECK(Container(R"("env":[{"value":"x"}])", release) == "refused spec.containers[0].env[0].name: Required value\n");
    CHECK(Container(R"("livenessProbe":{"httpGet":{"port":"web"}},"readinessProbe":{"tcpSocket":{"port":80},)"
                    R"("successThreshold":3},"lifecycle":{"preStop":{"exec":{"command":["a"]}}})",
                    release)
              .empty());
    CHECK(Container(R"("livenessProbe":{"periodSeconds":5})", release) ==
          "refused spec.containers[0].livenessProbe: Required value: must specify a handler type\n");
    CHECK(Container(R"("livenessProbe":{"exec":{"command":["a"]},"successThreshold":2})", release) ==
          "refused spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1\n");
    CHECK(Container(R"("imagePullPolicy":"Sometimes")", release) ==
          "refused spec.containers[0].imagePullPolicy: Unsupported value: \"Sometimes\": supported values: "
          "\"Always\", \"IfNotPresent\", \"Never\"\n");
  }
  // Any printable name will do since 1.32.
  CHECK(Container(variable("1 b"), Version{29}).find("must not start with a digit") != std::string::npos);
  CHECK(Container(variable("1 b"), Version{36}).empty());
  CHECK(Container(variable("a=b"), Version{36}).find("other than '='") != std::string::npos);
  // Init containers have hooks and probes if they are sidecars.
  const auto init = [](const char* more) {
    return absl::StrCat(R"("initContainers":[{"name":"d","image":"i","startupProbe":{"exec":{"command":["a"]}})", more,
                        "}],");
  };
  CHECK(Pod(init(R"(,"restartPolicy":"Always")"), Version{29}).empty());
  CHECK(Pod(init(""), Version{29}) ==
        "refused spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without "
        "restartPolicy=Always\n");
}

TEST_CASE("a Job needs no selector, which a server generates, unless it says that it has its own") {
  const auto job = [](const char* spec) {
    return absl::StrCat(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{)", spec,
                        R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never",)",
                        R"("containers":[{"name":"c","image":"i"}]}}}})");
  };
  for (const Version release : {Version{10}, Version{29}}) {
    CHECK(Problems(job(""), release).empty());
    CHECK(Problems(job(R"("manualSelector":true,"selector":{"matchLabels":{"a":"b"}},)"), release).empty());
    CHECK(Problems(job(R"("manualSelector":true,)"), release).starts_with("refused spec.selector: Required value\n"));
  }
}

TEST_CASE("workloads select the pods of their template") {
  const std::string select = R"("selector":{"matchLabels":{"a":"b"}},)";
  for (Version release : {Version{10}, Version{29}, Version{36}}) {
    const std::string none = release == Version(36) ? R"({"a":"b"})" : R"(map[string]string{"a":"b"})";
    const std::string mismatch = "refused spec.template.metadata.labels: Invalid value: " + none +
                                 ": `selector` does not match template `labels`\n";
    for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet"}) {
      CHECK(Workload(kind, select, "", release).empty());
      CHECK(Workload(kind, "", "", release) == "refused spec.selector: Required value\n" + mismatch);
      CHECK(Workload(kind, R"("selector":{},)", "", release).find("empty selector is invalid for ") !=
            std::string::npos);
      CHECK(Workload(kind, R"("selector":{"matchLabels":{"a":"c"}},)", "", release) == mismatch);
    }
    CHECK(Workload("DaemonSet", select, "", release).empty());
    CHECK(Workload("DaemonSet", "", "", release) == mismatch);
  }
  CHECK(Workload("Deployment", select + R"("strategy":{"type":"Rolling"},)", "", Version{29}) ==
        "refused spec.strategy.type: Unsupported value: \"Rolling\": supported values: \"Recreate\", "
        "\"RollingUpdate\"\n");
  CHECK(Workload("StatefulSet", select + R"("podManagementPolicy":"Any",)", "", Version{29}) ==
        "refused spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'\n");
  CHECK(Workload("Deployment", select, R"("activeDeadlineSeconds":5,)", Version{29}) ==
        "refused spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not "
        "Supported\n");
  const auto cron = [](const char* restart) {
    return absl::StrCat(R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":)",
                        R"("* * * * *","jobTemplate":{"spec":{"template":{"spec":{)", restart,
                        R"("containers":[{"name":"c","image":"i"}]}}}}}})");
  };
  CHECK(Problems(cron(R"("restartPolicy":"Never",)"), Version{29}).empty());
  CHECK(Problems(cron(""), Version{29}) ==
        "refused spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
        "\"Never\"\n");
}

TEST_CASE("the pods of a StatefulSet are checked with its claim templates since 1.34") {
  const std::string set =
      R"("selector":{"matchLabels":{"a":"b"}},"volumeClaimTemplates":[{"metadata":{"name":"data"}}],)";
  const std::string mounts =
      R"("initContainers":[{"name":"d","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"},
      {"name":"other","mountPath":"/o"}]}],)";
  CHECK(Workload("StatefulSet", set, mounts, Version{29}).empty());
  CHECK(Workload("StatefulSet", set, mounts, Version{36}) ==
        "refused spec.template.spec.initContainers[0].volumeMounts[1].name: Not found: \"other\"\n");
  CHECK(Workload("StatefulSet", set, R"("volumes":[{"name":"data"}],)", Version{36}).empty());
}

TEST_CASE("claims, volumes and their classes") {
  const auto claim = [](std::string_view spec) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{)",
                        std::string(spec), "}}");
  };
  const std::string once = R"("accessModes":["ReadWriteOnce"],)",
                    size = R"("resources":{"requests":{"storage":"1Gi"}})";
  const std::string per_pod = R"("accessModes":["ReadWriteOncePod"],)";
  for (Version release : {Version{8}, Version{10}, Version{29}, Version{36}}) {
    CHECK(Problems(claim(once + size), release).empty());
    CHECK(Problems(claim(size), release) ==
          "refused spec.accessModes: Required value: at least 1 access mode is required\n");
    CHECK(Problems(claim(R"("accessModes":["ReadWriteOnce"])"), release) ==
          "refused spec.resources[storage]: Required value\n");
    CHECK(Problems(claim(per_pod + size), release).empty() == (release >= Version(29)));
    const std::string volume = R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},"spec":{)";
    CHECK(Problems(volume + once + R"("capacity":{"storage":"1Gi"},"hostPath":{"path":"/d"}}})", release).empty());
    CHECK(Problems(volume + once + R"("capacity":{"storage":"1Gi"}}})", release) ==
          "refused spec: Required value: must specify a volume type\n");
    CHECK(Problems(volume + R"("hostPath":{"path":"/d"}}})", release) ==
          "refused spec.accessModes: Required value\nrefused spec.capacity: Required value\n");
    const std::string storage = R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},)";
    CHECK(Problems(storage + R"("provisioner":"a/b","volumeBindingMode":"WaitForFirstConsumer"})", release).empty());
    CHECK(Problems(storage + R"("provisioner":"a/b","volumeBindingMode":"Late"})", release).find("Unsupported value") !=
          std::string::npos);
  }
}

TEST_CASE("ports and types of services") {
  const auto service = [](std::string_view spec, Version release) {
    return Problems(absl::StrCat(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{)",
                                 std::string(spec), "}}"),
                    release);
  };
  for (Version release : {Version{10}, Version{29}, Version{36}}) {
    CHECK(service(R"("ports":[{"port":80,"targetPort":"http"}])", release).empty());
    CHECK(service(R"("clusterIP":"None")", release).empty());
    CHECK(service(R"("ports":[{"port":53,"name":"u","protocol":"UDP"},{"port":53,"name":"t"}])", release).empty());
    CHECK(service(R"("ports":[{"port":80},{"port":81,"name":"b"}])", release) ==
          "refused spec.ports[0].name: Required value\n");
    CHECK(service(R"("ports":[{"port":80,"name":"a"},{"port":81,"name":"a"}])", release) ==
          "refused spec.ports[1].name: Duplicate value: \"a\"\n");
    CHECK(service(R"("type":"ExternalName")", release) == "refused spec.externalName: Required value\n");
    CHECK(service(R"("type":"ExternalName","externalName":"example.com.")", release).empty());
    CHECK(service(R"("ports":[{"port":80,"targetPort":"Http"}])", release).find("spec.ports[0].targetPort") !=
          std::string::npos);
    CHECK(service(R"("sessionAffinity":"Cookie","ports":[{"port":80}])", release).find("\"ClientIP\", \"None\"") !=
          std::string::npos);
  }
  CHECK(service(R"("ports":[{"port":80,"nodePort":30000}])", Version{29}) ==
        "refused spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'\n");
}

TEST_CASE("keys of ConfigMaps, and bounds of budgets") {
  const auto map = [](const char* key) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{")", key,
                        R"(":"v"}})");
  };
  const auto budget = [](const char* bound) {
    return absl::StrCat(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{)",
                        R"("selector":{},"minAvailable":)", bound, "}}");
  };
  for (Version release : {Version{10}, Version{29}, Version{36}}) {
    CHECK(Problems(map("a_B.c-1"), release).empty());
    CHECK(Problems(map("a/b"), release).find("refused data[a/b]: Invalid value: \"a/b\": a valid config key must") ==
          0);
  }
  for (const char* good : {"0", "3", R"("0%")", R"("100%")"}) CHECK(Problems(budget(good), Version{29}).empty());
  CHECK(Problems(budget("-1"), Version{29}) ==
        "refused spec.minAvailable: Invalid value: -1: must be greater than or equal to 0\n");
  CHECK(Problems(budget(R"("101%")"), Version{29}) ==
        "refused spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%\n");
  CHECK(Problems(budget(R"("half")"), Version{29}).find("a valid percent string") != std::string::npos);
}

TEST_CASE("fields of the newest release are known to it") {
  CHECK(Pod(R"("securityContext":{"supplementalGroupsPolicy":"Strict","seLinuxChangePolicy":"MountOption"},
            "volumes":[{"name":"v","image":{"reference":"r","pullPolicy":"Always"}}],)",
            Version{36})
            .empty());
  CHECK(Container(R"("env":[{"name":"a","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}])",
                  Version{36})
            .empty());
  CHECK(Problems(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[{"port":1}],
                 "trafficDistribution":"PreferClose"}})",
                 Version{36})
            .empty());
  CHECK(Pod(R"("volumes":[{"name":"v","image":{"reference":"r"}}],)", Version{29}) ==
        "ignored spec.volumes[0].image: is a field of Kubernetes 1.31 and later; release 1.29 does not have it\n");
  CHECK(
      Container(R"("securityContext":{"appArmorProfile":{"type":"Unconfined"}})", Version{29}).find("1.30 and later") !=
      std::string::npos);
}

std::string Changed(const char* kind, const std::string& before, const std::string& after, Version release) {
  const Catalog& catalog = Catalog::Of(release);
  const ResourceInfo* r = nullptr;
  for (const ResourceInfo& each : catalog.resources()) {
    if (each.kind == kind) r = &each;
  }
  REQUIRE(r != nullptr);
  const std::string meta = R"({"metadata":{"name":"o","namespace":"d","uid":"u"},)";
  std::string out;
  for (const FieldError& e : ValidateUpdate(*r, *ParseJson(meta + after + "}"), *ParseJson(meta + before + "}"))) {
    absl::StrAppend(&out, e.Text(), "\n");
  }
  return out;
}

TEST_CASE("what may not change in Jobs, StatefulSets, claims and classes") {
  const auto pods = [](const char* labels, const char* image) {
    return absl::StrCat(R"("template":{"metadata":{"labels":)", labels, R"(},"spec":{"restartPolicy":"Never",)",
                        R"("dnsPolicy":"Default","containers":[{"name":"c","image":")", image, R"("}]}})");
  };
  const std::string labels = R"({"controller-uid":"1"})";
  const std::string job = R"("spec":{"selector":{"matchLabels":)" + labels + "},";
  const std::string old_job = job + pods(labels.c_str(), "i") + "}";
  for (Version release : {Version{10}, Version{29}, Version{36}}) {
    CHECK(Changed("Job", old_job, job + "\"parallelism\":2," + pods(labels.c_str(), "i") + "}", release).empty());
    CHECK(Changed("Job", old_job, job + pods(labels.c_str(), "j") + "}", release)
              .find("spec.template: Invalid value: ") == 0);
    // As kubectl replace sends it.
    const std::string replaced = Changed("Job", old_job, "\"spec\":{" + pods("null", "i") + "}", release);
    CHECK(replaced.find("spec.selector: Required value\n") == 0);
    CHECK(replaced.find("spec.selector: Invalid value: \"null\": field is immutable\n") != std::string::npos);
    CHECK(replaced.find("spec.template: Invalid value: ") != std::string::npos);
  }
  const auto set = [](const char* more) {
    return absl::StrCat(R"("spec":{"selector":{"matchLabels":{"a":"b"}},)", more, R"("template":{"metadata":{)",
                        R"("labels":{"a":"b"}},"spec":{"restartPolicy":"Always","dnsPolicy":"Default",)",
                        R"("containers":[{"name":"c","image":"i"}]}}})");
  };
  CHECK(Changed("StatefulSet", set(R"("replicas":1,)"), set(R"("replicas":2,)"), Version{29}).empty());
  CHECK(Changed("StatefulSet", set(""), set(R"("serviceName":"s",)"), Version{29}) ==
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden\n");
  CHECK(Changed("StatefulSet", set(""), set(R"("serviceName":"s",)"), Version{10}) ==
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', and "
        "'updateStrategy' are forbidden.\n");
  const auto claim = [](const char* size, const char* more) {
    return absl::StrCat(R"("status":{"phase":"Bound"},"spec":{"accessModes":["ReadWriteOnce"],)", more,
                        R"("resources":{"requests":{"storage":")", size, R"("}}})");
  };
  CHECK(Changed("PersistentVolumeClaim", claim("1Gi", ""), claim("2Gi", ""), Version{29}).empty());
  CHECK(Changed("PersistentVolumeClaim", claim("1Gi", ""), claim("1Gi", R"("volumeName":"v",)"), Version{29}).empty());
  CHECK(Changed("PersistentVolumeClaim", claim("2Gi", ""), claim("1Gi", ""), Version{29}) ==
        "spec.resources.requests.storage: Forbidden: field can not be less than previous value\n");
  CHECK(Changed("PersistentVolumeClaim", claim("1Gi", R"("volumeName":"v",)"), claim("1Gi", R"("volumeName":"w",)"),
                Version{29}) ==
        "spec: Forbidden: spec is immutable after creation except resources.requests for bound claims\n");
  CHECK(Changed("StorageClass", R"("provisioner":"a","parameters":{"x":"y"})",
                R"("provisioner":"a","parameters":{"x":"z"})",
                Version{29}) == "parameters: Forbidden: updates to parameters are forbidden.\n");
  CHECK(Changed("ConfigMap", R"("immutable":true,"data":{"a":"b"})", R"("immutable":true,"data":{"a":"c"})",
                Version{29}) == "data: Forbidden: field is immutable when `immutable` is set\n");
}

}  // namespace
}  // namespace berth::validation
