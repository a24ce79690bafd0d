// One test for each bug of Kubernetes 1.10, by number: that it is fixed, or that it is kept. Not here are B-29 and B-30
// (http_extender_test.cc), B-36 (scheduler_test.cc, and daemon_schedule_test.py with the daemon's watches), B-07 and
// B-22 (in 1.9 only), and B-16 and B-31 (there is no equivalence cache).
#include <limits>

#include <catch2/catch.hpp>

#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Cat;
using testing::Evaluated;
using testing::NodeOf;
using testing::Outcome;
using testing::PodOf;
using testing::Scored;
using testing::World;
using Scores = std::vector<int64_t>;

const char kAffinityText[] = "node(s) didn't match pod affinity/anti-affinity; ";

std::string Term(const char* app, const char* key) {
  return Cat("{'labelSelector':{'matchLabels':{'app':'", app, "'}},'topologyKey':'", key, "'}");
}
std::string Required(const char* kind, const std::string& terms) {
  return Cat("'affinity':{'", kind, "':{'requiredDuringSchedulingIgnoredDuringExecution':[", terms, "]}}");
}
api::PodPtr Using(const char* claim) {
  return PodOf("p", Cat("'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'", claim, "'}}]"));
}
std::vector<std::string> Names(const std::vector<api::PodPtr>& pods) {
  std::vector<std::string> out;
  for (const auto& p : pods) out.push_back(p->meta.name);
  return out;
}
// Returns the preemption for a pod that must not fit anywhere.
Preemption Preempted(GenericScheduler& s, const api::PodPtr& pod) {
  Decision d = s.Schedule(pod);
  INFO(d.error << d.host.string());
  REQUIRE(d.outcome == Decision::Outcome::kUnfit);
  return s.Preempt(pod, *d.failures);
}
using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("B-01 fixed: simulating a preemption or a nomination leaves host ports as they are") {
  World w;
  w.Nodes({NodeOf("a")});
  const std::string port = Asks("", "'ports':[{'hostPort':80}]");
  w.Place(PodOf("low", Cat(port, ",'priority':1")), "a");
  auto high = PodOf("high", Cat(port, ",'priority':10"));
  auto s = w.Provider(true);
  CHECK(Names(Preempted(*s, high).victims) == Strings{"low"});
  CHECK(!w.cache.row(0).ports.empty());
  CHECK(Preempted(*s, high).node.str() == "a");  // a second preemption finds the same
  World n;
  n.Nodes({NodeOf("a")});
  n.nominated.Add(PodOf("nominee", Cat(port, ",'priority':10"), "", "", "'nominatedNodeName':'a'"));
  CHECK(n.Provider(true)->Schedule(PodOf("p", port)).outcome == Decision::Outcome::kUnfit);
  CHECK(n.cache.row(0).ports.empty());
}

TEST_CASE("B-02 fixed: a pressure condition that disappears is over") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'pods':'9'", "'conditions':[{'type':'DiskPressure','status':'True'}]")});
  CHECK(Outcome(w.Provider()->Schedule(PodOf("p"))) == "0/1 nodes are available: 1 node(s) had disk pressure.");
  w.Nodes({NodeOf("a")});
  CHECK(Outcome(w.Provider()->Schedule(PodOf("p"))) == "a");
}

TEST_CASE("B-03 kept: init containers of placed pods use nothing") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'2','memory':'1Gi','pods':'9'")});
  w.Place(
      PodOf("x", "'containers':[{'name':'c'}],'initContainers':[{'name':'i','resources':{'requests':{'cpu':'2'}}}]"),
      "a");
  CHECK(Outcome(w.Provider()->Schedule(PodOf("p", Asks("'cpu':'2'")))) == "a");
}

