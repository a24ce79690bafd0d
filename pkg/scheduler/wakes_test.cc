// From the rejection by a rule to the event that wakes the pod: for each plugin that 1.29 and 1.36 list, a pod that
// this plugin rejects is woken by the events that the release's queue table gives for the plugin, and by no others.
// In 1.9 to 1.19 any event that the release listens to wakes every pod, and in 1.8 none does.
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <set>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_13/decides.h"
#include "pkg/releases/v1_19/decides.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/releases/v1_36/decides.h"
#include "pkg/releases/v1_8/decides.h"
#include "pkg/releases/v1_9/decides.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/scheduler/testing/scheduler_case.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::World;
using EventKind = ClusterEvent::Kind;

constexpr int kLastKind = static_cast<int>(EventKind::kUnschedulableTimeout);

// The kinds of events by the words of the table: the resource and what happens to it.
std::set<EventKind> EventsNamed(const std::string& resource, const std::string& action) {
  using enum ClusterEvent::Kind;
  const std::map<std::string, std::set<EventKind>> named = {
      {"Pod add", {kAssignedPodAdd}},
      {"Pod update", {kAssignedPodUpdate}},
      {"Pod delete", {kAssignedPodDelete}},
      {"Pod shrink", {kAssignedPodScaleDown}},  // not in the table: 1.29 does not know it
      {"Node add", {kNodeAdd}},
      {"Node any update", {kNodeBecameSchedulable, kNodeAllocatable, kNodeLabels, kNodeTaints, kNodeConditions}},
      {"Node label update", {kNodeLabels}},
      {"Node taint update", {kNodeBecameSchedulable, kNodeTaints}},
      {"Node delete", {}},  // never raised
      {"PV add", {kPersistentVolumeAdd}},
      {"PV update", {kPersistentVolumeUpdate}},
      {"PVC add", {kPersistentVolumeClaimAdd}},
      {"PVC update", {kPersistentVolumeClaimUpdate}},
      {"StorageClass add", {kStorageClassAdd}},
      {"StorageClass update", {kStorageClassUpdate}},
      {"CSINode add", {kCsiNodeAdd}},
      {"CSINode update", {kCsiNodeUpdate}},
      {"CSIDriver add", {kCsiDriverAdd}},
      {"CSIDriver update", {kCsiDriverUpdate}},
      {"CSIStorageCapacity add", {kCsiStorageCapacityAdd}},
      {"CSIStorageCapacity update", {kCsiStorageCapacityUpdate}},
  };
  return named.at(resource + " " + action);
}

// Returns the events of a row such as "Pod delete; Node add, any update".
std::set<EventKind> EventsIn(const std::string& row) {
  std::set<EventKind> events = {EventKind::kUnschedulableTimeout};
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(row, "; ", absl::SkipEmpty()))) {
    const std::pair<std::string, std::string> words = absl::StrSplit(part, absl::MaxSplits(' ', 1));
    for (const std::string& action : std::vector<std::string>(absl::StrSplit(words.second, ", "))) {
      events.merge(EventsNamed(words.first, action));
    }
  }
  return events;
}

constexpr char kEverything[] =
    "Pod add, update, delete, shrink; Node add, any update; CSINode add, update; CSIDriver add, update; "
    "CSIStorageCapacity "
    "add, "
    "update; PV add, update; PVC add, update; StorageClass add, update";
constexpr char kNearWeb[] =
    "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'rack',"
    "'labelSelector':{'matchLabels':{'app':'web'}}}]}}";

// How a rule comes to reject the pod "p".
struct Rejection129 {
  std::string rule;
  std::string wakes;      // the row of the table
  std::string spec;       // of the pod
  std::string node = {};  // members of the node's spec
  std::string allocatable = "'cpu':'4','memory':'8Gi','pods':'10'";
  void (*more)(World*) = [](World*) {};  // what else is in the cluster
  // Whether no pod in the queue is ever rejected by the rule, which sees pods with nodes or holds pods back from the
  // queue. Such a pod is given back to the queue as if it were.
  bool never_decided = false;
  bool by_pre_filter = false;  // in 1.29 and later
};

