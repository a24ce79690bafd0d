// The queueing hints of 1.36, plugin by plugin, in the words of its queue table: a pod that the plugin has rejected, an
// event with its object before and after, and whether the pod is queued or skipped.
#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/releases/v1_36/decides.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using HintEvent = ClusterEvent::Kind;
using enum ClusterEvent::Kind;

constexpr bool kQueue = true, kSkip = false;

struct HintRow {
  std::string what;
  api::PodPtr pod;
  HintEvent kind;
  EventObjects objects;
  bool queues;
};

void CheckHints(const std::string& plugin, const std::vector<HintRow>& rows) {
  static const Registry registry = RegisteredAlgorithms(releases::v1_36::Decides());
  const QueueingHint& hint = registry.hints().at(plugin);
  for (const HintRow& row : rows) {
    CAPTURE(plugin, row.what);
    CHECK(hint(*row.pod, {row.kind, row.objects}) == row.queues);
  }
  // An object that an event lacks is taken for one that helps.
  CHECK(hint(*rows[0].pod, {kNodeAdd}));
}

EventObjects OfNode(api::NodePtr before, api::NodePtr after) {
  return EventObject<api::Node>{std::move(before), std::move(after)};
}
EventObjects OfPod(api::PodPtr before, api::PodPtr after) {
  return EventObject<api::Pod>{std::move(before), std::move(after)};
}
template <typename T, typename F>
std::shared_ptr<const T> Made(F fill) {
  auto object = std::make_shared<T>();
  fill(object.get());
  return object;
}
// Returns a pod on node n.
api::PodPtr OnNode(std::string_view name, std::string_view spec = "'containers':[]", std::string_view labels = {}) {
  return PodOf(name, Cat("'nodeName':'n',", spec), labels);
}
std::string Ports(std::string_view port) {
  return Asks("", Cat("'ports':[{'containerPort':80,", port, "}]"));
}
std::string ClaimVolume(std::string_view claim) {
  return Cat("'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'", claim, "'}}]");
}
EventObjects OfClaim(std::string_view ns, std::string_view name) {
  return EventObject<api::PersistentVolumeClaim>{nullptr, Made<api::PersistentVolumeClaim>([&](auto* c) {
                                                   c->meta.ns = util::SharedSymbol(ns);
                                                   c->meta.name = std::string(name);
                                                 })};
}

}  // namespace

TEST_CASE("hints: NodeUnschedulable queues when a node is, or became, schedulable") {
  const api::PodPtr p = PodOf("p");
  const api::NodePtr open = NodeOf("n"), closed = NodeOf("n", "", "'unschedulable':true");
  CheckHints("NodeUnschedulable", {{"new and open", p, kNodeAdd, OfNode(nullptr, open), kQueue},
                                   {"new and cordoned", p, kNodeAdd, OfNode(nullptr, closed), kSkip},
                                   {"uncordoned", p, kNodeBecameSchedulable, OfNode(closed, open), kQueue},
                                   {"other taints", p, kNodeTaints, OfNode(open, open), kSkip},
                                   {"cordoned", p, kNodeTaints, OfNode(open, closed), kSkip},
                                   {"its own tolerations", p, kOwnTolerations, OfPod(p, p), kQueue}});
}

TEST_CASE("hints: TaintToleration queues when a node was untolerated and is tolerated now") {
  const api::PodPtr p = PodOf("p", "'tolerations':[{'key':'mine','operator':'Exists'}]");
  const auto taint = [](std::string_view key) {
    return NodeOf("n", "", Cat("'taints':[{'key':'", key, "','effect':'NoSchedule'}]"));
  };
  CheckHints("TaintToleration", {{"new, tolerated", p, kNodeAdd, OfNode(nullptr, taint("mine")), kQueue},
                                 {"new, not tolerated", p, kNodeAdd, OfNode(nullptr, taint("other")), kSkip},
                                 {"lost its taint", p, kNodeTaints, OfNode(taint("other"), NodeOf("n")), kQueue},
                                 {"got a tolerated one", p, kNodeTaints, OfNode(taint("other"), taint("mine")), kQueue},
                                 {"was tolerated", p, kNodeTaints, OfNode(taint("mine"), NodeOf("n")), kSkip},
                                 {"is not tolerated", p, kNodeTaints, OfNode(NodeOf("n"), taint("other")), kSkip},
                                 {"its own tolerations", p, kOwnTolerations, OfPod(p, p), kQueue}});
}