TEST_CASE("B-04 fixed: budgets of one name in two namespaces both count") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'1','pods':'9'"), NodeOf("b", "", "", "'cpu':'1','pods':'9'")});
  w.Place(PodOf("guarded", Cat(Asks("'cpu':'1'"), ",'priority':1"), "'app':'web'"), "a");
  w.Place(PodOf("free", Cat(Asks("'cpu':'1'"), ",'priority':5"), "'app':'db'"), "b");
  w.Budget("same", "'app':'web'", 0);
  w.Budget("same", "'app':'web'", 0, "other");
  auto s = w.Provider(true);
  CHECK(Preempted(*s, PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':9"))).node.str() == "b");
}

TEST_CASE("B-05 fixed: a node that is removed and comes back is a new one") {
  World w;
  auto s = w.Provider();
  auto pod = PodOf("p", Asks("'cpu':'3'"));
  w.Nodes({NodeOf("a"), NodeOf("b")});
  CHECK(Outcome(s->Schedule(pod)) == "b");
  w.cache.RemoveNode("a");
  w.cache.RemoveNode("b");
  w.Nodes({NodeOf("b", "", "", "'cpu':'1','pods':'9'"), NodeOf("a")});
  CHECK(Outcome(s->Schedule(pod)) == "a");
}

TEST_CASE("B-06 fixed: a quantity beyond 64 bits is the largest, not nothing") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'4','memory':'8Ei','pods':'9'")});
  auto s = w.Provider();
  CHECK(Outcome(s->Schedule(PodOf("p", Asks("'cpu':'10P'")))) == "0/1 nodes are available: 1 Insufficient cpu.");
  w.Place(PodOf("x", Asks("'memory':'10E'")), "a");
  CHECK(w.cache.columns().used_memory[0] == std::numeric_limits<int64_t>::max());
  // When the pod leaves, the sum of the others is exact again.
  w.Place(PodOf("y", Asks("'memory':'7'")), "a");
  REQUIRE(w.cache.RemovePod(*PodOf("x")).ok());
  CHECK(w.cache.columns().used_memory[0] == 7);
}

TEST_CASE("B-08 kept: iSCSI targets are told apart by their name alone") {
  World w;
  w.Nodes({NodeOf("a")});
  auto disk = [](const char* name, const char* portal, int lun) {
    return PodOf(name, Cat("'volumes':[{'name':'v','iscsi':{'iqn':'q','targetPortal':'", portal,
                           "','lun':", std::to_string(lun), "}}]"));
  };
  w.Place(disk("x", "1.1.1.1", 0), "a");
  CHECK(Evaluated(w, "NoDiskConflict", disk("p", "2.2.2.2", 5), "a") == "node(s) had no available disk");
}

TEST_CASE("B-09 kept: by hostname, the first pod of a group is evaluated node by node") {
  World w;
  w.Nodes({NodeOf("a", "'kubernetes.io/hostname':'a'"), NodeOf("b", "'kubernetes.io/hostname':'b'")});
  w.Place(PodOf("x", "", "'app':'web'"), "a");
  auto pod = PodOf("p", Required("podAffinity", Term("web", "kubernetes.io/hostname")), "'app':'web'");
  CHECK(Evaluated(w, "MatchInterPodAffinity", pod, "a") == "fits");
  CHECK(Evaluated(w, "MatchInterPodAffinity", pod, "b") == "fits");
}

TEST_CASE("B-10 fixed: nominated pods are where they are nominated") {
  World w;
  w.Nodes({NodeOf("a", "'kubernetes.io/hostname':'a'"), NodeOf("b", "'kubernetes.io/hostname':'b'")});
  w.nominated.Add(PodOf("nominee", "'priority':10", "'app':'web'", "", "'nominatedNodeName':'a'"));
  auto s = w.Provider(true);
  CHECK(Outcome(s->Schedule(PodOf("p", Required("podAntiAffinity", Term("web", "kubernetes.io/hostname"))))) == "b");
  // An affinity that only the nominated pod would satisfy is not satisfied yet; that is not an error.
  Decision d = s->Schedule(PodOf("q", Required("podAffinity", Term("web", "kubernetes.io/hostname"))));
  CHECK(d.outcome == Decision::Outcome::kUnfit);
}