void BoundClaim(World* w, std::string_view source, std::string_view labels) {
  w->Claim("c", "'volumeName':'v'", "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}");
  w->Volume("v", Cat("'claimRef':{'namespace':'default','name':'c','uid':'uid-c'},", source), labels);
}

std::vector<Rejection129> Rejections129() {
  const std::string claim = "'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'c'}}]";
  const std::string node_update = "Node add, any update";
  const std::string limits = "Node add; Pod delete";
  auto limit = [](const std::string& resource) { return Cat("'pods':'10','attachable-volumes-", resource, "':'0'"); };
  return {
      {"NodeResourcesFit", "Pod delete, shrink; Node add, any update", Asks("'cpu':'9'")},
      {"NodeAffinity", node_update, "'nodeSelector':{'a':'b'}"},
      {.rule = "NodeAffinity",  // the terms exclude one another
       .wakes = node_update,
       .spec = "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
               "{'matchFields':[{'key':'metadata.name','operator':'In','values':['a']},"
               "{'key':'metadata.name','operator':'In','values':['b']}]}]}}}",
       .by_pre_filter = true},
      {"TaintToleration", node_update, "", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]"},
      {"NodeUnschedulable", "Node add, taint update", "", "'unschedulable':true"},
      {"NodePorts", "Pod delete; Node add, any update", Asks("", "'ports':[{'containerPort':80,'hostPort':80}]"), "",
       "'pods':'10'",
       [](World* w) { w->Place(PodOf("q", Asks("", "'ports':[{'containerPort':80,'hostPort':80}]")), "n"); }},
      {.rule = "VolumeRestrictions",  // there is no claim
       .wakes = "Pod delete; Node add; PVC add, update",
       .spec = claim,
       .by_pre_filter = true},
      {"VolumeRestrictions", "Pod delete; Node add; PVC add, update",
       "'volumes':[{'name':'d','gcePersistentDisk':{'pdName':'x'}}]", "", "'pods':'10'",
       [](World* w) { w->Place(PodOf("q", "'volumes':[{'name':'d','gcePersistentDisk':{'pdName':'x'}}]"), "n"); }},
      {"EBSLimits", limits, "'volumes':[{'name':'d','awsElasticBlockStore':{'volumeID':'x'}}]", "", limit("aws-ebs")},
      {"GCEPDLimits", limits, "'volumes':[{'name':'d','gcePersistentDisk':{'pdName':'x'}}]", "", limit("gce-pd")},
      {"AzureDiskLimits", limits, "'volumes':[{'name':'d','azureDisk':{'diskName':'x','diskURI':'x'}}]", "",
       limit("azure-disk")},
      {"CinderLimits", limits, "'volumes':[{'name':'d','cinder':{'volumeID':'x'}}]", "", limit("cinder")},
      {"NodeVolumeLimits", "CSINode add; Pod delete", claim, "", "'pods':'10'",
       [](World* w) {
         BoundClaim(w, "'csi':{'driver':'disk.example.com','volumeHandle':'x'}", "");
         auto csi_node = std::make_shared<api::CsiNode>();
         csi_node->meta.name.push_back('n');
         csi_node->drivers = {{Symbol("disk.example.com"), 0}};
         w->cache.listers().csi_nodes.Set(std::move(csi_node));
       }},
      {"VolumeBinding",
       "StorageClass add, update; PVC add, update; PV add, update; CSINode add, update; CSIDriver add, update; "
       "CSIStorageCapacity add, update; Node add, label update",
       claim, "", "'pods':'10'", [](World* w) { w->Claim("c", "'storageClassName':''"); }},
      {"VolumeZone", "StorageClass add; Node add, label update; PVC add; PV add, update", claim, "", "'pods':'10'",
       [](World* w) {
         BoundClaim(w, "'hostPath':{'path':'/x'}", "'labels':{'topology.kubernetes.io/zone':'elsewhere'}");
         w->cache.AddNode(NodeOf("n", "'topology.kubernetes.io/zone':'here'"));
       }},
      {"PodTopologySpread", "Pod add, update, delete; Node add, delete, label update",
       "'topologySpreadConstraints':[{'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule',"
       "'labelSelector':{}}]"},
      {"InterPodAffinity", "Pod add, update, delete; Node add, label update", kNearWeb},
      {.rule = "NodeName", .wakes = node_update, .spec = "", .never_decided = true},
      {.rule = "SchedulingGates", .wakes = "", .spec = "", .never_decided = true},
      // A user's plugin is registered for nothing, whatever its reasons say.
      {"Licences", kEverything, ""},
  };
}