TEST_CASE("hints: NodeAffinity queues when a node matches now and did not before") {
  const api::PodPtr p = PodOf("p", "'nodeSelector':{'disk':'ssd'}");
  const api::NodePtr ssd = NodeOf("n", "'disk':'ssd'"), hdd = NodeOf("n", "'disk':'hdd'");
  const api::NodePtr more = NodeOf("n", "'disk':'ssd','more':''");
  CheckHints("NodeAffinity", {{"new, matches", p, kNodeAdd, OfNode(nullptr, ssd), kQueue},
                              {"new, does not match", p, kNodeAdd, OfNode(nullptr, hdd), kSkip},
                              {"matches now", p, kNodeLabels, OfNode(hdd, ssd), kQueue},
                              {"matched before", p, kNodeLabels, OfNode(ssd, more), kSkip},
                              {"does not match", p, kNodeLabels, OfNode(ssd, hdd), kSkip},
                              {"taints", p, kNodeTaints, OfNode(hdd, hdd), kQueue}});
  // The affinity that a profile adds counts like the pod's own.
  nodeaffinity::AddedAffinity added;
  added.required = PodOf("a",
                         "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
                         "'nodeSelectorTerms':[{'matchExpressions':[{'key':'more','operator':'Exists'}]}]}}}")
                       ->tmpl->affinity.node->required->terms;
  const QueueingHint hint = nodeaffinity::NodeMadeToMatch(added);
  CHECK(hint(*p, {kNodeLabels, OfNode(ssd, more)}));
  CHECK_FALSE(hint(*p, {kNodeLabels, OfNode(hdd, ssd)}));
}

TEST_CASE("hints: NodePorts queues when a pod is gone that had a port which is wanted") {
  const api::PodPtr p = PodOf("p", Ports("'hostPort':80,'hostIP':'10.0.0.1'"));
  const auto gone = [&](std::string_view port) { return OfPod(OnNode("q", Ports(port)), nullptr); };
  CheckHints("NodePorts",
             {{"new node", p, kNodeAdd, OfNode(nullptr, NodeOf("n")), kQueue},
              {"the port", p, kAssignedPodDelete, gone("'hostPort':80,'hostIP':'10.0.0.1'"), kQueue},
              {"the port of all addresses", p, kAssignedPodDelete, gone("'hostPort':80"), kQueue},
              {"another address", p, kAssignedPodDelete, gone("'hostPort':80,'hostIP':'10.0.0.2'"), kSkip},
              {"another protocol", p, kAssignedPodDelete, gone("'hostPort':80,'protocol':'UDP'"), kSkip},
              {"another port", p, kAssignedPodDelete, gone("'hostPort':81"), kSkip},
              {"no place", p, kAssignedPodDelete, OfPod(PodOf("q", Ports("'hostPort':80")), nullptr), kSkip},
              {"nominated", p, kAssignedPodDelete,
               OfPod(PodOf("q", Ports("'hostPort':80"), "", "", "'nominatedNodeName':'n'"), nullptr), kQueue}});
}

