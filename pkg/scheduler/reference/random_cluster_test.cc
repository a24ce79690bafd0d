// Random objects of release 1.10. Names and values are chosen so that rules meet each of their cases: equal and
// different, present and absent, valid and invalid.
#include "pkg/scheduler/reference/random_cluster.h"

#include <algorithm>

namespace berth::scheduler::reference {
namespace {

using util::Symbol;

constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr char kZone[] = "failure-domain.beta.kubernetes.io/zone";
constexpr char kRegion[] = "failure-domain.beta.kubernetes.io/region";

api::Quantity Q(const std::string& text) {
  return api::Quantity::Parse(text).value();
}

using Pairs = std::vector<std::pair<Symbol, Symbol>>;
void Put(Pairs* pairs, const std::string& key, const std::string& value) {
  pairs->emplace_back(Symbol(key), Symbol(value));
}

api::Labels RandomPodLabels(Random* r) {
  Pairs pairs;
  if (r->Chance(85)) Put(&pairs, "app", r->Of({"web", "db", "mq"}));
  if (r->Chance(40)) Put(&pairs, "tier", r->Of({"front", "back"}));
  if (r->Chance(5)) Put(&pairs, "a b", "c d");  // not a valid label (B-35)
  return api::Labels(pairs);
}

api::DecidedSelector Selecting(std::vector<api::Requirement> requirements) {
  return {api::Selector(std::move(requirements)), {}};
}
api::Requirement Require(const std::string& key, api::Operator op, std::vector<std::string> values) {
  std::vector<Symbol> symbols(values.begin(), values.end());
  return api::Requirement::Make(Symbol(key), op, symbols).value();
}

api::DecidedSelector RandomLabelSelector(Random* r, int mistakes) {
  if (r->Chance(mistakes)) {
    return {api::Selector::Nothing(), "\"" + r->Of({"Near", "Far"}) + "\" is not a valid pod selector operator"};
  }
  switch (r->Below(12)) {
    case 0:
      return {api::Selector::Everything(), {}};
    case 1:
      return {};  // matches no pods
    case 2:
      return Selecting({Require("app", api::Operator::kExists, {})});
    case 3:
      return Selecting({Require("tier", api::Operator::kDoesNotExist, {})});
    case 4:
      return Selecting({Require("app", api::Operator::kNotIn, {r->Of({"web", "db", "mq"})})});
    case 5:
      return Selecting({Require("app", api::Operator::kIn, {"web", "db"})});
    case 6:
      return Selecting({Require("app", api::Operator::kIn, {r->Of({"web", "db"})}),
                        Require("tier", api::Operator::kIn, {r->Of({"front", "back"})})});
    default:
      return Selecting({Require("app", api::Operator::kIn, {r->Of({"web", "db", "mq"})})});
  }
}

api::PodAffinityTerm RandomPodTerm(Random* r, const Character& c, Symbol own_namespace) {
  api::PodAffinityTerm t;
  t.selector = RandomLabelSelector(r, c.mistakes);
  t.namespaces = {own_namespace};
  if (r->Chance(20)) t.namespaces = {Symbol(r->Of({"default", "other"}))};
  if (r->Chance(10)) t.namespaces = {Symbol("default"), Symbol("other")};
  std::sort(t.namespaces.begin(), t.namespaces.end());
  t.topology_key = Symbol(r->Of({kHostname, kHostname, kZone, kZone, "rack", "rack", kRegion, "nowhere"}));
  if (r->Chance(c.mistakes)) t.topology_key = Symbol();
  return t;
}

api::PodAffinity RandomPodAffinity(Random* r, const Character& c, Symbol ns) {
  api::PodAffinity a;
  for (int n = r->Below(3); n > 0; --n) a.required.push_back(RandomPodTerm(r, c, ns));
  for (int n = r->Below(3); n > 0; --n) a.preferred.push_back({r->Below(101), RandomPodTerm(r, c, ns)});
  return a;
}

api::NodeSelectorTerm RandomNodeTerm(Random* r, int mistakes) {
  if (r->Chance(mistakes)) {
    std::string op = r->Of({"Near", "Far"});
    return {{api::Selector::Nothing(), "\"" + op + "\" is not a valid node selector operator"}};
  }
  switch (r->Below(8)) {
    case 0:
      return {};  // a term without expressions matches no nodes
    case 1:
      return {Selecting({Require("rack", api::Operator::kExists, {})})};
    case 2:
      return {Selecting({Require("disk", api::Operator::kNotIn, {"hdd"})})};
    case 3:
      return {Selecting({Require("size", api::Operator::kGreaterThan, {r->Of({"0", "1", "2"})})})};
    case 4:
      return {Selecting({Require("size", api::Operator::kLessThan, {r->Of({"2", "3"})})})};
    case 5:
      return {Selecting({Require("rack", api::Operator::kDoesNotExist, {})})};
    default:
      return {Selecting({Require(kZone, api::Operator::kIn, {r->Of({"z1", "z2"}), "z3"})})};
  }
}

api::ResourceList RandomRequests(Random* r, const Character& c, bool node) {
  api::ResourceList list;
  auto add = [&](const char* name, const std::string& text) {
    std::erase_if(list, [&](const auto& e) { return e.first.str() == name; });
    list.emplace_back(Symbol(name), Q(text));
  };
  if (node) {
    if (r->Chance(96)) add("cpu", r->Of({"2", "4", "4000m", "8", "0", "2.5"}));
    if (r->Chance(96)) add("memory", r->Of({"4Gi", "8Gi", "3G", "16Gi", "0"}));
    if (r->Chance(96)) add("pods", r->Of({"3", "6", "10", "110"}));
    if (r->Chance(40)) add("ephemeral-storage", r->Of({"1Gi", "10Gi"}));
    if (r->Chance(30)) add("alpha.kubernetes.io/nvidia-gpu", r->Of({"1", "2"}));
    if (r->Chance(30)) add("example.com/fpga", r->Of({"1", "2", "5"}));
    if (r->Chance(20)) add("hugepages-2Mi", r->Of({"64Mi", "1Gi"}));
    if (r->Chance(c.absurd)) add("memory", r->Of({"9E", "8Ei"}));
    return list;
  }
  if (r->Chance(70)) add("cpu", r->Of({"100m", "250m", "500m", "1", "0", "1.5", "333m"}));
  if (r->Chance(60)) add("memory", r->Of({"128Mi", "512Mi", "1Gi", "0", "2G", "1"}));
  if (r->Chance(8)) add("ephemeral-storage", r->Of({"512Mi", "2Gi"}));
  if (r->Chance(6)) add("alpha.kubernetes.io/nvidia-gpu", "1");
  if (r->Chance(10)) add("example.com/fpga", r->Of({"1", "2", "0"}));
  if (r->Chance(5)) add("hugepages-2Mi", "32Mi");
  if (r->Chance(4)) add("storage", "1Gi");  // a resource that the scheduler does not count
  if (r->Chance(c.absurd)) add("memory", r->Of({"6E", "10E", "7Ei"}));
  if (r->Chance(c.absurd)) add("cpu", r->Of({"10P", "9E"}));
  return list;
}

api::Volume RandomVolumeUse(Random* r, const Character& c) {
  using Kind = api::Volume::Kind;
  api::Volume v;
  std::vector<Kind> kinds = {Kind::kGcePd,     Kind::kAwsEbs, Kind::kIscsi, Kind::kRbd,
                             Kind::kAzureDisk, Kind::kClaim,  Kind::kClaim, Kind::kClaim};
  v.kind = r->Of(kinds);
  v.read_only = r->Chance(50);
  v.id = "disk-" + std::to_string(r->Below(4));
  if (v.kind == Kind::kRbd) {
    v.pool = r->Of({"p", "q"});
    v.monitors = {r->Of({"m1", "m2"}), r->Of({"m2", "m3"})};
  }
  if (v.kind == Kind::kClaim) {
    v.id = r->Chance(c.mistakes) ? std::string() : "claim-" + std::to_string(r->Below(kClaims));
    v.read_only = false;
  }
  return v;
}

template <typename T>
std::shared_ptr<T> Named(const std::string& name, const std::string& ns) {
  auto o = std::make_shared<T>();
  o->meta.name = name;
  o->meta.ns = Symbol(ns);
  o->meta.uid = "uid-" + ns + "-" + name;
  return o;
}

std::string RandomNamespace(Random* r) {
  return r->Chance(75) ? "default" : "other";
}

}  // namespace

Character::Character(Random* r)
    : pod_affinity(r->Of(std::vector<int>{0, 15, 50})),
      node_affinity(r->Of(std::vector<int>{0, 30})),
      volumes(r->Of(std::vector<int>{0, 0, 30})),
      ports(r->Of(std::vector<int>{0, 25})),
      taints(r->Of(std::vector<int>{0, 30})),
      conditions(r->Of(std::vector<int>{0, 3, 15})),
      odd_labels(r->Of(std::vector<int>{0, 15})),
      owners(r->Of(std::vector<int>{0, 60})),
      priorities(r->Of(std::vector<int>{0, 70, 100})),
      mistakes(r->Of(std::vector<int>{0, 0, 0, 4, 12})),
      absurd(r->Of(std::vector<int>{0, 0, 0, 5})) {}

// Numbers have no leading zeros, so that the order of names is not that of numbers.
std::string NodeName(int number) {
  return "node-" + std::to_string(number);
}

api::NodePtr RandomNode(Random* r, const Character& c, int number) {
  auto n = std::make_shared<api::Node>();
  n->meta.name = NodeName(number);
  n->meta.uid = "uid-" + n->meta.name;
  Pairs labels;
  if (!r->Chance(c.odd_labels)) Put(&labels, kHostname, n->meta.name);
  if (r->Chance(c.odd_labels / 2)) Put(&labels, kHostname, NodeName(0));
  if (!r->Chance(c.odd_labels)) Put(&labels, kZone, "z" + std::to_string(number % 3 + 1));
  if (r->Chance(c.odd_labels)) Put(&labels, kZone, r->Of({"", "z1"}));
  if (!r->Chance(c.odd_labels)) Put(&labels, kRegion, number < 8 ? "r1" : "r2");
  if (r->Chance(80))
    Put(&labels, "rack", c.uniform ? "rack-" + std::to_string(number / 2) : r->Of({"a", "b", "c", "d"}));
  if (r->Chance(50)) Put(&labels, "disk", r->Of({"ssd", "hdd"}));
  if (r->Chance(60)) Put(&labels, "size", r->Of({"1", "2", "3", "large"}));
  n->labels = api::Labels(labels);
  n->allocatable = RandomRequests(r, c, true);
  if (c.uniform && r->Chance(95)) {
    n->allocatable = {{Symbol("cpu"), Q("8")}, {Symbol("memory"), Q("32Gi")}, {Symbol("pods"), Q("20")}};
  }
  n->unschedulable = r->Chance(c.conditions);
  std::vector<api::NodeCondition> conditions;
  auto condition = [&](const char* type, const std::string& status) {
    conditions.push_back({Symbol(type), Symbol(status)});
  };
  if (r->Chance(97)) condition("Ready", r->Chance(c.conditions) ? r->Of({"False", "Unknown"}) : "True");
  for (const char* type : {"OutOfDisk", "NetworkUnavailable", "MemoryPressure", "DiskPressure"}) {
    if (r->Chance(30)) condition(type, r->Chance(c.conditions) ? r->Of({"True", "Unknown"}) : "False");
  }
  if (r->Chance(c.conditions / 2)) condition("MemoryPressure", r->Of({"True", "False"}));
  if (r->Chance(c.conditions / 2)) condition("Ready", "False");
  n->conditions = conditions;
  std::vector<api::Taint> taints;
  while (r->Chance(c.taints)) {
    taints.push_back({Symbol(r->Of({"dedicated", "maintenance"})), Symbol(r->Of({"", "gpu", "web"})),
                      Symbol(r->Of({"NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"}))});
  }
  n->taints = std::move(taints);
  std::vector<api::NodeImage> images;
  for (int i = r->Below(4); i > 0; --i) {
    images.push_back({{Symbol(r->Of({"nginx", "redis"})), Symbol(r->Of({"nginx:1", "big"}))},
                      int64_t{1024} * 1024 * r->Between(5, 700)});
  }
  n->images = api::NodeImages(std::move(images));
  if (r->Chance(30)) {
    n->avoid_pods = {
        {Symbol(r->Of({"ReplicaSet", "ReplicationController"})), r->Of({"owner-1", "owner-2"}), r->Chance(80)}};
  }
  return n;
}

std::shared_ptr<const api::PodTemplate> RandomTemplate(Random* r, const Character& c) {
  api::PodTemplate t;
  t.ns = Symbol(RandomNamespace(r));
  t.labels = RandomPodLabels(r);
  t.scheduler_name = Symbol("default-scheduler");
  if (r->Chance(50)) {
    t.controller = api::OwnerReference{Symbol("v1"), Symbol(r->Of({"ReplicaSet", "ReplicationController", "Job"})),
                                       "owner", r->Of({"owner-1", "owner-2"}), true};
  }
  if (r->Chance(c.priorities)) t.priority = r->Of(std::vector<int>{-5, 0, 1, 10, 100, 2000000000});
  if (r->Chance(20)) {
    Pairs selector;
    if (r->Chance(60)) Put(&selector, "disk", r->Of({"ssd", "hdd"}));
    if (r->Chance(30)) Put(&selector, "rack", r->Of({"a", "b"}));
    if (r->Chance(10)) Put(&selector, "bad key", "x");
    t.node_selector = api::Labels(selector);
  }
  if (r->Chance(c.node_affinity)) {
    t.affinity.node.emplace();
    if (r->Chance(50)) {
      t.affinity.node->required.emplace();
      for (int n = r->Below(4); n > 0; --n) t.affinity.node->required->terms.push_back(RandomNodeTerm(r, c.mistakes));
    }
    for (int n = r->Below(3); n > 0; --n) {
      t.affinity.node->preferred.push_back({r->Below(100), RandomNodeTerm(r, c.mistakes)});
    }
  }
  if (r->Chance(c.pod_affinity)) t.affinity.pod = RandomPodAffinity(r, c, t.ns);
  if (r->Chance(c.pod_affinity)) t.affinity.pod_anti = RandomPodAffinity(r, c, t.ns);
  t.has_affinity = t.affinity.node || t.affinity.pod || t.affinity.pod_anti;
  while (r->Chance(c.taints)) {
    t.tolerations.push_back(
        {Symbol(r->Of({"dedicated", "maintenance", ""})), Symbol(r->Of({"", "Equal", "Exists", "Exists", "Like"})),
         Symbol(r->Of({"", "gpu", "web"})), Symbol(r->Of({"", "NoSchedule", "NoExecute", "PreferNoSchedule"}))});
  }
  for (int n = r->Chance(3) ? 0 : r->Between(1, 2); n > 0; --n) {
    api::Container container;
    container.image = Symbol(r->Of({"nginx", "redis", "nginx:1", "big", "none"}));
    container.requests = RandomRequests(r, c, false);
    if (r->Chance(40)) container.limits = RandomRequests(r, c, false);
    while (r->Chance(c.ports)) {
      container.ports.push_back({Symbol(r->Of({"", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"})),
                                 Symbol(r->Of({"", "TCP", "UDP"})), r->Of(std::vector<int>{0, 80, 80, 81}), 80});
    }
    t.containers.push_back(container);
  }
  if (r->Chance(20)) {
    api::Container init;
    init.requests = RandomRequests(r, c, false);
    init.limits = RandomRequests(r, c, false);
    t.init_containers.push_back(init);
  }
  while (r->Chance(c.volumes)) t.volumes.push_back(RandomVolumeUse(r, c));
  return api::PodTemplate::Intern(std::move(t));
}

std::shared_ptr<const api::PodTemplate> RandomSibling(Random* r, const Character& c, const api::PodTemplate& like) {
  Character odd = c;  // with the features that the cluster may not have
  odd.node_affinity = odd.pod_affinity = odd.ports = odd.taints = 50;
  auto other = RandomTemplate(r, odd);
  api::PodTemplate t = like;
  bool both = !t.containers.empty() && !other->containers.empty();
  switch (r->Below(13)) {
    case 0:
      t.labels = other->labels;
      break;
    case 1:
      t.controller = other->controller;
      break;
    case 2:
      t.priority = other->priority;
      break;
    case 3:
      t.node_selector = other->node_selector;
      break;
    case 4:
      t.affinity.node = other->affinity.node;
      break;
    case 5:
      t.affinity.pod = other->affinity.pod;
      break;
    case 6:
      t.affinity.pod_anti = other->affinity.pod_anti;
      break;
    case 7:
      // The number of tolerations stays, so that a comparison of numbers does not tell the templates apart.
      if (!other->tolerations.empty()) {
        t.tolerations.resize(std::max<size_t>(1, t.tolerations.size()));
        for (api::Toleration& toleration : t.tolerations) toleration = r->Of(other->tolerations);
      }
      break;
    case 8:
      t.init_containers = other->init_containers;
      break;
    case 9:
      if (both) t.containers[0].requests = other->containers[0].requests;
      break;
    case 10:
      if (both) t.containers[0].limits = other->containers[0].limits;
      break;
    case 11:
      if (both) t.containers[0].image = other->containers[0].image;
      break;
    default:
      for (api::Container& container : t.containers) {
        for (api::ContainerPort& port : container.ports) port.host_port = port.host_port == 80 ? 81 : 80;
      }
      break;
  }
  // Affinity terms without namespaces have the pod's own, which the decoder fills in.
  for (auto* a : {&t.affinity.pod, &t.affinity.pod_anti}) {
    if (!*a) continue;
    for (auto& term : (*a)->required) term.namespaces = {t.ns};
    for (auto& term : (*a)->preferred) term.term.namespaces = {t.ns};
  }
  t.has_affinity = t.affinity.node || t.affinity.pod || t.affinity.pod_anti;
  return api::PodTemplate::Intern(std::move(t));
}

std::shared_ptr<api::Pod> NewPod(int number, const std::shared_ptr<const api::PodTemplate>& tmpl) {
  auto p = std::make_shared<api::Pod>();
  p->meta.name = "pod-" + std::to_string(number);
  p->meta.ns = tmpl->ns;
  p->meta.uid = "uid-" + std::to_string(number);
  p->tmpl = tmpl;
  return p;
}

std::shared_ptr<const api::Service> RandomService(Random* r, int number) {
  auto s = Named<api::Service>("service-" + std::to_string(number), RandomNamespace(r));
  if (r->Chance(92)) {
    Pairs pairs;
    if (r->Chance(92)) Put(&pairs, "app", r->Of({"web", "db", "mq"}));
    if (r->Chance(10)) Put(&pairs, "a b", "c d");
    s->selector = api::Labels(pairs);
  }
  return s;
}
std::shared_ptr<const api::ReplicationController> RandomReplicationController(Random* r, int number) {
  auto o = Named<api::ReplicationController>("rc-" + std::to_string(number), RandomNamespace(r));
  Pairs pairs;
  if (r->Chance(90)) Put(&pairs, "app", r->Of({"web", "db"}));
  o->selector = api::Labels(pairs);
  return o;
}
std::shared_ptr<const api::ReplicaSet> RandomReplicaSet(Random* r, int number) {
  auto o = Named<api::ReplicaSet>("rs-" + std::to_string(number), RandomNamespace(r));
  o->selector = RandomLabelSelector(r, 10);
  return o;
}
std::shared_ptr<const api::StatefulSet> RandomStatefulSet(Random* r, int number) {
  auto o = Named<api::StatefulSet>("sts-" + std::to_string(number), RandomNamespace(r));
  o->selector = RandomLabelSelector(r, 10);
  return o;
}

std::shared_ptr<const api::PersistentVolume> RandomVolume(Random* r, int number) {
  using Source = api::PersistentVolume::Source;
  auto v = Named<api::PersistentVolume>("volume-" + std::to_string(number), "");
  Pairs labels;
  if (r->Chance(40)) Put(&labels, kZone, r->Of({"z1", "z2", "z1__z2", "z3__", "z2__z3"}));
  if (r->Chance(20)) Put(&labels, kRegion, r->Of({"r1", "r2"}));
  if (r->Chance(30)) Put(&labels, "app", "web");
  v->labels = api::Labels(labels);
  if (r->Chance(95)) v->capacity = Q(r->Of({"1Gi", "2Gi", "5Gi", "1024Mi"}));
  v->access_modes = {Symbol("ReadWriteOnce")};
  if (r->Chance(30)) v->access_modes.push_back(Symbol("ReadOnlyMany"));
  v->storage_class_name = r->Of({"", "class-0", "class-1", "class-0"});
  if (r->Chance(10)) v->class_annotation = r->Of({"class-0", "class-1"});
  if (r->Chance(25)) {
    std::string claim = "claim-" + std::to_string(r->Below(kClaims));
    std::string ns = RandomNamespace(r);
    v->claim_ref = api::PersistentVolume::ClaimRef{ns, claim, r->Chance(50) ? "" : "uid-" + ns + "-" + claim};
  }
  if (r->Chance(30)) v->node_affinity.push_back(RandomNodeTerm(r, 0));
  if (r->Chance(10)) v->node_affinity.push_back(RandomNodeTerm(r, 0));
  if (r->Chance(10)) v->annotation_affinity.push_back(RandomNodeTerm(r, 0));
  v->annotation_affinity_bad = r->Chance(3);
  if (r->Chance(5)) v->meta.deletion_seconds = 1;
  v->source = r->Of(std::vector<Source>{Source::kOther, Source::kGcePd, Source::kAwsEbs, Source::kAzureDisk});
  v->source_id = "disk-" + std::to_string(r->Below(4));
  return v;
}

std::shared_ptr<const api::PersistentVolumeClaim> RandomClaim(Random* r, const Character& c, int number) {
  auto o = Named<api::PersistentVolumeClaim>("claim-" + std::to_string(number), RandomNamespace(r));
  if (r->Chance(60)) o->volume_name = "volume-" + std::to_string(r->Below(8));
  if (r->Chance(85)) o->storage_class_name = r->Of({"class-0", "class-1", "class-0"});
  if (r->Chance(10)) o->class_annotation = "class-0";
  o->access_modes = {Symbol(r->Of({"ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany"}))};
  o->request = Q(r->Of({"1Gi", "512Mi", "2Gi", "0"}));
  if (r->Chance(15)) o->selector = RandomLabelSelector(r, 0);
  if (r->Chance(c.mistakes)) o->meta.deletion_seconds = 1;
  return o;
}

std::shared_ptr<const api::StorageClass> RandomStorageClass(Random* r, const Character& c, int number) {
  auto o = Named<api::StorageClass>("class-" + std::to_string(number), "");
  if (!r->Chance(c.mistakes)) o->binding_mode = r->Chance(85) ? "WaitForFirstConsumer" : "Immediate";
  return o;
}

std::shared_ptr<const api::PodDisruptionBudget> RandomBudget(Random* r, int number) {
  auto o = Named<api::PodDisruptionBudget>("budget-" + std::to_string(number), RandomNamespace(r));
  o->has_selector = r->Chance(90);
  if (o->has_selector) o->selector = RandomLabelSelector(r, 5);
  o->disruptions_allowed = r->Of(std::vector<int>{0, 0, 1, -1});
  return o;
}

Policy RandomPolicy(Random* r, bool taint_nodes_by_condition, bool resource_limits, Settings* s) {
  Policy policy;
  policy.predicates.emplace();
  policy.priorities.emplace();
  auto predicate = [&](PredicateKey key) {
    PredicatePolicy p;
    p.name = key.name;
    if (key.service_affinity) p.argument.emplace().service_affinity.emplace().labels = *key.service_affinity;
    if (key.labels_presence) p.argument.emplace().labels_presence = {*key.labels_presence, key.presence};
    policy.predicates->push_back(p);
    s->predicates.push_back(std::move(key));
  };
  std::vector<std::string> names = {"GeneralPredicates",       "HostName",
                                    "PodFitsHostPorts",        "PodFitsPorts",
                                    "MatchNodeSelector",       "PodFitsResources",
                                    "NoDiskConflict",          "MaxEBSVolumeCount",
                                    "MaxGCEPDVolumeCount",     "MaxAzureDiskVolumeCount",
                                    "CheckVolumeBinding",      "NoVolumeZoneConflict",
                                    "CheckNodeMemoryPressure", "CheckNodeDiskPressure",
                                    "MatchInterPodAffinity",   "PodToleratesNodeTaints"};
  int some = r->Of(std::vector<int>{15, 50, 90});
  for (const std::string& name : names) {
    if (r->Chance(some)) predicate({name, {}, {}, false});
  }
  if (!taint_nodes_by_condition && r->Chance(50)) predicate({"CheckNodeCondition", {}, {}, false});
  using Names = std::vector<std::string>;
  if (r->Chance(20)) predicate({"CheckServiceAffinity", Names{"rack"}, {}, false});
  if (r->Chance(20)) predicate({"AcrossZones", Names{kZone, "disk", "disk"}, {}, false});
  if (r->Chance(20)) predicate({"CheckNodeLabelPresence", {}, Names{"rack"}, true});
  if (r->Chance(20)) predicate({"0-no-disk-label", {}, Names{"nowhere", "disk"}, false});
  // The mandatory predicate is added when the Policy does not name it.
  std::string mandatory = taint_nodes_by_condition ? "PodToleratesNodeTaints" : "CheckNodeCondition";
  if (std::none_of(s->predicates.begin(), s->predicates.end(), [&](const auto& k) { return k.name == mandatory; })) {
    s->predicates.push_back({mandatory, {}, {}, false});
  }

  auto priority = [&](PriorityKey key) {
    key.weight = r->Of(std::vector<int>{1, 1, 2, 5, 100});
    PriorityPolicy p;
    p.name = key.name;
    p.weight = key.weight;
    if (key.service_anti_affinity)
      p.argument.emplace().service_anti_affinity.emplace().label = *key.service_anti_affinity;
    if (key.label_preference) p.argument.emplace().label_preference = {*key.label_preference, key.presence};
    policy.priorities->push_back(p);
    s->priorities.push_back(std::move(key));
  };
  some = r->Of(std::vector<int>{0, 40, 100});
  for (const char* name :
       {"SelectorSpreadPriority", "ServiceSpreadingPriority", "InterPodAffinityPriority", "LeastRequestedPriority",
        "MostRequestedPriority", "BalancedResourceAllocation", "NodePreferAvoidPodsPriority", "NodeAffinityPriority",
        "TaintTolerationPriority", "ImageLocalityPriority", "EqualPriority"}) {
    if (r->Chance(some)) priority({name, 1, {}, {}, false});
  }
  if (resource_limits && r->Chance(60)) priority({"ResourceLimitsPriority", 1, {}, {}, false});
  if (r->Chance(some)) priority({"ZoneSpread", 1, std::string(kZone), {}, false});
  if (r->Chance(some)) priority({"RackSpread", 1, std::string("rack"), {}, false});
  if (r->Chance(some)) priority({"LikesSsd", 1, {}, std::string("disk"), r->Chance(50)});

  s->always_check_all = policy.always_check_all_predicates = r->Chance(35);
  s->hard_pod_affinity_weight = r->Of(std::vector<int>{1, 7, 100});
  policy.hard_pod_affinity_symmetric_weight = s->hard_pod_affinity_weight;
  return policy;
}

std::vector<uint64_t> Seeds(int count) {
  if (const char* one = std::getenv("BERTH_RANDOM_SEED")) return {std::strtoull(one, nullptr, 10)};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // Sanitizers look for misuse of memory and threads, which fewer clusters show as well. Decisions are compared without
  // them.
  count = (count + 2) / 3;
#endif
  if (const char* runs = std::getenv("BERTH_RANDOM_RUNS")) count = std::atoi(runs);
  std::vector<uint64_t> seeds;
  for (int i = 1; i <= count; ++i) seeds.push_back(static_cast<uint64_t>(i));
  return seeds;
}

}  // namespace berth::scheduler::reference