// Of the plugins that only 1.36 has. What wakes these pods stands in the table of 1.36.
std::vector<Rejection129> RejectionsOnlyIn136() {
  return {
      {"DynamicResources", "", "'resourceClaims':[{'name':'r','resourceClaimName':'mine'}]"},  // there is no claim
      {"NodeDeclaredFeatures", "", "'hostNetwork':true,'hostUsers':false"},
  };
}

// A scheduler with one rule, and one node.
struct OneRule : World {
  OneRule(const Release& r, const Process& process, const std::string& rule) : World(r) {
    EventQueueOptions options;
    options.wakes = r.wakes;
    queue = process.requeues_at_once     ? NewEventQueue(options)
            : r.orders_queue_by_priority ? NewPriorityQueue({.wakes = r.wakes})
                                         : NewFifo(/*has_nominations=*/true);
    Registry registry = RegisteredAlgorithms(r);
    auto licences = [](const api::Pod&, const NodeInfo&) {
      return PredicateResult{.fit = false, .reasons = {"Insufficient licences"}, .error = {}};
    };
    const FitPredicate predicate = FromPerNode("Licences", licences);
    auto factory = [predicate](const PluginFactoryArgs&) { return predicate; };
    REQUIRE(registry.AddPredicate("Licences", factory, Traits{}).ok());
    FactoryArgs args = Args(true);
    args.nominated = queue->nominated();
    args.registry = &registry;
    algorithm = CreateFromKeys({rule}, {}, std::move(args)).value();
    SchedulerOptions o;
    o.pod_priority = true;
    o.process = &process;
    o.orders_queue_by_priority = r.orders_queue_by_priority;
    o.understood_fields = PodFieldsUnderstoodBy(r.version);
    scheduler = std::make_unique<Scheduler>(&cache, queue.get(), &binder, &requests, &clock, std::move(o));
    scheduler->AddProfile("default-scheduler", algorithm.get());
  }
  // Tries the pod once and answers all requests.
  void Try(const api::PodPtr& pod) {
    scheduler->Apply(Change<api::Pod>{nullptr, pod});
    REQUIRE(scheduler->ScheduleOne());
    AnswerAll(pod);
  }
  void AnswerAll(const api::PodPtr& pod) {
    while (requests.last != answered) {
      answered = requests.last;
      scheduler->Apply(Reply{answered, {}, pod});
    }
  }
  // Tries the pod, which is then back in the queue.
  void Reject(const api::PodPtr& pod) {
    Try(pod);
    INFO(requests.Take());
    REQUIRE(queue->depth().unschedulable == 1);
  }
  // Gives the pod to the queue and takes it from there, and gives it back as if the rule had rejected it.
  void GiveBack(const api::PodPtr& pod, const std::string& rule) {
    queue->Add(pod);
    REQUIRE(queue->Pop() == pod);
    queue->AddRejected(pod, Requeue::kUnschedulable, {Symbol(rule)}, queue->cycle(), clock.Steady());
    REQUIRE(queue->depth().unschedulable == 1);
  }
  // Returns whether the event wakes the pod. For events of pods, the pod is one that "p" wants to be near.
  bool Wakes(EventKind kind) {
    clock.Advance(absl::Seconds(20));
    const api::PodPtr web = PodOf("web", "'nodeName':'n'", "'app':'web'");
    const bool gone = kind == EventKind::kAssignedPodDelete;
    const EventObject<api::Pod> object = {gone ? web : nullptr, gone ? nullptr : web};
    queue->ClusterChanged({kind, object}, clock.Steady());
    return queue->depth().unschedulable == 0;
  }

