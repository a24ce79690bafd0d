#include "pkg/api/decode.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pkg/api/json.h"

namespace berth::api {
namespace {

struct Parsed {
  explicit Parsed(const std::string& text) {
    INFO(text);
    REQUIRE(document.Parse(text).ok());
  }
  Json root() const { return document.root(); }
  Document document;
};

PodPtr PodOf(const std::string& json, const DecodeOptions& o = {}) {
  auto pod = DecodePod(Parsed(json).root(), o);
  INFO(pod.status().ToString());
  REQUIRE(pod.ok());
  return *pod;
}
NodePtr NodeOf(const std::string& json, const DecodeOptions& o = {}) {
  auto node = DecodeNode(Parsed(json).root(), o);
  INFO(node.status().ToString());
  REQUIRE(node.ok());
  return *node;
}
std::string ErrorOf(const std::string& json) {
  auto object = DecodeObject(Parsed(json).root());
  return object.ok() ? "decoded" : std::string(object.status().message());
}
Quantity Amount(const ResourceList& list, const std::string& name) {
  for (const auto& [n, q] : list) {
    if (n == Symbol(name)) return q;
  }
  return Quantity::FromInt(-1);
}

constexpr char kFullPod[] = R"({
  "apiVersion":"v1","kind":"Pod",
  "metadata":{"name":"web-1","namespace":"shop","uid":"u-1","resourceVersion":"42",
    "creationTimestamp":"2018-03-26T16:41:58Z","deletionTimestamp":"2018-03-26T18:41:58.5+02:00",
    "labels":{"app":"web","tier":"front"},"annotations":{"any":"thing"},
    "ownerReferences":[{"kind":"Other","name":"o","uid":"x"},
      {"apiVersion":"extensions/v1beta1","kind":"ReplicaSet","name":"web","uid":"rs-1","controller":true}]},
  "spec":{"schedulerName":"mine","nodeName":"n1","priority":7,"nodeSelector":{"disk":"ssd"},"dnsPolicy":"Default",
    "tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule","tolerationSeconds":5},{"value":"v"}],
    "containers":[{"name":"c","image":"nginx","resources":{"requests":{"cpu":"250m","memory":1024},"limits":{"cpu":"1"}},
        "ports":[{"containerPort":80,"hostPort":8080,"hostIP":"10.0.0.1","protocol":"UDP"}]},{"name":"d"}],
    "initContainers":[{"resources":{"requests":{"cpu":"2"}}}],
    "volumes":[{"name":"a","emptyDir":{}},{"name":"b","persistentVolumeClaim":{"claimName":"data"}},
      {"gcePersistentDisk":{"pdName":"pd","readOnly":true}},{"awsElasticBlockStore":{"volumeID":"vol"}},
      {"iscsi":{"iqn":"iqn.1","lun":0}},{"rbd":{"image":"img","pool":"p","monitors":["m1","m2"]}},
      {"azureDisk":{"diskName":"az"}}],
    "affinity":{
      "nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchExpressions":[{"key":"zone","operator":"In","values":["a","b"]}]},{}]},
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{"matchExpressions":[
          {"key":"gpu","operator":"Exists"}]}}]},
      "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"labelSelector":{"matchLabels":{"app":"db"}},"topologyKey":"zone"}]},
      "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
          {"weight":9,"podAffinityTerm":{"labelSelector":{},"namespaces":["z","a","z"],"topologyKey":"host"}}]}}},
  "status":{"phase":"Running","nominatedNodeName":"n9","conditions":[{"type":"Ready","status":"True"},
    {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no","lastProbeTime":null,
     "lastTransitionTime":"2018-03-26T16:41:59Z"}]}})";