TEST_CASE("hints: NodeResourcesFit queues for room of what the pod requests") {
  const api::PodPtr p = PodOf("p", Asks("'cpu':'6'")), small = PodOf("p", Asks("'cpu':'1'"));
  const auto of = [](std::string_view amounts) { return NodeOf("n", "", "", amounts); };
  const auto had = of("'cpu':'4','memory':'8Gi','pods':'10'");
  const auto more_cpu = of("'cpu':'8','memory':'8Gi','pods':'10'");
  const auto more_memory = of("'cpu':'4','memory':'9Gi','pods':'10'");
  const auto more_pods = of("'cpu':'4','memory':'8Gi','pods':'11'");
  const auto bound = [](std::string_view cpu, std::string_view memory) {
    return OnNode("q", Asks(Cat("'cpu':'", cpu, "','memory':'", memory, "'")));
  };
  const auto devices = [](std::string_view resource) {
    return EventObject<api::DeviceClass>{
        nullptr, Made<api::DeviceClass>([&](auto* c) { c->extended_resource = Symbol(resource); })};
  };
  const api::PodPtr gpu = PodOf("p", Asks("'e.com/gpu':'1'"));
  CheckHints("NodeResourcesFit",
             {{"new, fits while empty", p, kNodeAdd, OfNode(nullptr, more_cpu), kQueue},
              {"new, too small", p, kNodeAdd, OfNode(nullptr, had), kSkip},
              {"new, no pods", small, kNodeAdd, OfNode(nullptr, of("'cpu':'8','pods':'0'")), kSkip},
              {"more of what is requested", p, kNodeAllocatable, OfNode(had, more_cpu), kQueue},
              {"more, and still too small", p, kNodeAllocatable, OfNode(of("'cpu':'2','pods':'9'"), had), kSkip},
              {"more of something else", small, kNodeAllocatable, OfNode(had, more_memory), kSkip},
              {"less", small, kNodeAllocatable, OfNode(more_cpu, had), kSkip},
              {"more pods", small, kNodeAllocatable, OfNode(had, more_pods), kQueue},
              {"a pod is gone", p, kAssignedPodDelete, OfPod(bound("1", "1Gi"), nullptr), kQueue},
              {"one without a place", p, kAssignedPodDelete, OfPod(PodOf("q"), nullptr), kSkip},
              {"one shrank", p, kAssignedPodScaleDown, OfPod(bound("2", "1Gi"), bound("1", "1Gi")), kQueue},
              {"in something else", p, kAssignedPodScaleDown, OfPod(bound("2", "2Gi"), bound("2", "1Gi")), kSkip},
              {"itself", p, kOwnScaleDown, OfPod(p, small), kQueue},
              {"taints", p, kNodeTaints, OfNode(had, had), kQueue},
              {"devices for it", gpu, kDevicesChange, devices("e.com/gpu"), kQueue},
              {"other devices", gpu, kDevicesChange, devices("e.com/nic"), kSkip},
              {"a slice", gpu, kDevicesChange, EventObject<api::ResourceSlice>{}, kSkip}});
  // Resources that the profile ignores are in no node's way.
  noderesources::FitOptions options;
  options.ignored_resource_groups = {"e.com"};
  const api::PodPtr both = PodOf("p", Asks("'cpu':'1','e.com/gpu':'1'"));
  CHECK(noderesources::RoomMade(options)(*both, {kNodeAdd, OfNode(nullptr, had)}));
  CHECK_FALSE(noderesources::RoomMade({})(*both, {kNodeAdd, OfNode(nullptr, had)}));
}

TEST_CASE("hints: VolumeRestrictions queues when a pod with the disk or the claim is gone, or its claim is made") {
  const std::string disk = "'volumes':[{'name':'v','gcePersistentDisk':{'pdName':'x'}}]";
  const api::PodPtr p = PodOf("p", disk), c = PodOf("p", ClaimVolume("c"));
  const api::PodPtr elsewhere = PodOf("q", Cat("'nodeName':'n',", disk), "", "'namespace':'other'");
  CheckHints("VolumeRestrictions",
             {{"the disk", p, kAssignedPodDelete, OfPod(OnNode("q", disk), nullptr), kQueue},
              {"no disk", p, kAssignedPodDelete, OfPod(OnNode("q"), nullptr), kSkip},
              {"another namespace", p, kAssignedPodDelete, OfPod(elsewhere, nullptr), kSkip},
              {"the claim", c, kAssignedPodDelete, OfPod(OnNode("q", ClaimVolume("c")), nullptr), kQueue},
              {"another claim", c, kAssignedPodDelete, OfPod(OnNode("q", ClaimVolume("d")), nullptr), kSkip},
              {"its claim made", c, kPersistentVolumeClaimAdd, OfClaim(c->meta.ns.str(), "c"), kQueue},
              {"another made", c, kPersistentVolumeClaimAdd, OfClaim(c->meta.ns.str(), "d"), kSkip},
              {"one of its name elsewhere", c, kPersistentVolumeClaimAdd, OfClaim("other", "c"), kSkip},
              {"taints", c, kNodeTaints, OfNode(NodeOf("n"), NodeOf("n")), kQueue}});
}