  testing::Recorder requests;
  RequestId answered = 0;
  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<GenericScheduler> algorithm;
  std::unique_ptr<Scheduler> scheduler;
};

// Returns the pod of a rejection, which wants to be near web unless that would be in the way.
api::PodPtr PodOfRejection(const std::string& spec) {
  return PodOf("p", spec.find("'affinity'") != std::string::npos ? spec
                    : spec.empty()                               ? std::string(kNearWeb)
                                                                 : Cat(spec, ",", kNearWeb));
}

// Rejects the pod by its rule, which must be the one that is counted, and returns whether the event wakes it.
bool WokenIn(const Release& release, const Process& process, const Rejection129& rejection, EventKind kind) {
  OneRule c(release, process, rejection.never_decided ? "Licences" : rejection.rule);
  c.Nodes({NodeOf("n", "", rejection.node, rejection.allocatable)});
  rejection.more(&c);
  const api::PodPtr pod = PodOfRejection(rejection.spec);
  if (rejection.never_decided) {
    c.GiveBack(pod, rejection.rule);
  } else {
    c.Reject(pod);
  }
  const QueueCounts counts = c.queue->counts();
  REQUIRE(counts.rejected.size() == 1);
  CHECK(counts.rejected[0].plugin.str() == rejection.rule);
  return c.Wakes(kind);
}

// What a pod that is rejected is made of is the same in all releases with plugins; only what wakes it differs.
const Rejection129& RejectionBy(const std::string& rule) {
  static const std::vector<Rejection129> all = [] {
    std::vector<Rejection129> both = Rejections129();
    for (Rejection129& r : RejectionsOnlyIn136()) both.push_back(std::move(r));
    return both;
  }();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Rejection129& r) { return r.rule == rule; });
  INFO(rule);
  REQUIRE(found != all.end());
  return *found;
}

std::set<std::string> RulesOf(const Wakes& wakes) {
  std::set<std::string> rules;
  for (const Wake& wake : wakes.rules) rules.emplace(wake.rule);
  return rules;
}

struct RejectedByPredicate {
  std::string predicate, spec, node;
};
std::vector<RejectedByPredicate> RejectionsByPredicates() {
  return {
      {"GeneralPredicates", Asks("'cpu':'9'"), ""},
      {"PodToleratesNodeTaints", "", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]"},
      {"MatchNodeSelector", "'nodeSelector':{'a':'b'}", ""},
      {"MatchInterPodAffinity", kNearWeb, ""},
      {"Licences", "", ""},
  };
}

// Every kind of event but these.
std::set<EventKind> AllBut(const std::set<EventKind>& unheard) {
  std::set<EventKind> heard;
  for (int k = 0; k <= kLastKind; ++k) {
    if (!unheard.contains(static_cast<EventKind>(k))) heard.insert(static_cast<EventKind>(k));
  }
  return heard;
}

// The events that 1.19 does not listen to: those of CSI drivers and capacities, of claims of devices, and some more.
std::set<EventKind> UnheardIn119() {
  using enum ClusterEvent::Kind;
  return {kCsiDriverAdd,
          kCsiDriverUpdate,
          kCsiStorageCapacityAdd,
          kCsiStorageCapacityUpdate,
          kVolumeAttachmentDelete,
          kResourceClaimAdd,
          kResourceClaimUpdate,
          kDevicesChange,
          kNodeFeatures,
          kNodeOther,
          kNodeDelete,
          kPersistentVolumeClaimDelete,
          kStorageClassUpdate,
          kStorageClassOther,
          kAssignedPodLabels,
          kOwnLabels,
          kOwnScaleDown,
          kOwnTolerations,
          kOwnClaims,
          kOwnOther};
}

}  // namespace