TEST_CASE("a pod is read whole") {
  PodPtr pod = PodOf(kFullPod);
  const PodTemplate& t = *pod->tmpl;
  CHECK(pod->meta.Key() == "shop/web-1");
  CHECK(pod->meta.uid == "u-1");
  CHECK(pod->meta.resource_version == "42");
  CHECK(pod->meta.creation_seconds == 1522082518);
  CHECK(pod->meta.deletion_seconds == 1522082518);
  CHECK(pod->meta.deleting());
  CHECK(t.labels.Get(Symbol("app")) == Symbol("web"));
  REQUIRE(t.controller);
  CHECK(t.controller->uid == "rs-1");
  CHECK(t.controller->kind == Symbol("ReplicaSet"));
  CHECK(t.ns == Symbol("shop"));
  CHECK(t.scheduler_name == Symbol("mine"));
  CHECK(pod->node_name == Symbol("n1"));
  CHECK(pod->Priority() == 7);
  CHECK(t.node_selector.Get(Symbol("disk")) == Symbol("ssd"));
  REQUIRE(t.tolerations.size() == 2);
  CHECK(t.tolerations[0].op == Symbol("Exists"));
  CHECK(t.tolerations[1] == Toleration{.key = {}, .op = {}, .value = Symbol("v"), .effect = {}});
  REQUIRE(t.containers.size() == 2);
  CHECK(t.containers[0].image == Symbol("nginx"));
  CHECK(Amount(t.containers[0].requests, "cpu").MilliValue() == 250);
  CHECK(Amount(t.containers[0].requests, "memory").Value() == 1024);
  CHECK(Amount(t.containers[0].limits, "cpu").Value() == 1);
  REQUIRE(t.containers[0].ports.size() == 1);
  CHECK(t.containers[0].ports[0].host_port == 8080);
  CHECK(t.containers[0].ports[0].host_ip == Symbol("10.0.0.1"));
  CHECK(t.containers[0].ports[0].protocol == Symbol("UDP"));
  REQUIRE(t.init_containers.size() == 1);
  REQUIRE(t.volumes.size() == 6);
  CHECK(t.volumes[0].kind == Volume::Kind::kClaim);
  CHECK(t.volumes[0].id == "data");
  CHECK(t.volumes[1].read_only);
  CHECK(t.volumes[4].monitors == std::vector<std::string>{"m1", "m2"});
  CHECK(t.volumes[5].kind == Volume::Kind::kAzureDisk);
  CHECK(t.has_affinity);
  REQUIRE(t.affinity.node);
  REQUIRE(t.affinity.node->required);
  REQUIRE(t.affinity.node->required->terms.size() == 2);
  CHECK(t.affinity.node->required->terms[1].match.selector.MatchesNothing());
  REQUIRE(t.affinity.node->preferred.size() == 1);
  CHECK(t.affinity.node->preferred[0].weight == 5);
  REQUIRE(t.affinity.pod);
  REQUIRE(t.affinity.pod->required.size() == 1);
  CHECK(t.affinity.pod->required[0].namespaces == std::vector<Symbol>{Symbol("shop")});
  REQUIRE(t.affinity.pod_anti);
  REQUIRE(t.affinity.pod_anti->preferred.size() == 1);
  CHECK(t.affinity.pod_anti->preferred[0].term.namespaces.size() == 2);
  CHECK(t.affinity.pod_anti->preferred[0].term.selector.selector.Empty());
  CHECK(pod->phase == PodPhase::kRunning);
  CHECK(pod->nominated_node_name == Symbol("n9"));
  REQUIRE(pod->scheduled);
  CHECK(pod->scheduled->reason == "Unschedulable");
  CHECK(pod->scheduled->last_probe_time.empty());
  CHECK(pod->raw == nullptr);
}

TEST_CASE("what is absent or null has Go's zero value") {
  PodPtr pod = PodOf(R"({"metadata":{"name":"p","namespace":null,"labels":null,"creationTimestamp":null},
      "spec":{"containers":null,"affinity":null,"nodeSelector":null,"priority":null},"status":null})");
  CHECK(pod->meta.Key() == "p");
  CHECK(pod->tmpl->scheduler_name == Symbol("default-scheduler"));
  CHECK_FALSE(pod->tmpl->priority);
  CHECK(pod->Priority() == 0);
  CHECK_FALSE(pod->tmpl->has_affinity);
  CHECK(pod->tmpl->containers.empty());
  CHECK(pod->phase == PodPhase::kPending);
  CHECK(PodOf(R"({"spec":{"affinity":{}}})")->tmpl->has_affinity);
  CHECK_FALSE(PodOf(R"({"spec":{"affinity":{}}})")->tmpl->affinity.pod);
  CHECK(PodOf(R"({"spec":{"affinity":{"podAffinity":{}}}})")->tmpl->affinity.pod);
  CHECK(PodOf(R"({"spec":{"priority":0}})")->tmpl->priority == 0);
}