TEST_CASE("B-11 kept: a bad expression in one node affinity term hides later terms") {
  World w;
  w.Nodes({NodeOf("a", "'x':'1'")});
  auto pod = [](const char* terms) {
    return PodOf(
        "p", Cat("'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[",
                 terms, "]}}}"));
  };
  const std::string good = "{'matchExpressions':[{'key':'x','operator':'Exists'}]}";
  const std::string bad = "{'matchExpressions':[{'key':'x','operator':'In'}]}";
  CHECK(Evaluated(w, "MatchNodeSelector", pod(Cat(bad, ",", good).c_str()), "a") ==
        "node(s) didn't match node selector");
  CHECK(Evaluated(w, "MatchNodeSelector", pod(Cat(good, ",", bad).c_str()), "a") == "fits");
}

TEST_CASE("B-12 kept: an unbound claim counts for EBS, GCE and Azure alike") {
  World w;
  w.Nodes({NodeOf("a")});
  std::string list;
  for (int i = 0; i < 17; ++i) {
    std::string n = std::to_string(i);
    w.Claim(n, "");
    list += Cat(i == 0 ? "" : ",", "{'name':'", n, "','persistentVolumeClaim':{'claimName':'", n, "'}}");
  }
  auto pod = PodOf("p", Cat("'volumes':[", list, "]"));
  CHECK(Evaluated(w, "MaxGCEPDVolumeCount", pod, "a") == "node(s) exceed max volume count");
  CHECK(Evaluated(w, "MaxAzureDiskVolumeCount", pod, "a") == "node(s) exceed max volume count");
  CHECK(Evaluated(w, "MaxEBSVolumeCount", pod, "a") == "fits");
}

TEST_CASE("B-13 fixed: the storage class is named in the error") {
  World w;
  w.Nodes({NodeOf("a", "'failure-domain.beta.kubernetes.io/zone':'z'")});
  w.Claim("c", "'storageClassName':'slow'");
  w.Class("slow", "");
  CHECK(Evaluated(w, "NoVolumeZoneConflict", Using("c"), "a") ==
        "error: VolumeBindingMode not set for StorageClass \"slow\"");
}

TEST_CASE("B-14 fixed: service affinity follows the first pod by name, whatever the order of arrival") {
  for (bool swapped : {false, true}) {
    World w;
    w.Nodes({NodeOf("a", "'rack':'1'"), NodeOf("b", "'rack':'2'")});
    w.Service("web", "'app':'web'");
    w.Place(PodOf(swapped ? "y" : "x", "", "'app':'web'"), swapped ? "b" : "a");
    w.Place(PodOf(swapped ? "x" : "y", "", "'app':'web'"), swapped ? "a" : "b");
    auto s = w.FromPolicy(
        "{'predicates':[{'name':'Near','argument':{'serviceAffinity':{'labels':['rack']}}}],'priorities':[]}");
    CHECK(Outcome(s->Schedule(PodOf("p", "", "'app':'web'"))) == "a");
  }
}

TEST_CASE("B-15 fixed: predicates under names outside the fixed order run, after it, by name") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b", "'ok':'1'")});
  auto s = w.FromPolicy(
      "{'predicates':[{'name':'Zz','argument':{'labelsPresence':{'labels':['ok'],'presence':true}}},"
      "{'name':'PodFitsPorts'},{'name':'Aa','argument':{'labelsPresence':{'labels':[],'presence':true}}},"
      "{'name':'MatchInterPodAffinity'}],'priorities':[]}");
  Strings names;
  for (const auto& p : s->config().predicates) names.push_back(p.name);
  CHECK(names == Strings{"CheckNodeCondition", "MatchInterPodAffinity", "Aa", "PodFitsPorts", "Zz"});
  CHECK(Outcome(s->Schedule(PodOf("p"))) == "b");
  w.Place(PodOf("x", Asks("", "'ports':[{'hostPort':80}]")), "b");
  CHECK(Outcome(s->Schedule(PodOf("p", Asks("", "'ports':[{'hostPort':80}]")))) ==
        "0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, "
        "1 node(s) didn't have the requested labels.");
}