TEST_CASE("1.29: what each plugin rejects is counted for it, and woken by the events of the queue table") {
  std::set<std::string> unseen = RulesOf(releases::v1_29::RejectionWakes());
  for (const Rejection129& rejection : Rejections129()) {
    unseen.erase(rejection.rule);
    const std::set<EventKind> expected = EventsIn(rejection.wakes);
    for (int k = 0; k <= kLastKind; ++k) {
      const auto kind = static_cast<EventKind>(k);
      const bool near = rejection.spec.find("nodeAffinity") == std::string::npos;
      if (!near && (kind == EventKind::kAssignedPodAdd || kind == EventKind::kAssignedPodUpdate)) continue;
      CAPTURE(rejection.rule, rejection.spec, k);
      const bool woken = WokenIn(releases::v1_29::Decides(), releases::v1_29::Proceeds(), rejection, kind);
      CHECK(woken == expected.contains(kind));
    }
  }
  CHECK(unseen == std::set<std::string>{});
}

TEST_CASE("1.36: what each plugin rejects is woken by the events of the queue table, and of taints where it says so") {
  using enum ClusterEvent::Kind;
  // A plugin that listens to new nodes and not to taints gets those as well.
  const std::set<EventKind> nodes = {kNodeAdd, kNodeTaints, kNodeBecameSchedulable};
  const std::vector<std::pair<std::string, std::set<EventKind>>> table = {
      {"NodeUnschedulable", {kOwnTolerations}},
      {"NodeName", {}},
      {"TaintToleration", {kOwnTolerations}},
      {"NodeAffinity", {kNodeLabels}},
      {"NodePorts", {kAssignedPodDelete}},
      {"NodeResourcesFit",
       {kNodeAllocatable, kAssignedPodDelete, kAssignedPodScaleDown, kOwnScaleDown, kDevicesChange}},
      {"VolumeRestrictions", {kAssignedPodDelete, kPersistentVolumeClaimAdd}},
      {"VolumeBinding",
       {kNodeLabels, kPersistentVolumeAdd, kPersistentVolumeUpdate, kPersistentVolumeClaimAdd,
        kPersistentVolumeClaimUpdate, kStorageClassAdd, kStorageClassUpdate, kCsiNodeAdd, kCsiNodeUpdate,
        kCsiDriverUpdate, kCsiStorageCapacityAdd, kCsiStorageCapacityUpdate}},
      {"VolumeZone",
       {kNodeLabels, kPersistentVolumeClaimAdd, kPersistentVolumeClaimUpdate, kPersistentVolumeAdd,
        kPersistentVolumeUpdate, kStorageClassAdd}},
      {"PodTopologySpread",
       {kNodeLabels, kNodeDelete, kAssignedPodAdd, kAssignedPodLabels, kAssignedPodDelete, kOwnLabels,
        kOwnTolerations}},
      {"InterPodAffinity", {kNodeLabels, kAssignedPodAdd, kAssignedPodLabels, kAssignedPodDelete, kOwnLabels}},
      {"DynamicResources",
       {kNodeLabels, kNodeAllocatable, kResourceClaimAdd, kResourceClaimUpdate, kDevicesChange, kOwnClaims}},
      {"NodeDeclaredFeatures", {kNodeFeatures, kOwnLabels, kOwnScaleDown, kOwnTolerations, kOwnClaims, kOwnOther}},
  };
  std::map<std::string, std::set<EventKind>> wakes = {
      // These do not listen to nodes: only a CSINode says what fits, and only the pod itself has gates.
      {"NodeVolumeLimits",
       {kCsiNodeAdd, kCsiNodeUpdate, kAssignedPodDelete, kPersistentVolumeClaimAdd, kVolumeAttachmentDelete}},
      {"SchedulingGates", {}},
      // A user's plugin is registered for nothing: whatever the release listens to wakes its pods.
      {"Licences", AllBut({kNodeOther, kPersistentVolumeClaimDelete, kStorageClassOther, kServiceAdd, kServiceUpdate,
                           kServiceDelete})},
  };
  for (const auto& [rule, more] : table) {
    wakes[rule] = more;
    wakes[rule].insert(nodes.begin(), nodes.end());
  }
  std::set<std::string> unseen = RulesOf(releases::v1_36::RejectionWakes());
  for (auto& [rule, expected] : wakes) {
    unseen.erase(rule);
    expected.insert(kUnschedulableTimeout);
    for (int k = 0; k <= kLastKind; ++k) {
      const auto kind = static_cast<EventKind>(k);
      CAPTURE(rule, k);
      const bool woken = WokenIn(releases::v1_36::Decides(), releases::v1_36::Proceeds(), RejectionBy(rule), kind);
      CHECK(woken == expected.contains(kind));
    }
  }
  CHECK(unseen == std::set<std::string>{});
}

