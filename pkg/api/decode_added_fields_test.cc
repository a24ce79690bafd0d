// Tests the decoding of fields and kinds that were added after release 1.10.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/json.h"

namespace berth::api {
namespace {

template <typename T>
std::shared_ptr<const T> Decoded(const std::string& json) {
  INFO(json);
  Document document;
  REQUIRE(document.Parse(json).ok());
  auto object = DecodeObject(document.root());
  INFO(object.status().ToString());
  REQUIRE(object.ok());
  return std::get<std::shared_ptr<const T>>(*object);
}
PodPtr PodFrom(const std::string& members) {
  return Decoded<Pod>(R"({"apiVersion":"v1","kind":"Pod",)" + members + "}");
}
PodPtr PodWith(const std::string& spec) {
  return PodFrom(R"("metadata":{"name":"p","namespace":"shop"},"spec":{)" + spec + "}");
}

TEST_CASE("sidecars, overhead, gates and the preemption policy of a pod are read") {
  PodPtr pod = PodWith(R"("initContainers":[{"name":"a","restartPolicy":"Always"},{"name":"b"}],
      "overhead":{"cpu":"250m","memory":"64Mi"},"schedulingGates":[{"name":"x.io/a"},{"name":"b"}],
      "preemptionPolicy":"Never")");
  const PodTemplate& t = *pod->tmpl;
  REQUIRE(t.init_containers.size() == 2);
  CHECK(t.init_containers[0].restart_always);
  CHECK_FALSE(t.init_containers[1].restart_always);
  REQUIRE(t.overhead.size() == 2);
  CHECK(t.overhead[0].second.MilliValue() == 250);
  CHECK(t.scheduling_gates == std::vector<Symbol>{Symbol("x.io/a"), Symbol("b")});
  CHECK(t.never_preempts);
  CHECK_FALSE(PodWith(R"("preemptionPolicy":"PreemptLowerPriority")")->tmpl->never_preempts);
}

TEST_CASE("topology spread constraints are read with their defaults") {
  using Action = TopologySpreadConstraint::Action;
  PodPtr pod = PodWith(R"("topologySpreadConstraints":[
      {"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","minDomains":3,
       "labelSelector":{"matchLabels":{"app":"web"}},"nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor",
       "matchLabelKeys":["ver"]},
      {"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{}},
      {"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"Else","minDomains":null,"nodeAffinityPolicy":null}])");
  const auto& c = pod->tmpl->spread_constraints;
  REQUIRE(c.size() == 3);
  CHECK(c[0].max_skew == 2);
  CHECK(c[0].topology_key == Symbol("zone"));
  CHECK(c[0].action == Action::kDoNotSchedule);
  CHECK(c[0].min_domains == 3);
  CHECK(c[0].selector.selector.String() == "app=web");
  CHECK_FALSE(c[0].honor_node_affinity);
  CHECK(c[0].honor_node_taints);
  CHECK(c[0].match_label_keys == std::vector<Symbol>{Symbol("ver")});
  CHECK(c[1].action == Action::kScheduleAnyway);
  CHECK(c[1].selector.selector.Empty());
  CHECK(c[1].min_domains == 1);
  CHECK(c[1].honor_node_affinity);
  CHECK_FALSE(c[1].honor_node_taints);
  CHECK(c[2].action == Action::kOther);
  CHECK(c[2].selector.selector.MatchesNothing());
}

TEST_CASE("a namespace selector that is absent is told apart from an empty one") {
  PodPtr pod = PodWith(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
      {"topologyKey":"zone"},
      {"topologyKey":"zone","namespaceSelector":{}},
      {"topologyKey":"zone","namespaces":["b","a"],"namespaceSelector":{"matchLabels":{"env":"dev"}}}]}})");
  const auto& terms = pod->tmpl->affinity.pod->required;
  REQUIRE(terms.size() == 3);
  CHECK_FALSE(terms[0].namespace_selector);
  CHECK_FALSE(terms[0].namespaces_given);
  CHECK(terms[0].namespaces == std::vector<Symbol>{Symbol("shop")});
  REQUIRE(terms[1].namespace_selector);
  CHECK(terms[1].namespace_selector->selector.Empty());
  CHECK_FALSE(terms[1].namespaces_given);
  REQUIRE(terms[2].namespace_selector);
  CHECK(terms[2].namespace_selector->selector.String() == "env=dev");
  CHECK(terms[2].namespaces_given);
  CHECK(terms[2].namespaces.size() == 2);
}

TEST_CASE("matchFields are read beside matchExpressions, which stay all that release 1.10 sees") {
  PodPtr pod = PodWith(R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{
      "nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]},
        {"matchExpressions":[{"key":"gen","operator":"Gt","values":["x"]},{"key":"gen","operator":"Of"}],
         "matchFields":[{"key":"metadata.name","operator":"In","values":["a","b"]},{"key":"k","operator":"Gt"}]},
        {}]}}})");
  const auto& terms = pod->tmpl->affinity.node->required->terms;
  REQUIRE(terms.size() == 3);
  CHECK(terms[0].match.selector.MatchesNothing());
  CHECK_FALSE(terms[0].has_expressions);
  REQUIRE(terms[0].fields.size() == 1);
  CHECK(terms[0].fields[0].key == Symbol("metadata.name"));
  CHECK(terms[0].fields[0].values == std::vector<Symbol>{Symbol("n1")});
  CHECK(terms[0].problems.empty());
  CHECK(terms[1].has_expressions);
  CHECK(terms[1].problems ==
        std::vector<std::string>{
            "matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an "
            "integer",
            "matchExpressions[1].operator: Unsupported value: \"Of\"",
            "matchFields[0].values: Invalid value: []string{\"a\", \"b\"}: must have one element",
            "matchFields[1].operator: Unsupported value: \"Gt\""});
  CHECK_FALSE(terms[2].has_expressions);
  CHECK(terms[2].fields.empty());
}