TEST_CASE("B-17: another pod's mistakes are its own, the pod's own fail the attempt") {
  World w;
  w.Nodes({NodeOf("a", "'zone':'z'"), NodeOf("b", "'zone':'z'")});
  w.Place(PodOf("nameless", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':''}}]"), "a");
  w.Place(PodOf("keyless", Required("podAntiAffinity", Term("web", ""))), "a");
  w.Place(PodOf("bad",
                "'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"
                "'podAffinityTerm':{'labelSelector':{'matchExpressions':[{'key':'app','operator':'Near'}]},"
                "'topologyKey':'zone'}}]}}"),
          "b");
  auto pod = PodOf("p", "'volumes':[{'name':'v','awsElasticBlockStore':{'volumeID':'d'}}]", "'app':'web'");
  Decision d = w.Provider()->Schedule(pod);
  CHECK(d.outcome == Decision::Outcome::kPlaced);
  CHECK(d.feasible == 2);
  w.cache.AddNode(NodeOf("c"));
  w.Claim("now", "");
  CHECK(Outcome(w.Provider()->Schedule(Using("now"))) == "pod has unbound PersistentVolumeClaims (repeated 3 times)");
  CHECK(Outcome(w.Provider()->Schedule(PodOf("own", Required("podAffinity", Term("web", "")))))
            .rfind("[Cannot schedule pod default/own onto node a", 0) == 0);
}

TEST_CASE("B-18: each anti-affinity term is evaluated by its own topology key") {
  World w;
  w.Nodes({NodeOf("a1", "'zone':'a','kubernetes.io/hostname':'a1'"),
           NodeOf("a2", "'zone':'a','kubernetes.io/hostname':'a2'"),
           NodeOf("b1", "'zone':'b','kubernetes.io/hostname':'b1'")});
  w.Place(PodOf("x", Required("podAntiAffinity", Cat(Term("web", "zone"), ",", Term("db", "kubernetes.io/hostname")))),
          "a1");
  const std::string no = Cat(kAffinityText, "node(s) didn't satisfy existing pods anti-affinity rules");
  auto evaluate = [&](const char* app, const char* node) {
    return Evaluated(w, "MatchInterPodAffinity", PodOf("p", "", Cat("'app':'", app, "'")), node);
  };
  CHECK(evaluate("web", "a1") == no);
  CHECK(evaluate("web", "a2") == no);
  CHECK(evaluate("web", "b1") == "fits");
  CHECK(evaluate("db", "a1") == no);
  CHECK(evaluate("db", "a2") == "fits");
}

TEST_CASE("B-19 fixed: pods of a node that is gone, or with a bad selector, hide nothing of the others") {
  World w;
  w.Nodes({NodeOf("a", "'zone':'a'"), NodeOf("b", "'zone':'b'"), NodeOf("gone", "'zone':'b'")});
  w.Place(PodOf("x", Required("podAntiAffinity", Term("web", "zone"))), "a");
  w.Place(
      PodOf("bad",
            Required("podAntiAffinity",
                     "{'labelSelector':{'matchExpressions':[{'key':'app','operator':'Near'}]},'topologyKey':'zone'}")),
      "b");
  w.Place(PodOf("y", Required("podAntiAffinity", Term("web", "zone"))), "gone");
  w.cache.RemoveNode("gone");
  auto pod = PodOf("p", "", "'app':'web'");
  CHECK(Evaluated(w, "MatchInterPodAffinity", pod, "a") ==
        Cat(kAffinityText, "node(s) didn't satisfy existing pods anti-affinity rules"));
  CHECK(Evaluated(w, "MatchInterPodAffinity", pod, "b") == "fits");
  // A matching pod on a node that is gone does not count for the pod's own terms either.
  w.Place(PodOf("z", "", "'app':'db'"), "gone");
  CHECK(Evaluated(w, "MatchInterPodAffinity", PodOf("q", Required("podAntiAffinity", Term("db", "zone"))), "b") ==
        "fits");
  CHECK(Evaluated(w, "MatchInterPodAffinity", PodOf("q", Required("podAffinity", Term("db", "zone")), "'app':'db'"),
                  "b") == "fits");
}

TEST_CASE("B-20 kept: ServiceSpreadingPriority spreads by controllers too") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b")});
  w.cache.listers().replication_controllers.Set(testing::Decoded(
      api::DecodeReplicationController, Cat("{", testing::Meta("rc"), ",'spec':{'selector':{'app':'web'}}}")));
  w.Place(PodOf("x", "", "'app':'web'"), "a");
  CHECK(Scored(w, "ServiceSpreadingPriority", PodOf("p", "", "'app':'web'")) == Scores{0, 10});
}

TEST_CASE("B-21 fixed: an avoidance without a controller avoids nobody") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'pods':'9'", "",
                  "'annotations':{'scheduler.alpha.kubernetes.io/"
                  "preferAvoidPods':'{\\'preferAvoidPods\\':[{\\'podSignature\\':{}},{}]}'}"),
           NodeOf("b")});
  auto pod = PodOf("p", "", "",
                   "'ownerReferences':[{'apiVersion':'v1','kind':'ReplicaSet','name':'n','uid':'','controller':true}]");
  CHECK(Scored(w, "NodePreferAvoidPodsPriority", pod) == Scores{10, 10});
}