TEST_CASE("1.19: any event that the release listens to wakes every pod, whichever plugin rejected it") {
  CHECK(RulesOf(releases::v1_19::RejectionWakes()).empty());
  const std::set<EventKind> heard = AllBut(UnheardIn119());
  const Registry registry = RegisteredAlgorithms(releases::v1_19::Decides());
  std::set<std::string> unseen;
  for (const auto& [name, predicate] : registry.predicates()) unseen.insert(name);
  for (const char* only_with_arguments : {"NodeLabel", "ServiceAffinity"}) unseen.erase(only_with_arguments);
  for (const Rejection129& rejection : Rejections129()) {
    const bool is_known = unseen.erase(rejection.rule) > 0 || rejection.rule == "Licences";
    if (!is_known || rejection.by_pre_filter) continue;
    for (int k = 0; k <= kLastKind; ++k) {
      const auto kind = static_cast<EventKind>(k);
      CAPTURE(rejection.rule, k);
      const bool woken = WokenIn(releases::v1_19::Decides(), releases::v1_19::Proceeds(), rejection, kind);
      CHECK(woken == heard.contains(kind));
    }
  }
  CHECK(unseen == std::set<std::string>{});
}

TEST_CASE("1.9 to 1.13: any event that the release listens to wakes every pod, whichever predicate rejected it") {
  struct Case {
    const Release* decides;
    const Process* process;
    std::set<EventKind> heard;
  };
  // 1.13 does not hear of CSI nodes either, and the end of a wait is no event there. The others listen to everything.
  std::set<EventKind> unheard = UnheardIn119();
  unheard.insert({EventKind::kCsiNodeAdd, EventKind::kCsiNodeUpdate, EventKind::kUnschedulableTimeout});
  const std::vector<Case> cases = {
      {&releases::v1_9::Decides(), &releases::v1_10::Proceeds(), AllBut({})},
      {&releases::v1_10::Decides(), &releases::v1_10::Proceeds(), AllBut({})},
      {&releases::v1_13::Decides(), &releases::v1_13::Proceeds(), AllBut(unheard)},
  };
  for (const RejectedByPredicate& rejected : RejectionsByPredicates()) {
    for (const Case& release : cases) {
      for (int k = 0; k <= kLastKind; ++k) {
        const auto kind = static_cast<EventKind>(k);
        CAPTURE(rejected.predicate, NameOf(release.decides->version), k);
        OneRule c(*release.decides, *release.process, rejected.predicate);
        c.Nodes({NodeOf("n", "", rejected.node)});
        c.Reject(PodOfRejection(rejected.spec));
        CHECK(c.Wakes(kind) == release.heard.contains(kind));
      }
    }
  }
}

TEST_CASE("1.8: no event wakes a pod, which is tried again when its back-off has ended") {
  for (const RejectedByPredicate& rejected : RejectionsByPredicates()) {
    for (int k = 0; k <= kLastKind; ++k) {
      CAPTURE(rejected.predicate, k);
      OneRule c(releases::v1_8::Decides(), releases::v1_8::Proceeds(), rejected.predicate);
      c.Nodes({NodeOf("n", "", rejected.node)});
      const api::PodPtr pod = PodOfRejection(rejected.spec);
      c.Try(pod);
      c.queue->ClusterChanged({static_cast<EventKind>(k)}, c.clock.Steady());
      CHECK(c.queue->depth().active == 0);
      c.clock.Advance(absl::Seconds(2));
      c.scheduler->Tick();
      c.AnswerAll(pod);  // it is read first
      CHECK(c.queue->depth().active == 1);
    }
  }
}

}  // namespace berth::scheduler