TEST_CASE("member names match in any case, unknown ones are skipped, the last duplicate wins") {
  PodPtr pod = PodOf(R"({"MetaData":{"NAME":"p","Name":"q"},"SPEC":{"nodename":"n1","NodeName":"n2","nodeNames":5,
      "containers":[{"Resources":{"REQUESTS":{"cpu":"1"}},"whatever":{"a":[1]}}]},"x":1})");
  CHECK(pod->meta.name == "q");
  CHECK(pod->node_name == Symbol("n2"));
  REQUIRE(pod->tmpl->containers.size() == 1);
  CHECK(Amount(pod->tmpl->containers[0].requests, "cpu").Value() == 1);
  // The keys of maps are data, so their case matters.
  CHECK(PodOf(R"({"metadata":{"labels":{"A":"1","a":"2"}}})")->tmpl->labels.size() == 2);
  CHECK(Amount(PodOf(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1","cpu":"2"}}}]}})")
                   ->tmpl->containers[0]
                   .requests,
               "cpu")
            .Value() == 2);
}

TEST_CASE("wrong types name object, path, value and what would be right") {
  auto pod = [](const std::string& spec) {
    return ErrorOf(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"default"},"spec":)" +
                   spec + "}");
  };
  const std::string at = "Pod \"default/web-1\": ";
  CHECK(pod("{}") == "decoded");
  CHECK(pod("[]") == at + "spec: []: must be an object");
  CHECK(pod(R"({"nodeName":5})") == at + "spec.nodeName: 5: must be a string");
  CHECK(pod(R"({"priority":"high"})") == at + "spec.priority: \"high\": must be an integer of 32 bits");
  CHECK(pod(R"({"priority":3000000000})") == at + "spec.priority: 3000000000: must be an integer of 32 bits");
  CHECK(pod(R"({"priority":1.5})") == at + "spec.priority: 1.5: must be an integer of 32 bits");
  CHECK(pod(R"({"containers":{}})") == at + "spec.containers: {}: must be a list");
  CHECK(pod(R"({"containers":[7]})") == at + "spec.containers[0]: 7: must be an object");
  CHECK(pod(R"({"containers":[{},{"ports":[{"hostPort":"80"}]}]})") ==
        at + "spec.containers[1].ports[0].hostPort: \"80\": must be an integer of 32 bits");
  CHECK(pod(R"({"containers":[{"resources":{"requests":{"cpu":"12x"}}}]})") ==
        at + "spec.containers[0].resources.requests.cpu: \"12x\": quantities must match the regular expression "
             "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  CHECK(pod(R"({"containers":[{"resources":{"requests":{"memory":"1K"}}}]})") ==
        at + "spec.containers[0].resources.requests.memory: \"1K\": unable to parse quantity's suffix");
  CHECK(pod(R"({"containers":[{"resources":{"requests":{"memory":true}}}]})") ==
        at + "spec.containers[0].resources.requests.memory: true: must be a quantity, such as \"500m\" or 2");
  CHECK(pod(R"({"nodeSelector":{"a":1}})") == at + "spec.nodeSelector.a: 1: must be a string");
  CHECK(pod(R"({"volumes":[{"gcePersistentDisk":{"readOnly":"yes"}}]})") ==
        at + "spec.volumes[0].gcePersistentDisk.readOnly: \"yes\": must be true or false");
  CHECK(
      pod(R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":[]}}]}}})") ==
      at + "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels: []: "
           "must be an object of strings");
  CHECK(ErrorOf(R"({"kind":"Pod","metadata":{"creationTimestamp":"yesterday"}})") ==
        "Pod: metadata.creationTimestamp: \"yesterday\": must be a time, such as \"2018-03-26T16:41:58Z\"");
  CHECK(ErrorOf(R"({"kind":"Pod","metadata":{"name":7}})") == "Pod: metadata.name: 7: must be a string");
  CHECK(ErrorOf(R"({"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"pods":{}}}})") ==
        "Node \"n\": status.allocatable.pods: {}: must be a quantity, such as \"500m\" or 2");
  CHECK(ErrorOf(R"({"kind":"Node","metadata":{"name":"n"},"spec":{"unschedulable":1}})") ==
        "Node \"n\": spec.unschedulable: 1: must be true or false");
  CHECK(ErrorOf(R"({"kind":"Node","metadata":{"name":"","uid":"u"}})") ==
        R"(Node: metadata: {"name":"","uid":"u"}: must have a name)");
  CHECK(ErrorOf(R"({"kind":"Node"})") == "Node: metadata: null: must have a name");
  CHECK(ErrorOf("[1]") == "object: [1]: must be an object");
  CHECK(ErrorOf("null") == "object: null: must be an object");
  CHECK(ErrorOf("{}") == "object: {}: has no kind: an object needs apiVersion and kind");
  CHECK(ErrorOf(R"({"kind":5})") == "object: kind: 5: must be a string");
  // Fields that scheduling does not read are not checked.
  CHECK(pod(R"({"hostname":5,"restartPolicy":{},"containers":[{"env":7,"name":8}]})") == "decoded");
}