TEST_CASE("B-23 kept: 4.999999999999999 is 4") {
  World w;
  w.Service("web", "'app':'web'");
  // Upstream's formula with 5 pods on the node, at most 6 on a node, and 1 of at most 3 in the zone: one third of 1.67
  // plus two thirds of 6.67. No cluster has these numbers, so the formula is computed here.
  volatile double w2 = 2.0 / 3.0, m = 6, c = 5, z = 1, mz = 3;
  double f = 10.0 * ((m - c) / m), g = 10.0 * ((mz - z) / mz);
  CHECK(static_cast<int64_t>((f * (1.0 - w2)) + (w2 * g)) == 4);
  w.Nodes({NodeOf("a", "", "", "'cpu':'10m','memory':'10','pods':'9'"), NodeOf("b")});
  CHECK(Scored(w, "BalancedResourceAllocation", PodOf("p", Asks("'cpu':'8m','memory':'1'")))[0] == 2);
}

TEST_CASE("B-24 fixed: when one priority cannot score, others do not crash, and the attempt fails with its text") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b")});
  w.Service("web", "'app':'web'");
  w.Place(PodOf("x", "", "'app':'web'"), "a");
  auto pod = PodOf("p",
                   "'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"
                   "'preference':{'matchExpressions':[{'key':'x','operator':'Near'}]}}]}}",
                   "'app':'web'");
  const char* text = "\"Near\" is not a valid node selector operator";
  CHECK(Outcome(w.Provider()->Schedule(pod)) == Cat("[", text, ", ", text, "]"));
}

TEST_CASE("B-25 kept: the first victim counts, not the most important one") {
  World w;
  for (const char* n : {"a", "b"}) w.Nodes({NodeOf(n, "", "", "'cpu':'2','pods':'9'")});
  auto pod = [](const char* name, int priority, const char* labels = "") {
    return PodOf(name, Cat(Asks("'cpu':'1'"), ",'priority':", std::to_string(priority)), labels);
  };
  w.Budget("guard", "'app':'web'", 0);
  w.Place(pod("a-guarded", 1, "'app':'web'"), "a");
  w.Place(pod("a-important", 50), "a");
  w.Place(pod("b-guarded", 2, "'app':'web'"), "b");
  w.Place(pod("b-plain", 3), "b");
  auto s = w.Provider(true);
  Preemption p = Preempted(*s, PodOf("p", Cat(Asks("'cpu':'2'"), ",'priority':100")));
  CHECK(p.node.str() == "a");
  CHECK(Names(p.victims) == Strings{"a-guarded", "a-important"});
}