TEST_CASE("a bad selector has the error of each release") {
  PodPtr pod = PodWith(R"("topologySpreadConstraints":[{"labelSelector":{"matchLabels":{"app":"x y"}}},
      {"labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}},
      {"labelSelector":{"matchExpressions":[{"key":"","operator":"In"}]}}])");
  const auto& c = pod->tmpl->spread_constraints;
  REQUIRE(c.size() == 3);
  CHECK(c[0].selector.error.starts_with("invalid label value: \"x y\": "));
  CHECK(c[0].selector.aggregated_error.starts_with("values[0][app]: Invalid value: \"x y\": a valid label must be"));
  CHECK(c[1].selector.error == "\"Near\" is not a valid pod selector operator");
  CHECK(c[1].selector.aggregated_error == "\"Near\" is not a valid label selector operator");
  CHECK(c[2].selector.aggregated_error.starts_with("[key: Invalid value: \"\": name part must be non-empty; "));
  CHECK(c[2].selector.aggregated_error.ends_with(
      ", values: Invalid value: []string{}: for 'in', 'notin' operators, values set can't be empty]"));
}

TEST_CASE("ephemeral and Cinder volumes keep their place among the others") {
  PodPtr pod = PodWith(R"("volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"c"}},
      {"ephemeral":{"volumeClaimTemplate":{}},"name":"scratch"},{"name":"x","emptyDir":{}},
      {"name":"d","azureDisk":{"diskName":"d1","diskURI":"/s/d1"}},{"name":"e","cinder":{"volumeID":"v"}},
      {"name":"f","csi":{"driver":"inline.example.com"}}])");
  const auto& v = pod->tmpl->volumes;
  REQUIRE(v.size() == 4);
  CHECK(v[0].id == "c");
  CHECK(v[1].kind == Volume::Kind::kEphemeral);
  CHECK(v[1].id == "scratch");
  CHECK(v[2].uri == "/s/d1");
  CHECK(v[3].kind == Volume::Kind::kCinder);
  CHECK(v[3].id == "v");
}

TEST_CASE("of a pod's status the start time and who preempted it are read") {
  PodPtr pod = PodFrom(R"("metadata":{"name":"p"},"status":{"startTime":"2024-01-24T20:00:17Z","conditions":[
      {"type":"PodScheduled","status":"True"},
      {"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"},
      {"type":"DisruptionTarget","status":"False"}]})");
  CHECK(pod->start_seconds == 1706126417);
  CHECK(pod->preempted_by_scheduler);
  REQUIRE(pod->scheduled);
  pod = PodFrom(R"("metadata":{"name":"p"},"status":{"startTime":null,"conditions":[
      {"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI"},
      {"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]})");
  CHECK_FALSE(pod->start_seconds);
  CHECK_FALSE(pod->preempted_by_scheduler);
}

TEST_CASE("templates that differ in any later field are not shared") {
  const std::vector<std::string> specs = {
      R"("containers":[])",
      R"("overhead":{"cpu":"1"})",
      R"("schedulingGates":[{"name":"a"}])",
      R"("preemptionPolicy":"Never")",
      R"("initContainers":[{}])",
      R"("initContainers":[{"restartPolicy":"Always"}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a"}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","maxSkew":2}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","minDomains":2}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","nodeAffinityPolicy":"Ignore"}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","nodeTaintsPolicy":"Honor"}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","matchLabelKeys":["k"]}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule"}])",
      R"("topologySpreadConstraints":[{"topologyKey":"a","labelSelector":{}}])",
      R"("volumes":[{"ephemeral":{},"name":"a"}])",
      R"("volumes":[{"ephemeral":{},"name":"b"}])",
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a"}]}})",
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"a","namespaceSelector":{}}]}})",
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
          {"topologyKey":"a","namespaces":["shop"]}]}})",
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{}]}}})",
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}})",
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
          {"matchFields":[{"key":"metadata.name","operator":"In","values":["n2"]}]}]}}})",
  };
  std::vector<PodPtr> pods;
  for (const std::string& spec : specs) pods.push_back(PodWith(spec));
  for (size_t i = 0; i < specs.size(); ++i) {
    INFO(specs[i]);
    CHECK(PodWith(specs[i])->tmpl == pods[i]->tmpl);
    for (size_t j = i + 1; j < specs.size(); ++j) {
      INFO(specs[j]);
      CHECK(pods[i]->tmpl != pods[j]->tmpl);
    }
  }
}