TEST_CASE("hints: NodeVolumeLimits queues for attachments that are possible again") {
  const api::PodPtr c = PodOf("p", ClaimVolume("c"));
  const api::PodPtr ebs = PodOf("p", "'volumes':[{'name':'v','awsElasticBlockStore':{'volumeID':'x'}}]");
  const auto csi = [](std::optional<int> was, std::optional<int> is) {
    const auto of = [](std::optional<int> limit) {
      return Made<api::CsiNode>([&](auto* n) { n->drivers = {{Symbol("d"), limit}}; });
    };
    return EventObject<api::CsiNode>{of(was), of(is)};
  };
  const auto detached = [](std::string_view driver) {
    return EventObject<api::VolumeAttachment>{
        Made<api::VolumeAttachment>([&](auto* a) { a->attacher = Symbol(driver); }), nullptr};
  };
  CheckHints("NodeVolumeLimits",
             {{"new CSINode", c, kCsiNodeAdd, EventObject<api::CsiNode>{}, kQueue},
              {"a limit grew", c, kCsiNodeUpdate, csi(1, 2), kQueue},
              {"a limit fell", c, kCsiNodeUpdate, csi(2, 1), kSkip},
              {"a limit vanished", c, kCsiNodeUpdate, csi(2, std::nullopt), kSkip},
              {"a pod with a claim", c, kAssignedPodDelete, OfPod(OnNode("q", ClaimVolume("d")), nullptr), kQueue},
              {"a pod without", c, kAssignedPodDelete, OfPod(OnNode("q"), nullptr), kSkip},
              {"without a place", c, kAssignedPodDelete, OfPod(PodOf("q", ClaimVolume("d")), nullptr), kSkip},
              {"its claim", c, kPersistentVolumeClaimAdd, OfClaim(c->meta.ns.str(), "c"), kQueue},
              {"another claim", c, kPersistentVolumeClaimAdd, OfClaim(c->meta.ns.str(), "d"), kSkip},
              {"detached, with a claim", c, kVolumeAttachmentDelete, detached("any"), kQueue},
              {"detached, of its driver", ebs, kVolumeAttachmentDelete, detached("ebs.csi.aws.com"), kQueue},
              {"detached, of another", ebs, kVolumeAttachmentDelete, detached("pd.csi.storage.gke.io"), kSkip}});
}

TEST_CASE("hints: VolumeBinding queues for its claims, and for storage that may hold more") {
  const api::PodPtr c = PodOf("p", ClaimVolume("c"));
  const auto topology = [](const char* zone) {
    return Made<api::StorageClass>([&](auto* s) { s->allowed_topologies = {{{{Symbol("zone"), {Symbol(zone)}}}}}; });
  };
  const auto plugins = [](const char* plugin) {
    return Made<api::CsiNode>([&](auto* n) { n->migrated_plugins = {Symbol(plugin)}; });
  };
  const auto driver = [](bool capacity) {
    return Made<api::CsiDriver>([&](auto* d) { d->storage_capacity = capacity; });
  };
  const auto storage = [](std::string_view size) {
    return Made<api::CsiStorageCapacity>([&](auto* s) {
      if (!size.empty()) s->capacity = api::Quantity::Parse(size).value();
    });
  };
  using Class = EventObject<api::StorageClass>;
  using Csi = EventObject<api::CsiNode>;
  using Driver = EventObject<api::CsiDriver>;
  using Storage = EventObject<api::CsiStorageCapacity>;
  const auto ns = c->meta.ns.str();
  CheckHints("VolumeBinding",
             {{"its claim", c, kPersistentVolumeClaimUpdate, OfClaim(ns, "c"), kQueue},
              {"another claim", c, kPersistentVolumeClaimUpdate, OfClaim(ns, "d"), kSkip},
              {"another claim made", c, kPersistentVolumeClaimAdd, OfClaim(ns, "d"), kSkip},
              {"a volume", c, kPersistentVolumeUpdate, EventObject<api::PersistentVolume>{}, kQueue},
              {"labels of a node", c, kNodeLabels, OfNode(NodeOf("n"), NodeOf("n", "'a':'b'")), kQueue},
              {"a class", c, kStorageClassAdd, Class{}, kQueue},
              {"topologies", c, kStorageClassUpdate, Class{topology("a"), topology("b")}, kQueue},
              {"the same topologies", c, kStorageClassUpdate, Class{topology("a"), topology("a")}, kSkip},
              {"replaced plugins", c, kCsiNodeUpdate, Csi{plugins("a"), plugins("b")}, kQueue},
              {"the same plugins", c, kCsiNodeUpdate, Csi{plugins("a"), plugins("a")}, kSkip},
              {"size does not matter now", c, kCsiDriverUpdate, Driver{driver(true), driver(false)}, kQueue},
              {"size matters now", c, kCsiDriverUpdate, Driver{driver(false), driver(true)}, kSkip},
              {"more storage", c, kCsiStorageCapacityUpdate, Storage{storage("1G"), storage("2G")}, kQueue},
              {"storage of a known size", c, kCsiStorageCapacityUpdate, Storage{storage(""), storage("2G")}, kQueue},
              {"less storage", c, kCsiStorageCapacityUpdate, Storage{storage("2G"), storage("1G")}, kSkip}});
}