TEST_CASE("B-27 fixed: among equal nodes preemption takes the first by name") {
  World w;
  for (const char* n : {"node-2", "node-10", "node-3"}) {
    w.Nodes({NodeOf(n, "", "", "'cpu':'1','pods':'9'")});
    w.Place(PodOf(Cat("on-", n), Cat(Asks("'cpu':'1'"), ",'priority':1")), n);
  }
  auto s = w.Provider(true);
  for (int i = 0; i < 3; ++i)
    CHECK(Preempted(*s, PodOf("p", Cat(Asks("'cpu':'1'"), ",'priority':2"))).node.str() == "node-10");
}

TEST_CASE("B-28 kept: nodes that are too small are candidates, without success") {
  World w;
  w.Nodes({NodeOf("small", "", "", "'cpu':'1','pods':'9'")});
  w.Place(PodOf("x", Cat(Asks("'cpu':'1'"), ",'priority':1")), "small");
  auto s = w.Provider(true);
  Preemption p = Preempted(*s, PodOf("p", Cat(Asks("'cpu':'2'"), ",'priority':2")));
  CHECK(p.node.empty());
  CHECK(p.nominated_to_clear.empty());  // because there was a candidate
}

TEST_CASE("B-32, B-33 and B-34: volumes' terms are ANDed, classes are listed by spec, and nothing stale is assumed") {
  World w;
  w.Nodes({NodeOf("a", "'at':'a'"), NodeOf("b", "'at':'b'")});
  w.Class("late", "'volumeBindingMode':'WaitForFirstConsumer'");
  auto at = [](const char* n) {
    return Cat("{'matchExpressions':[{'key':'at','operator':'In','values':['", n, "']}]}");
  };
  w.Volume("v", Cat("'nodeAffinity':{'required':{'nodeSelectorTerms':[", at("a"), ",", at("b"), "]}}"));
  w.Claim("c", "'volumeName':'v'");
  CHECK(Evaluated(w, "CheckVolumeBinding", Using("c"), "a") == "node(s) had volume node affinity conflict");
  // B-33: a claim that names its class only in the annotation finds no volumes of that class.
  w.Volume("free", "'storageClassName':'late','capacity':{'storage':'1Gi'}");
  w.Claim("noted", "", "'annotations':{'volume.beta.kubernetes.io/storage-class':'late'}");
  w.Claim("spelled", "'storageClassName':'late'");
  CHECK(Evaluated(w, "CheckVolumeBinding", Using("noted"), "a") ==
        "node(s) didn't find available persistent volumes to bind");
  CHECK(Evaluated(w, "CheckVolumeBinding", Using("spelled"), "a") == "fits");
  // B-34: AssumePodVolumes finds the volumes anew for the chosen node and uses no result of another node.
  CHECK(Evaluated(w, "CheckVolumeBinding", Using("spelled"), "b") == "fits");
  w.cache.listers().volumes.Remove(util::Symbol(), "free");
  const api::Node& node = *w.cache.row(w.cache.FindRow(util::Symbol("a"))).node;
  CHECK(w.binder.AssumePodVolumes(*Using("spelled"), node).to_write.empty());
}

TEST_CASE("B-35 kept: an equality selector that is no valid one matches everything") {
  World w;
  w.Nodes({NodeOf("a")});
  CHECK(Evaluated(w, "MatchNodeSelector", PodOf("p", "'nodeSelector':{'a b':'c'}"), "a") == "fits");
  CHECK(Evaluated(w, "MatchNodeSelector", PodOf("p", "'nodeSelector':{'x':'not valid'}"), "a") == "fits");
  CHECK(Evaluated(w, "MatchNodeSelector", PodOf("p", "'nodeSelector':{'x':'y'}"), "a") ==
        "node(s) didn't match node selector");
}

}  // namespace berth::scheduler