TEST_CASE("absurd quantities are held as the most there is") {
  auto pod = PodOf(
      R"({"spec":{"containers":[{"resources":{"requests":{"memory":"99999999999999999999Ei","cpu":"1e400"}}}]}})");
  const ResourceList& r = pod->tmpl->containers[0].requests;
  CHECK(Amount(r, "memory").Value() == std::numeric_limits<int64_t>::max());
  CHECK(Amount(r, "cpu").MilliValue() == std::numeric_limits<int64_t>::max());
}

TEST_CASE("equal templates are one object, unused ones go away") {
  std::string one = R"({"metadata":{"name":"a","uid":"1","labels":{"x":"1"}},"spec":{"containers":[{"image":"i"}]}})";
  std::string two =
      R"({"metadata":{"name":"b","uid":"2","labels":{"x":"1"}},"spec":{"containers":[{"image":"i"}],"nodeName":"n"}})";
  PodPtr a = PodOf(one), b = PodOf(two);
  CHECK(a->tmpl == b->tmpl);
  CHECK(PodOf(R"({"metadata":{"labels":{"x":"2"}},"spec":{"containers":[{"image":"i"}]}})")->tmpl != a->tmpl);
  CHECK(PodOf(R"({"metadata":{"namespace":"o","labels":{"x":"1"}},"spec":{"containers":[{"image":"i"}]}})")->tmpl !=
        a->tmpl);
  auto asking = [](const std::string& cpu) {
    return PodOf(absl::StrCat(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":)", cpu, "}}}]}}"));
  };
  PodPtr thousand = asking("\"1000m\"");
  CHECK(thousand->tmpl == asking("1")->tmpl);
  CHECK(thousand->tmpl != asking("2")->tmpl);
  // Fields that the hash leaves out are compared nonetheless.
  auto disk = [](const std::string& read_only) {
    return PodOf(
        absl::StrCat(R"({"spec":{"volumes":[{"gcePersistentDisk":{"pdName":"d","readOnly":)", read_only, "}}]}}"));
  };
  PodPtr shared_disk = disk("true");
  CHECK(shared_disk->tmpl != disk("false")->tmpl);
  CHECK(shared_disk->tmpl == disk("true")->tmpl);
  size_t count = PodTemplate::InternedCount();
  std::weak_ptr<const PodTemplate> weak = a->tmpl;
  a.reset();
  CHECK_FALSE(weak.expired());
  b.reset();
  CHECK(weak.expired());
  CHECK(PodTemplate::InternedCount() == count - 1);
}