TEST_CASE("volumes, claims and classes carry what CSI needs") {
  auto pv = Decoded<PersistentVolume>(R"({"apiVersion":"v1","kind":"PersistentVolume","spec":{
      "csi":{"driver":"csi.example.com","volumeHandle":"h"}},"status":{"phase":"Available"}})");
  CHECK(pv->source == PersistentVolume::Source::kCsi);
  CHECK(pv->csi_driver == Symbol("csi.example.com"));
  CHECK(pv->source_id == "h");
  CHECK(pv->phase == "Available");
  auto disk = Decoded<PersistentVolume>(R"({"apiVersion":"v1","kind":"PersistentVolume","spec":{
      "azureDisk":{"diskName":"d","diskURI":"/u"}}})");
  CHECK(disk->source_uri == "/u");
  auto claim =
      Decoded<PersistentVolumeClaim>(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c",
      "annotations":{"volume.kubernetes.io/selected-node":"n1"},
      "ownerReferences":[{"kind":"X","uid":"u0"},{"kind":"Pod","uid":"u1","controller":true}]},
      "spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Lost"}})");
  CHECK(claim->selected_node == "n1");
  CHECK(claim->controller_uid == "u1");
  CHECK(claim->has_request);
  CHECK(claim->phase == "Lost");
  auto sc =
      Decoded<StorageClass>(R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","provisioner":"p.example.com",
      "allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["b","a"]}]},{}]})");
  CHECK(sc->provisioner == "p.example.com");
  REQUIRE(sc->allowed_topologies.size() == 2);
  REQUIRE(sc->allowed_topologies[0].expressions.size() == 1);
  CHECK(sc->allowed_topologies[0].expressions[0].first == Symbol("zone"));
  CHECK(sc->allowed_topologies[0].expressions[0].second.size() == 2);
  CHECK(sc->allowed_topologies[1].expressions.empty());
}

TEST_CASE("CSI's own kinds, attachments, namespaces and budgets are read") {
  auto node = Decoded<CsiNode>(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n1",
      "annotations":{"storage.alpha.kubernetes.io/migrated-plugins":"kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}},
      "spec":{"drivers":[{"name":"a","allocatable":{"count":3}},{"name":"b"}]}})");
  CHECK(node->migrated_plugins == std::vector<Symbol>{Symbol("kubernetes.io/aws-ebs"), Symbol("kubernetes.io/gce-pd")});
  REQUIRE(node->drivers.size() == 2);
  CHECK(node->drivers[0].limit == 3);
  CHECK_FALSE(node->drivers[1].limit);
  CHECK(Decoded<CsiDriver>(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSIDriver","spec":{"storageCapacity":true}})")
            ->storage_capacity);
  auto capacity = Decoded<CsiStorageCapacity>(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSIStorageCapacity",
      "metadata":{"name":"c","namespace":"kube-system"},"storageClassName":"fast","capacity":"10Gi",
      "nodeTopology":{"matchLabels":{"zone":"a"}}})");
  CHECK(capacity->storage_class_name == Symbol("fast"));
  CHECK(capacity->capacity->String() == "10Gi");
  CHECK_FALSE(capacity->maximum_volume_size);
  CHECK(capacity->node_topology->selector.String() == "zone=a");
  auto attachment = Decoded<VolumeAttachment>(R"({"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","spec":{
      "attacher":"a","nodeName":"n1","source":{"persistentVolumeName":"pv"}}})");
  CHECK(attachment->attacher == Symbol("a"));
  CHECK(attachment->node_name == Symbol("n1"));
  CHECK(attachment->volume_name == "pv");
  CHECK(Decoded<Namespace>(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":{"env":"dev"}}})")
            ->labels.Has(Symbol("env")));
  auto budget = Decoded<PodDisruptionBudget>(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget",
      "status":{"disruptionsAllowed":2,"disruptedPods":{"b":"2024-01-10T21:39:09Z","a":"2024-01-10T21:39:09Z"}}})");
  CHECK(budget->disrupted_pods == std::vector<std::string>{"a", "b"});
}

}  // namespace
}  // namespace berth::api