TEST_CASE("hints: VolumeZone queues for its claims, and for zones of volumes that changed") {
  const api::PodPtr c = PodOf("p", ClaimVolume("c"));
  const auto volume = [](const char* key, const char* value) {
    return Made<api::PersistentVolume>([&](auto* v) { v->labels = api::Labels({{Symbol(key), Symbol(value)}}); });
  };
  using Volume = EventObject<api::PersistentVolume>;
  const char* zone = "topology.kubernetes.io/zone";
  CheckHints("VolumeZone",
             {{"its claim", c, kPersistentVolumeClaimUpdate, OfClaim(c->meta.ns.str(), "c"), kQueue},
              {"another claim", c, kPersistentVolumeClaimAdd, OfClaim(c->meta.ns.str(), "d"), kSkip},
              {"a volume", c, kPersistentVolumeAdd, Volume{nullptr, volume("a", "b")}, kQueue},
              {"its zone", c, kPersistentVolumeUpdate, Volume{volume(zone, "a"), volume(zone, "b")}, kQueue},
              {"another label", c, kPersistentVolumeUpdate, Volume{volume("a", "a"), volume("a", "b")}, kSkip},
              {"labels of a node", c, kNodeLabels, OfNode(NodeOf("n"), NodeOf("n", "'a':'b'")), kQueue},
              {"a class", c, kStorageClassAdd, EventObject<api::StorageClass>{}, kQueue}});
}