TEST_CASE("templates are shared between threads") {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::shared_ptr<const PodTemplate>>> kept(4);
  for (auto& mine : kept) {
    threads.emplace_back([&mine] {
      for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < 5; ++i) {
          PodTemplate t;
          t.scheduler_name = Symbol(std::string(1, static_cast<char>('a' + i)));
          auto shared = PodTemplate::Intern(std::move(t));
          if (round == 199) mine.push_back(shared);
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& mine : kept) CHECK(mine == kept[0]);
}

TEST_CASE("a node is read whole") {
  NodePtr n = NodeOf(R"({"kind":"Node","metadata":{"name":"n1","labels":{"zone":"a"},"annotations":{
      "scheduler.alpha.kubernetes.io/preferAvoidPods":
      "{\"preferAvoidPods\":[{\"podSignature\":{\"podController\":{\"kind\":\"ReplicaSet\",\"uid\":\"u\"}}},{\"reason\":\"none\"}]}"}},
    "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"bad"},"allocatable":{"cpu":"4","pods":110},
      "conditions":[{"type":"Ready","status":"True"},{"type":"Ready","status":"False"}],
      "images":[{"names":["a:1","a@sha"],"sizeBytes":1000}]}})");
  CHECK(n->labels.Get(Symbol("zone")) == Symbol("a"));
  CHECK(n->unschedulable);
  REQUIRE(n->taints.size() == 1);
  CHECK(Amount(n->allocatable, "pods").Value() == 110);
  REQUIRE(n->conditions.size() == 2);
  CHECK(n->conditions[1].status == Symbol("False"));
  REQUIRE(n->images.size() == 1);
  CHECK(n->images.begin()[0].size_bytes == 1000);
  // B-21 (BUGS.md): an entry without a controller does no harm.
  REQUIRE(n->avoid_pods.size() == 2);
  CHECK(n->avoid_pods[0].uid == "u");
  CHECK(n->avoid_pods[0].has_controller);
  CHECK_FALSE(n->avoid_pods[1].has_controller);
  for (const char* annotation :
       {"no json", "[]", "{\\\"preferAvoidPods\\\":5}",
        "{\\\"preferAvoidPods\\\":[{\\\"podSignature\\\":{\\\"podController\\\":{\\\"kind\\\":1}}}]}", ""}) {
    INFO(annotation);
    CHECK(NodeOf(std::string(
                     R"({"metadata":{"name":"n","annotations":{"scheduler.alpha.kubernetes.io/preferAvoidPods":")") +
                 annotation + "\"}}}")
              ->avoid_pods.empty());
  }
}

TEST_CASE("a heartbeat changes nothing that scheduling reads") {
  const std::string node = R"({"metadata":{"name":"n","resourceVersion":"%1"},"spec":{"unschedulable":%2},"status":{
      "allocatable":{"cpu":"%3"},"conditions":[{"type":"Ready","status":"%4","lastHeartbeatTime":"%1"}]}})";
  auto with = [&](const std::string& version, const std::string& cordoned, const std::string& cpu,
                  const std::string& ready) {
    std::string text = node;
    for (const auto& [mark, value] : std::vector<std::pair<std::string, std::string>>{
             {"%1", version}, {"%2", cordoned}, {"%3", cpu}, {"%4", ready}}) {
      for (size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, 2, value);
    }
    return NodeOf(text);
  };
  NodePtr before = with("1", "false", "4", "True");
  CHECK(before->SchedulesLike(*with("2", "false", "4000m", "True")));
  CHECK_FALSE(before->SchedulesLike(*with("2", "true", "4", "True")));
  CHECK_FALSE(before->SchedulesLike(*with("2", "false", "5", "True")));
  CHECK_FALSE(before->SchedulesLike(*with("2", "false", "4", "Unknown")));
}

template <typename T>
std::shared_ptr<const T> Get(const std::string& json, const DecodeOptions& o = {}) {
  auto object = DecodeObject(Parsed(json).root(), {}, o);
  INFO(object.status().ToString());
  REQUIRE(object.ok());
  REQUIRE(std::holds_alternative<std::shared_ptr<const T>>(*object));
  return std::get<std::shared_ptr<const T>>(*object);
}

TEST_CASE("owners, budgets and volumes") {
  Labels web({{Symbol("app"), Symbol("web")}});
  CHECK_FALSE(Get<Service>(R"({"apiVersion":"v1","kind":"Service","spec":{}})")->selector);
  CHECK(Get<Service>(R"({"apiVersion":"v1","kind":"Service","spec":{"selector":{}}})")->selector->empty());
  CHECK(Get<Service>(R"({"kind":"Service","spec":{"selector":{"app":"web"}}})")->selector == web);
  CHECK(Get<ReplicationController>(R"({"kind":"ReplicationController","spec":{"selector":{"app":"web"}}})")->selector ==
        web);
  for (const char* version : {"apps/v1", "apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"}) {
    std::string rs = std::string(R"({"apiVersion":")") + version +
                     R"(","kind":"ReplicaSet","spec":{"selector":{"matchLabels":{"app":"web"}}}})";
    CHECK(Get<ReplicaSet>(rs)->selector.selector.Matches(web));
  }
  CHECK(Get<ReplicaSet>(R"({"kind":"ReplicaSet"})")->selector.selector.MatchesNothing());
  CHECK(Get<StatefulSet>(
            R"({"kind":"StatefulSet","spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Bad"}]}}})")
            ->selector.error == "\"Bad\" is not a valid pod selector operator");
  auto pdb = Get<PodDisruptionBudget>(R"({"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget",
      "spec":{"selector":{"matchLabels":{"app":"web"}}},"status":{"disruptionsAllowed":2}})");
  CHECK(pdb->has_selector);
  CHECK(pdb->disruptions_allowed == 2);
  auto pv =
      Get<PersistentVolume>(R"({"kind":"PersistentVolume","metadata":{"name":"pv","labels":{"z":"a"},"annotations":{
      "volume.beta.kubernetes.io/storage-class":"old","pv.kubernetes.io/bound-by-controller":"yes",
      "volume.alpha.kubernetes.io/node-affinity":"{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"h\",\"operator\":\"Exists\"}]}]}}"}},
      "spec":{"capacity":{"storage":"10Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"new",
      "claimRef":{"namespace":"ns","name":"c","uid":"u"},"awsElasticBlockStore":{"volumeID":"vol-1"},
      "nodeAffinity":{"required":{"nodeSelectorTerms":[{},{}]}}}})");
  CHECK(pv->Class() == "old");
  CHECK(pv->bound_by_controller);
  CHECK(pv->annotation_affinity.size() == 1);
  CHECK_FALSE(pv->annotation_affinity_bad);
  CHECK(pv->node_affinity.size() == 2);
  CHECK(pv->capacity->String() == "10Gi");
  CHECK(pv->claim_ref->name == "c");
  CHECK(pv->source == PersistentVolume::Source::kAwsEbs);
  CHECK(pv->source_id == "vol-1");
  CHECK(
      Get<PersistentVolume>(
          R"({"kind":"PersistentVolume","metadata":{"annotations":{"volume.alpha.kubernetes.io/node-affinity":"{"}}})")
          ->annotation_affinity_bad);
  auto pvc = Get<PersistentVolumeClaim>(
      R"({"kind":"PersistentVolumeClaim","metadata":{"name":"c","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},
      "spec":{"volumeName":"pv","storageClassName":"","resources":{"requests":{"storage":"5Gi"}},"selector":{}}})");
  CHECK(pvc->bind_completed);
  CHECK(pvc->storage_class_name == "");
  CHECK(pvc->request.String() == "5Gi");
  CHECK(pvc->selector->selector.Empty());
  CHECK_FALSE(Get<PersistentVolumeClaim>(R"({"kind":"PersistentVolumeClaim"})")->selector);
  CHECK(Get<StorageClass>(
            R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","volumeBindingMode":"WaitForFirstConsumer"})")
            ->binding_mode == "WaitForFirstConsumer");
  CHECK(
      Get<PriorityClass>(R"({"apiVersion":"scheduling.k8s.io/v1alpha1","kind":"PriorityClass","value":1000})")->value ==
      1000);
  CHECK(Get<ConfigMap>(R"({"kind":"ConfigMap","data":{"policy.cfg":"{}"}})")->data.size() == 1);
}