TEST_CASE("hints: PodTopologySpread queues for pods that count and nodes with its labels") {
  const auto spread = [](std::string_view more) {
    return Cat("'topologySpreadConstraints':[{'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule',",
               more, "'labelSelector':{'matchLabels':{'app':'web'}}}]");
  };
  const api::PodPtr p = PodOf("p", spread("")), keyed = PodOf("p", spread("'matchLabelKeys':['hash'],"), "'hash':'1'");
  const std::string web = "'app':'web'", db = "'app':'db'", none = "'containers':[]";
  const api::PodPtr elsewhere = PodOf("q", Cat("'nodeName':'n',", none), web, "'namespace':'other'");
  const api::NodePtr a = NodeOf("n", "'zone':'a'"), b = NodeOf("n", "'zone':'b'"), other = NodeOf("n");
  const api::NodePtr tainted = NodeOf("n", "'zone':'a'", "'taints':[{'key':'k','effect':'NoSchedule'}]");
  const api::PodPtr honours = PodOf("p", spread("'nodeTaintsPolicy':'Honor',"));
  const std::string toleration = ",'tolerations':[{'key':'k','operator':'Exists'}]";
  const api::PodPtr tolerant = PodOf("p", spread("'nodeTaintsPolicy':'Honor',").append(toleration));
  CheckHints(
      "PodTopologySpread",
      {{"placed, counts", p, kAssignedPodAdd, OfPod(nullptr, OnNode("q", none, web)), kQueue},
       {"placed, does not", p, kAssignedPodAdd, OfPod(nullptr, OnNode("q", none, db)), kSkip},
       {"of another namespace", p, kAssignedPodAdd, OfPod(nullptr, elsewhere), kSkip},
       {"gone, counted", p, kAssignedPodDelete, OfPod(OnNode("q", none, web), nullptr), kQueue},
       {"gone, without a place", p, kAssignedPodDelete, OfPod(PodOf("q", none, web), nullptr), kSkip},
       {"counts now", p, kAssignedPodLabels, OfPod(OnNode("q", none, db), OnNode("q", none, web)), kQueue},
       {"ceased", p, kAssignedPodLabels, OfPod(OnNode("q", none, web), OnNode("q", none, db)), kQueue},
       {"counts as before", p, kAssignedPodLabels, OfPod(OnNode("q", none, web), OnNode("q", none, web + ",'x':'y'")),
        kSkip},
       {"of another revision", keyed, kAssignedPodAdd, OfPod(nullptr, OnNode("q", none, web + ",'hash':'2'")), kSkip},
       {"of its revision", keyed, kAssignedPodAdd, OfPod(nullptr, OnNode("q", none, web + ",'hash':'1'")), kQueue},
       {"new node of a zone", p, kNodeAdd, OfNode(nullptr, a), kQueue},
       {"new node of none", p, kNodeAdd, OfNode(nullptr, other), kSkip},
       {"a node of a zone is gone", p, kNodeDelete, OfNode(a, nullptr), kQueue},
       {"a node of none is gone", p, kNodeDelete, OfNode(other, nullptr), kSkip},
       {"another zone", p, kNodeLabels, OfNode(a, b), kQueue},
       {"a zone now", p, kNodeLabels, OfNode(other, a), kQueue},
       {"another label", p, kNodeLabels, OfNode(a, NodeOf("n", "'zone':'a','x':'y'")), kSkip},
       {"taints", p, kNodeTaints, OfNode(tainted, a), kQueue},
       {"taints of a node of none", p, kNodeTaints, OfNode(other, other), kSkip},
       {"its own tolerations", honours, kOwnTolerations, OfPod(honours, tolerant), kQueue},
       {"which do not matter", p, kOwnTolerations, OfPod(p, p), kSkip}});
}

TEST_CASE("hints: InterPodAffinity queues for pods that its terms are about, and for their labels on nodes") {
  const auto terms = [](std::string_view kind, std::string_view app) {
    return Cat("'affinity':{'", kind, "':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'rack',",
               "'labelSelector':{'matchLabels':{'app':'", app, "'}}}]}}");
  };
  const api::PodPtr near = PodOf("p", terms("podAffinity", "web"), "'me':''");
  const api::PodPtr apart = PodOf("p", terms("podAntiAffinity", "web"), "'app':'p'");
  const std::string web = "'app':'web'", db = "'app':'db'", none = "'containers':[]";
  const auto placed = [&](const std::string& labels) { return OfPod(nullptr, OnNode("q", none, labels)); };
  const auto gone = [&](const std::string& labels) { return OfPod(OnNode("q", none, labels), nullptr); };
  const auto turned = [&](const std::string& was, const std::string& is) {
    return OfPod(OnNode("q", none, was), OnNode("q", none, is));
  };
  const api::PodPtr hermit = OnNode("q", terms("podAntiAffinity", "p"), db);
  const api::NodePtr r1 = NodeOf("n", "'rack':'1'"), r2 = NodeOf("n", "'rack':'2'"), other = NodeOf("n");
  CheckHints("InterPodAffinity",
             {{"placed, wanted", near, kAssignedPodAdd, placed(web), kQueue},
              {"placed, another", near, kAssignedPodAdd, placed(db), kSkip},
              {"turned into a wanted one", near, kAssignedPodLabels, turned(db, web), kQueue},
              {"was wanted already", near, kAssignedPodLabels, turned(web, web + ",'x':'y'"), kSkip},
              {"no longer wanted", near, kAssignedPodLabels, turned(web, db), kSkip},
              {"a wanted one is gone", near, kAssignedPodDelete, gone(web), kSkip},
              {"an unwanted one is gone", apart, kAssignedPodDelete, gone(web), kQueue},
              {"another one is gone", apart, kAssignedPodDelete, gone(db), kSkip},
              {"one that kept away is gone", apart, kAssignedPodDelete, OfPod(hermit, nullptr), kQueue},
              {"no longer unwanted", apart, kAssignedPodLabels, turned(web, db), kQueue},
              {"unwanted now", apart, kAssignedPodLabels, turned(db, web), kSkip},
              {"an unwanted one more", apart, kAssignedPodAdd, placed(web), kSkip},
              {"without a place", apart, kAssignedPodDelete, OfPod(PodOf("q", none, web), nullptr), kSkip},
              {"itself", near, kOwnLabels, OfPod(near, near), kQueue},
              {"new rack", near, kNodeAdd, OfNode(nullptr, r1), kQueue},
              {"new node of none", near, kNodeAdd, OfNode(nullptr, other), kSkip},
              {"new node, apart", apart, kNodeAdd, OfNode(nullptr, other), kQueue},
              {"rack appeared", near, kNodeLabels, OfNode(other, r1), kQueue},
              {"rack changed", near, kNodeLabels, OfNode(r1, r2), kQueue},
              {"rack vanished", near, kNodeLabels, OfNode(r1, other), kSkip},
              {"rack vanished, apart", apart, kNodeLabels, OfNode(r1, other), kQueue},
              {"rack changed, apart", apart, kNodeLabels, OfNode(r1, r2), kQueue},
              {"rack appeared, apart", apart, kNodeLabels, OfNode(other, r1), kSkip},
              {"another label", near, kNodeLabels, OfNode(r1, NodeOf("n", "'rack':'1','x':'y'")), kSkip},
              {"taints", near, kNodeTaints, OfNode(other, other), kQueue}});
}

TEST_CASE("hints: DynamicResources queues for its claims, and for devices") {
  const api::PodPtr p = PodOf("p", "'resourceClaims':[{'name':'r','resourceClaimName':'mine'}]");
  const auto claim = [&](const char* name, bool allocated) {
    return Made<api::ResourceClaim>([&](auto* c) {
      c->meta.ns = p->meta.ns;
      c->meta.name = name;
      c->allocated = allocated;
    });
  };
  using Claim = EventObject<api::ResourceClaim>;
  CheckHints(
      "DynamicResources",
      {{"its claim", p, kResourceClaimAdd, Claim{nullptr, claim("mine", false)}, kQueue},
       {"another claim", p, kResourceClaimAdd, Claim{nullptr, claim("other", false)}, kSkip},
       {"another gave back", p, kResourceClaimUpdate, Claim{claim("other", true), claim("other", false)}, kQueue},
       {"another took", p, kResourceClaimUpdate, Claim{claim("other", false), claim("other", true)}, kSkip},
       {"a slice", p, kDevicesChange, EventObject<api::ResourceSlice>{}, kQueue},
       {"a node", p, kNodeAllocatable, OfNode(NodeOf("n"), NodeOf("n")), kQueue},
       {"claims were generated for it", p, kOwnClaims, OfPod(p, p), kQueue}});
}

TEST_CASE("hints: NodeDeclaredFeatures queues when a node's features or the pod's needs differ") {
  const api::PodPtr p = PodOf("p");
  const auto with = [](std::string_view features) {
    return NodeOf("n", "", "", "'pods':'1'", Cat("'declaredFeatures':[", features, "]"));
  };
  auto needs = std::make_shared<api::PodTemplate>(*p->tmpl);
  needs->node_features = {Symbol("F")};
  auto needy = std::make_shared<api::Pod>(*p);
  needy->tmpl = needs;
  CheckHints("NodeDeclaredFeatures", {{"new", p, kNodeAdd, OfNode(nullptr, with("'F'")), kQueue},
                                      {"more", p, kNodeFeatures, OfNode(with(""), with("'F'")), kQueue},
                                      {"the same", p, kNodeFeatures, OfNode(with("'F'"), with("'F'")), kSkip},
                                      {"it needs others", p, kOwnOther, OfPod(p, needy), kQueue},
                                      {"it needs the same", p, kOwnLabels, OfPod(p, p), kSkip},
                                      {"taints", p, kNodeTaints, OfNode(with(""), with("")), kQueue}});
}

}  // namespace berth::scheduler