TEST_CASE("kinds and versions that are not known are told apart from mistakes") {
  auto code = [](const std::string& json, std::string_view kind = {}) {
    return DecodeObject(Parsed(json).root(), kind).status().code();
  };
  CHECK(code(R"({"apiVersion":"v1","kind":"Secret"})") == absl::StatusCode::kNotFound);
  CHECK(code(R"({"apiVersion":"example.com/v1","kind":"Pod"})") == absl::StatusCode::kNotFound);
  CHECK(code(R"({"apiVersion":"apps/v1","kind":"Pod"})") == absl::StatusCode::kNotFound);
  CHECK(code(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget"})") == absl::StatusCode::kOk);
  CHECK(code(R"({"metadata":{"name":"p"}})", "Pod") == absl::StatusCode::kOk);
  CHECK(code(R"({"metadata":{"name":"p"}})") == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("the server's defaults are filled in only when asked for") {
  const std::string pod = R"({"metadata":{"name":"p"},"spec":{"hostNetwork":true,
      "containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"100m"}},"ports":[{"containerPort":80}]}],
      "volumes":[{"rbd":{"image":"i"}}]}})";
  PodPtr stored = PodOf(pod), posted = PodOf(pod, {.server_defaults = true});
  CHECK(stored->meta.Key() == "p");
  CHECK(stored->meta.uid.empty());
  CHECK(stored->tmpl->containers[0].requests.size() == 1);
  CHECK(stored->tmpl->containers[0].ports[0].host_port == 0);
  CHECK(posted->meta.Key() == "default/p");
  CHECK(posted->tmpl->ns == Symbol("default"));
  CHECK_FALSE(posted->meta.uid.empty());
  CHECK(Amount(posted->tmpl->containers[0].requests, "cpu").MilliValue() == 100);
  CHECK(Amount(posted->tmpl->containers[0].requests, "memory").String() == "1Gi");
  CHECK(posted->tmpl->containers[0].ports[0].host_port == 80);
  CHECK(posted->tmpl->volumes[0].pool == "rbd");
  const std::string node = R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})";
  CHECK(NodeOf(node)->allocatable.empty());
  CHECK(Amount(NodeOf(node, {.server_defaults = true})->allocatable, "cpu").Value() == 4);
  const std::string rs = R"({"apiVersion":"extensions/v1beta1","kind":"ReplicaSet","metadata":{"name":"r"},
      "spec":{"template":{"metadata":{"labels":{"app":"web"}}}}})";
  CHECK(Get<ReplicaSet>(rs)->selector.selector.MatchesNothing());
  CHECK(Get<ReplicaSet>(rs, {.server_defaults = true})->selector.selector.String() == "app=web");
  CHECK(Get<StorageClass>(R"({"kind":"StorageClass"})", {.server_defaults = true})->binding_mode == "Immediate");
}

TEST_CASE("raw JSON is kept where it is asked for, with what we do not read") {
  PodPtr pending = PodOf(R"({"metadata":{"name":"p"},"spec":{"odd":[1,{"x":"<"}]}})", {.keep_raw = true});
  REQUIRE(pending->raw != nullptr);
  CHECK(*pending->raw == R"({"metadata":{"name":"p"},"spec":{"odd":[1,{"x":"\u003c"}]}})");
  CHECK(PodOf(R"({"spec":{"nodeName":"n"}})", {.keep_raw = true})->raw == nullptr);
  CHECK(NodeOf(R"({"metadata":{"name":"n"}})", {.keep_raw = true})->raw == nullptr);
  CHECK(NodeOf(R"({"metadata":{"name":"n"}})", {.keep_node_raw = true})->raw != nullptr);
}

}  // namespace
}  // namespace berth::api
