// Tests each fit predicate by itself. The property tests in reference/ cover combinations.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Evaluated;
using testing::NodeOf;
using testing::PodOf;
using testing::World;

constexpr char kFits[] = "fits";

}  // namespace

TEST_CASE("PodFitsResources: exactly what is left fits, one unit more does not") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'2','memory':'1000','pods':'3','ephemeral-storage':'10','example.com/x':'2'")});
  w.Place(PodOf("there", Asks("'cpu':'500m','memory':'400','ephemeral-storage':'4','example.com/x':'1'")), "a");
  auto evaluate = [&](const char* requests) {
    return Evaluated(w, "PodFitsResources", PodOf("p", Asks(requests)), "a");
  };
  CHECK(evaluate("'cpu':'1500m'") == kFits);
  CHECK(evaluate("'cpu':'1501m'") == "Insufficient cpu");
  CHECK(evaluate("'memory':'600'") == kFits);
  CHECK(evaluate("'memory':'601'") == "Insufficient memory");
  CHECK(evaluate("'ephemeral-storage':'6'") == kFits);
  CHECK(evaluate("'ephemeral-storage':'7'") == "Insufficient ephemeral-storage");
  CHECK(evaluate("'example.com/x':'1'") == kFits);
  CHECK(evaluate("'example.com/x':'2'") == "Insufficient example.com/x");
  CHECK(evaluate("'example.com/y':'1'") == "Insufficient example.com/y");
  CHECK(evaluate("'alpha.kubernetes.io/nvidia-gpu':'1'") == "Insufficient alpha.kubernetes.io/nvidia-gpu");
  CHECK(evaluate("'cpu':'9','memory':'9Gi'") == "Insufficient cpu; Insufficient memory");
  CHECK(evaluate("'storage':'1Ei','kubernetes.io/x':'5'") == kFits);  // not counted
  CHECK(evaluate("'cpu':'0.5m','memory':'0.5'") == kFits);            // rounded up to 1m and 1
}

TEST_CASE("PodFitsResources: the number of pods, and pods that ask for nothing") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'1','memory':'1Gi','pods':'2'"), NodeOf("none", "", "", "")});
  w.Place(PodOf("one", Asks("'cpu':'1','memory':'2Gi'")), "a");  // more memory than the node has
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", Asks("")), "a") == kFits);
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", Asks("'cpu':'0'")), "a") == kFits);
  // Once a pod requests anything, all resources are compared. A scalar request of 0 counts as a request.
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", Asks("'example.com/x':'0'")), "a") == "Insufficient memory");
  w.Place(PodOf("two", Asks("")), "a");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", Asks("")), "a") == "Insufficient pods");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", Asks("")), "none") == "Insufficient pods");
}

TEST_CASE("PodFitsResources: init containers raise the pod's own request") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'3','memory':'3G','pods':'5'")});
  const char* spec =
      "'containers':[{'name':'a','resources':{'requests':{'cpu':'2','memory':'1G'}}},"
      "{'name':'b','resources':{'requests':{'cpu':'1','memory':'1G'}}}],"
      "'initContainers':[{'name':'i','resources':{'requests':{'cpu':'2','memory':'3G'}}}]";
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", spec), "a") == kFits);
  w.Place(PodOf("q", Asks("'memory':'1'")), "a");
  CHECK(Evaluated(w, "PodFitsResources", PodOf("p", spec), "a") == "Insufficient memory");
}

TEST_CASE("GeneralPredicates: all reasons, in order") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'pods':'10'")});
  w.Place(PodOf("holder", Asks("", "'ports':[{'hostPort':80,'containerPort':1}]")), "a");
  auto pod = PodOf("p", Asks("'cpu':'1'", "'ports':[{'hostPort':80,'containerPort':1}]") +
                            ",'nodeName':'b','nodeSelector':{'x':'y'}");
  CHECK(Evaluated(w, "GeneralPredicates", pod, "a") ==
        "Insufficient cpu; node(s) didn't match the requested hostname; "
        "node(s) didn't have free ports for the requested pod ports; node(s) didn't match node selector");
}

TEST_CASE("PodFitsHostPorts: conflicts go by address, protocol and port") {
  struct Case {
    const char *used, *wanted;
    bool fits;
  };
  const Case cases[] = {
      {"'hostPort':80", "'hostPort':80", false},
      {"'hostPort':80", "'hostPort':81", true},
      {"'hostPort':80", "'hostPort':80,'protocol':'UDP'", true},
      {"'hostPort':80,'protocol':'TCP'", "'hostPort':80", false},
      {"'hostPort':80,'hostIP':'1.1.1.1'", "'hostPort':80,'hostIP':'1.1.1.2'", true},
      {"'hostPort':80,'hostIP':'1.1.1.1'", "'hostPort':80,'hostIP':'1.1.1.1'", false},
      {"'hostPort':80,'hostIP':'1.1.1.1'", "'hostPort':80", false},
      {"'hostPort':80,'hostIP':'0.0.0.0'", "'hostPort':80,'hostIP':'1.1.1.1'", false},
      {"'hostPort':80,'hostIP':'1.1.1.1','protocol':'UDP'", "'hostPort':80", true},
      {"'containerPort':80", "'hostPort':80", true},
      {"'hostPort':80", "'containerPort':80", true},
  };
  for (const Case& c : cases) {
    INFO(c.used << " and " << c.wanted);
    World w;
    w.Nodes({NodeOf("a")});
    w.Place(PodOf("holder", Asks("", std::string("'ports':[{") + c.used + "}]")), "a");
    auto pod = PodOf("p", Asks("", std::string("'ports':[{") + c.wanted + "}]"));
    for (const char* key : {"PodFitsHostPorts", "PodFitsPorts"}) {
      CHECK((Evaluated(w, key, pod, "a") == kFits) == c.fits);
    }
  }
}

TEST_CASE("host ports of two pods are one: either one's leaving frees it") {
  World w;
  w.Nodes({NodeOf("a")});
  auto holder = PodOf("x", Asks("", "'ports':[{'hostPort':80}]"));
  w.Place(holder, "a");
  w.Place(PodOf("y", Asks("", "'ports':[{'hostPort':80}]")), "a");
  REQUIRE(w.cache.RemovePod(*holder).ok());
  CHECK(Evaluated(w, "PodFitsHostPorts", PodOf("p", Asks("", "'ports':[{'hostPort':80}]")), "a") == kFits);
}

TEST_CASE("MatchNodeSelector: nodeSelector and all operators of required node affinity") {
  World w;
  w.Nodes({NodeOf("a", "'disk':'ssd','n':'5'")});
  auto selector = [&](const std::string& s) {
    return Evaluated(w, "MatchNodeSelector", PodOf("p", "'nodeSelector':{" + s + "}"), "a");
  };
  const std::string no = "node(s) didn't match node selector";
  CHECK(selector("") == kFits);
  CHECK(selector("'disk':'ssd'") == kFits);
  CHECK(selector("'disk':'hdd'") == no);
  CHECK(selector("'disk':'ssd','n':'6'") == no);
  auto terms = [&](const std::string& t) {
    return Evaluated(w, "MatchNodeSelector",
                     PodOf("p",
                           "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
                           "{'nodeSelectorTerms':[" +
                               t + "]}}}"),
                     "a");
  };
  auto one = [&](const std::string& e) { return terms("{'matchExpressions':[{" + e + "}]}"); };
  CHECK(one("'key':'disk','operator':'In','values':['hdd','ssd']") == kFits);
  CHECK(one("'key':'disk','operator':'NotIn','values':['ssd']") == no);
  CHECK(one("'key':'other','operator':'NotIn','values':['ssd']") == kFits);
  CHECK(one("'key':'disk','operator':'Exists'") == kFits);
  CHECK(one("'key':'disk','operator':'DoesNotExist'") == no);
  CHECK(one("'key':'n','operator':'Gt','values':['4']") == kFits);
  CHECK(one("'key':'n','operator':'Gt','values':['5']") == no);
  CHECK(one("'key':'n','operator':'Lt','values':['6']") == kFits);
  CHECK(one("'key':'n','operator':'Lt','values':['5']") == no);
  CHECK(one("'key':'disk','operator':'Gt','values':['1']") == no);
  CHECK(terms("") == no);
  CHECK(terms("{}") == no);
  CHECK(terms("{},{'matchExpressions':[{'key':'disk','operator':'Exists'}]}") == kFits);  // terms are ORed
}

TEST_CASE("taints: which tolerations tolerate what") {
  struct Case {
    const char *taint, *toleration;
    bool fits;
  };
  const Case cases[] = {
      {"'key':'k','value':'v','effect':'NoSchedule'", "", false},
      {"'key':'k','value':'v','effect':'NoExecute'", "", false},
      {"'key':'k','value':'v','effect':'PreferNoSchedule'", "", true},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'key':'k','value':'v','effect':'NoSchedule'", true},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'key':'k','operator':'Equal','value':'v'", true},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'key':'k','value':'w'", false},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'key':'k','operator':'Exists'", true},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'operator':'Exists'", true},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'value':'v'", true},  // an empty key matches every key
      {"'key':'k','value':'v','effect':'NoSchedule'", "'key':'k','operator':'Exists','effect':'NoExecute'", false},
      {"'key':'k','value':'v','effect':'NoSchedule'", "'key':'k','operator':'Like','value':'v'", false},
      {"'key':'k','effect':'NoSchedule'", "'key':'k'", true},
      {"'key':'k','effect':'NoExecute'", "'key':'k','operator':'Exists','tolerationSeconds':1", true},
  };
  for (const Case& c : cases) {
    INFO(c.taint << " and " << c.toleration);
    World w;
    w.Nodes({NodeOf("a", "", std::string("'taints':[{") + c.taint + "}]")});
    std::string list = *c.toleration == 0 ? "" : std::string("{") + c.toleration + "}";
    std::string got = Evaluated(w, "PodToleratesNodeTaints", PodOf("p", "'tolerations':[" + list + "]"), "a");
    CHECK(got == (c.fits ? kFits : "node(s) had taints that the pod didn't tolerate"));
  }
}

TEST_CASE("CheckNodeCondition: every entry counts, what is unknown is bad, no entry is good") {
  auto evaluate = [](const char* conditions, const char* spec = "") {
    World w;
    w.Nodes({NodeOf("a", "", spec, "'pods':'1'", std::string("'conditions':[") + conditions + "]")});
    return Evaluated(w, "CheckNodeCondition", PodOf("p"), "a");
  };
  CHECK(evaluate("") == kFits);
  CHECK(evaluate("{'type':'Ready','status':'True'}") == kFits);
  CHECK(evaluate("{'type':'Ready','status':'False'}") == "node(s) were not ready");
  CHECK(evaluate("{'type':'Ready','status':'Unknown'}") == "node(s) were not ready");
  CHECK(evaluate("{'type':'OutOfDisk','status':'False'},{'type':'NetworkUnavailable','status':'False'}") == kFits);
  CHECK(evaluate("{'type':'OutOfDisk','status':'Unknown'}") == "node(s) were out of disk space");
  CHECK(evaluate("{'type':'NetworkUnavailable','status':'True'}") == "node(s) had unavailable network");
  CHECK(evaluate("{'type':'MemoryPressure','status':'True'}") == kFits);
  CHECK(evaluate("{'type':'NetworkUnavailable','status':'True'},{'type':'Ready','status':'False'},"
                 "{'type':'Ready','status':'False'}",
                 "'unschedulable':true") ==
        "node(s) had unavailable network; node(s) were not ready; "
        "node(s) were not ready; node(s) were unschedulable");
}

TEST_CASE("pressure: memory turns best-effort pods away, disk all") {
  World w;
  w.Nodes(
      {NodeOf("a", "", "", "'pods':'9'",
              "'conditions':[{'type':'MemoryPressure','status':'True'},{'type':'DiskPressure','status':'True'}]"),
       NodeOf(
           "b", "", "", "'pods':'9'",
           "'conditions':[{'type':'MemoryPressure','status':'Unknown'},{'type':'DiskPressure','status':'Unknown'}]")});
  const std::string memory = "node(s) had memory pressure";
  auto evaluate = [&](const std::string& spec) {
    return Evaluated(w, "CheckNodeMemoryPressure", PodOf("p", spec), "a");
  };
  CHECK(evaluate(Asks("")) == memory);
  CHECK(evaluate(Asks("'cpu':'0','example.com/x':'1'")) == memory);
  CHECK(evaluate(Asks("'cpu':'1m'")) == kFits);
  CHECK(evaluate("'containers':[{'name':'c','resources':{'limits':{'memory':'1'}}}]") == kFits);
  CHECK(evaluate("'initContainers':[{'name':'c','resources':{'requests':{'memory':'1'}}}]") == memory);
  CHECK(Evaluated(w, "CheckNodeMemoryPressure", PodOf("p"), "b") == kFits);
  CHECK(Evaluated(w, "CheckNodeDiskPressure", PodOf("p", Asks("'cpu':'1'")), "a") == "node(s) had disk pressure");
  CHECK(Evaluated(w, "CheckNodeDiskPressure", PodOf("p"), "b") == kFits);
}

TEST_CASE("NoDiskConflict: who may share what") {
  struct Case {
    const char *there, *ours;
    bool fits;
  };
  const Case cases[] = {
      {"'gcePersistentDisk':{'pdName':'d'}", "'gcePersistentDisk':{'pdName':'d'}", false},
      {"'gcePersistentDisk':{'pdName':'d','readOnly':true}", "'gcePersistentDisk':{'pdName':'d'}", false},
      {"'gcePersistentDisk':{'pdName':'d','readOnly':true}", "'gcePersistentDisk':{'pdName':'d','readOnly':true}",
       true},
      {"'gcePersistentDisk':{'pdName':'d'}", "'gcePersistentDisk':{'pdName':'e'}", true},
      {"'awsElasticBlockStore':{'volumeID':'d','readOnly':true}",
       "'awsElasticBlockStore':{'volumeID':'d','readOnly':true}", false},
      {"'awsElasticBlockStore':{'volumeID':'d'}", "'gcePersistentDisk':{'pdName':'d'}", true},
      {"'rbd':{'monitors':['a','b'],'pool':'p','image':'i'}", "'rbd':{'monitors':['b','c'],'pool':'p','image':'i'}",
       false},
      {"'rbd':{'monitors':['a'],'pool':'p','image':'i'}", "'rbd':{'monitors':['c'],'pool':'p','image':'i'}", true},
      {"'rbd':{'monitors':['a'],'pool':'p','image':'i'}", "'rbd':{'monitors':['a'],'pool':'q','image':'i'}", true},
      {"'rbd':{'monitors':['a'],'pool':'p','image':'i'}", "'rbd':{'monitors':['a'],'pool':'p','image':'j'}", true},
      {"'rbd':{'monitors':['a'],'pool':'p','image':'i','readOnly':true}",
       "'rbd':{'monitors':['a'],'pool':'p','image':'i','readOnly':true}", true},
      {"'azureDisk':{'diskName':'d'}", "'azureDisk':{'diskName':'d'}", true},
      {"'persistentVolumeClaim':{'claimName':'d'}", "'persistentVolumeClaim':{'claimName':'d'}", true},
  };
  for (const Case& c : cases) {
    INFO(c.there << " and " << c.ours);
    World w;
    w.Nodes({NodeOf("a")});
    w.Place(PodOf("holder", std::string("'volumes':[{'name':'v',") + c.there + "}]"), "a");
    std::string got =
        Evaluated(w, "NoDiskConflict", PodOf("p", std::string("'volumes':[{'name':'v',") + c.ours + "}]"), "a");
    CHECK(got == (c.fits ? kFits : "node(s) had no available disk"));
  }
}

namespace {

std::string EbsVolumes(int from, int count) {
  std::string list;
  for (int i = from; i < from + count; ++i) {
    std::string id = std::to_string(i);
    list += testing::Cat(i == from ? "" : ",", "{'name':'v", id, "','awsElasticBlockStore':{'volumeID':'d", id, "'}}");
  }
  return testing::Cat("'volumes':[", list, "]");
}

struct MaxVolumesVariable {
  explicit MaxVolumesVariable(const char* value) { setenv("KUBE_MAX_PD_VOLS", value, 1); }
  ~MaxVolumesVariable() { unsetenv("KUBE_MAX_PD_VOLS"); }
};

}  // namespace

TEST_CASE("MaxEBSVolumeCount: 39 distinct volumes, whoever uses them") {
  World w;
  w.Nodes({NodeOf("a")});
  w.Place(PodOf("x", EbsVolumes(0, 20)), "a");
  w.Place(PodOf("y", EbsVolumes(10, 20)), "a");  // 30 volumes in total
  CHECK(Evaluated(w, "MaxEBSVolumeCount", PodOf("p", EbsVolumes(25, 14)), "a") == kFits);
  CHECK(Evaluated(w, "MaxEBSVolumeCount", PodOf("p", EbsVolumes(25, 15)), "a") == "node(s) exceed max volume count");
  CHECK(Evaluated(w, "MaxEBSVolumeCount", PodOf("p", EbsVolumes(0, 5)), "a") == kFits);  // these are already attached
  CHECK(Evaluated(w, "MaxGCEPDVolumeCount", PodOf("p", EbsVolumes(25, 15)), "a") == kFits);
  CHECK(Evaluated(w, "MaxEBSVolumeCount", PodOf("p"), "a") == kFits);
}

TEST_CASE("KUBE_MAX_PD_VOLS replaces all three limits when it is a number above 0") {
  World w;
  w.Nodes({NodeOf("a")});
  auto ebs = [&](int n) { return Evaluated(w, "MaxEBSVolumeCount", PodOf("p", EbsVolumes(0, n)), "a") == kFits; };
  auto gce = [&] {
    return Evaluated(w, "MaxGCEPDVolumeCount",
                     PodOf("p",
                           "'volumes':[{'name':'a','gcePersistentDisk':{'pdName':'a'}},"
                           "{'name':'b','gcePersistentDisk':{'pdName':'b'}},"
                           "{'name':'c','gcePersistentDisk':{'pdName':'c'}}]"),
                     "a") == kFits;
  };
  {
    MaxVolumesVariable two("2");
    CHECK(ebs(2));
    CHECK(!ebs(3));
    CHECK(!gce());
  }
  for (const char* bad : {"0", "-3", "many", "", "3x"}) {
    INFO(bad);
    MaxVolumesVariable variable(bad);
    CHECK(ebs(39));
    CHECK(!ebs(40));
    CHECK(gce());
  }
}

TEST_CASE("volume counts look through claims") {
  World w;
  w.Nodes({NodeOf("a")});
  w.Volume("pv", "'awsElasticBlockStore':{'volumeID':'d0'}");
  w.Volume("other", "'azureDisk':{'diskName':'d1'}");
  w.Claim("bound", "'volumeName':'pv'");
  w.Claim("azure", "'volumeName':'other'");
  w.Claim("unbound", "");
  w.Claim("lost", "'volumeName':'nowhere'");
  auto claim = [](const char* name) {
    return std::string("{'name':'") + name + "','persistentVolumeClaim':{'claimName':'" + name + "'}}";
  };
  MaxVolumesVariable one("1");
  w.Place(PodOf("x", EbsVolumes(0, 1)), "a");
  auto evaluate = [&](const std::string& volume) {
    return Evaluated(w, "MaxEBSVolumeCount", PodOf("p", "'volumes':[" + volume + "]"), "a");
  };
  CHECK(evaluate(claim("bound")) == kFits);  // d0 is already attached
  CHECK(evaluate(claim("azure")) == kFits);  // of another kind
  CHECK(evaluate(claim("unbound")) == "node(s) exceed max volume count");
  CHECK(evaluate(claim("lost")) == "node(s) exceed max volume count");
  CHECK(evaluate(claim("unknown")) == "node(s) exceed max volume count");
  CHECK(evaluate("{'name':'v','persistentVolumeClaim':{'claimName':''}}") ==
        "error: PersistentVolumeClaim had no name");
}

TEST_CASE("NoVolumeZoneConflict") {
  World w;
  const char* zone = "'failure-domain.beta.kubernetes.io/zone'";
  const char* region = "'failure-domain.beta.kubernetes.io/region'";
  auto label = [](const char* key, const char* value) { return std::string(key) + ":'" + value + "'"; };
  w.Nodes({NodeOf("a", label(zone, "z1")), NodeOf("b", label(region, "r1")), NodeOf("plain")});
  auto volume = [&](const char* name, const std::string& labels) {
    w.Volume(name, "", "'labels':{" + labels + "}");
    w.Claim(name, std::string("'volumeName':'") + name + "'");
  };
  volume("in-z1", label(zone, "z1"));
  volume("in-z1-z2", label(zone, "z2__z1"));
  volume("in-z2", label(zone, "z2"));
  volume("odd", label(zone, "z2__"));
  w.Claim("late", "'storageClassName':'late'");
  w.Claim("now", "'storageClassName':'now'");
  w.Claim("modeless", "'storageClassName':'modeless'");
  w.Claim("lost", "'volumeName':'nowhere'");
  w.Class("late", "'volumeBindingMode':'WaitForFirstConsumer'");
  w.Class("now", "'volumeBindingMode':'Immediate'");
  w.Class("modeless", "");
  auto evaluate = [&](const std::string& claim, const char* node) {
    auto pod = PodOf("p", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'" + claim + "'}}]");
    return Evaluated(w, "NoVolumeZoneConflict", pod, node);
  };
  const std::string no = "node(s) had no available volume zone";
  CHECK(evaluate("in-z1", "a") == kFits);
  CHECK(evaluate("in-z1-z2", "a") == kFits);
  CHECK(evaluate("in-z2", "a") == no);
  CHECK(evaluate("in-z1", "b") == no);  // b has no zone label
  CHECK(evaluate("in-z2", "plain") == kFits);
  CHECK(evaluate("odd", "a") == kFits);  // the label has an empty zone and is ignored
  CHECK(evaluate("late", "a") == kFits);
  CHECK(evaluate("now", "a") == "error: PersistentVolumeClaim is not bound: \"now\"");
  CHECK(evaluate("modeless", "a") == "error: VolumeBindingMode not set for StorageClass \"modeless\"");
  CHECK(evaluate("lost", "a") == "error: persistentvolume \"nowhere\" not found");
  CHECK(evaluate("unknown", "a") == "error: persistentvolumeclaim \"unknown\" not found");
  CHECK(evaluate("unknown", "plain") == kFits);
}

TEST_CASE("MatchInterPodAffinity: the pod's own required terms") {
  World w;
  auto in_zone = [](const char* z) { return std::string("'zone':'") + z + "'"; };
  w.Nodes({NodeOf("a1", in_zone("a")), NodeOf("a2", in_zone("a")), NodeOf("b1", in_zone("b")), NodeOf("none")});
  w.Place(PodOf("web", "", "'app':'web'"), "a1");
  auto pod = [](const char* kind, const std::string& term, const char* labels = "") {
    return PodOf(
        "p",
        std::string("'affinity':{'") + kind + "':{'requiredDuringSchedulingIgnoredDuringExecution':[{" + term + "}]}}",
        labels);
  };
  const std::string web = "'labelSelector':{'matchLabels':{'app':'web'}},'topologyKey':'zone'";
  const std::string db = "'labelSelector':{'matchLabels':{'app':'db'}},'topologyKey':'zone'";
  const std::string no = "node(s) didn't match pod affinity/anti-affinity; node(s) didn't match pod affinity rules";
  const std::string no_anti =
      "node(s) didn't match pod affinity/anti-affinity; node(s) didn't match pod anti-affinity rules";
  auto evaluate = [&](const api::PodPtr& p, const char* node) {
    return Evaluated(w, "MatchInterPodAffinity", p, node);
  };
  CHECK(evaluate(pod("podAffinity", web), "a2") == kFits);
  CHECK(evaluate(pod("podAffinity", web), "b1") == no);
  CHECK(evaluate(pod("podAffinity", web), "none") == no);
  CHECK(evaluate(pod("podAntiAffinity", web), "a2") == no_anti);
  CHECK(evaluate(pod("podAntiAffinity", web), "b1") == kFits);
  CHECK(evaluate(pod("podAntiAffinity", web), "none") == kFits);
  // The first pod of a group may go anywhere as long as there is no other.
  CHECK(evaluate(pod("podAffinity", db, "'app':'db'"), "b1") == kFits);
  CHECK(evaluate(pod("podAffinity", db), "b1") == no);
  CHECK(evaluate(pod("podAffinity", web, "'app':'web'"), "b1") == no);
  // Other namespaces count only if they are named. A missing selector matches nothing, an empty one everything.
  CHECK(evaluate(pod("podAntiAffinity", "'namespaces':['other']," + web), "a2") == kFits);
  CHECK(evaluate(pod("podAntiAffinity", "'topologyKey':'zone'"), "a2") == kFits);
  CHECK(evaluate(pod("podAntiAffinity", "'labelSelector':{},'topologyKey':'zone'"), "a2") == no_anti);
  // Invalid terms of the pod itself are errors for affinity and failures for anti-affinity.
  CHECK(evaluate(pod("podAntiAffinity", "'labelSelector':{},'topologyKey':''"), "b1") == no_anti);
  CHECK(evaluate(pod("podAffinity", "'labelSelector':{},'topologyKey':''"), "b1")
            .rfind("error: Cannot schedule pod default/p onto node b1", 0) == 0);
}

TEST_CASE("MatchInterPodAffinity: placed pods keep others away, and terminating ones too") {
  World w;
  w.Nodes({NodeOf("a1", "'zone':'a'"), NodeOf("a2", "'zone':'a'"), NodeOf("b1", "'zone':'b'")});
  const char* alone =
      "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
      "[{'labelSelector':{'matchLabels':{'app':'web'}},'topologyKey':'zone'}]}}";
  w.Place(PodOf("loner", alone, "'app':'db'", "'deletionTimestamp':'2018-01-01T00:00:00Z'"), "a1");
  const std::string no =
      "node(s) didn't match pod affinity/anti-affinity; "
      "node(s) didn't satisfy existing pods anti-affinity rules";
  CHECK(Evaluated(w, "MatchInterPodAffinity", PodOf("p", "", "'app':'web'"), "a2") == no);
  CHECK(Evaluated(w, "MatchInterPodAffinity", PodOf("p", "", "'app':'web'"), "b1") == kFits);
  CHECK(Evaluated(w, "MatchInterPodAffinity", PodOf("p", "", "'app':'db'"), "a2") == kFits);
}

TEST_CASE("Policy arguments: labelsPresence and serviceAffinity") {
  World w;
  w.Nodes({NodeOf("a", "'rack':'1','zone':'x'"), NodeOf("b", "'rack':'2','zone':'x'"), NodeOf("c", "'zone':'y'")});
  auto placed = [&](const char* predicates, const api::PodPtr& pod) {
    DecisionTrace trace;
    w.FromPolicy(std::string("{'predicates':[") + predicates + "],'priorities':[]}")
        ->Schedule(pod, DecisionMode::kReference, &trace);
    std::string out;
    for (auto name : trace.feasible) out += name.string();
    return out;
  };
  CHECK(placed("{'name':'Racked','argument':{'labelsPresence':{'labels':['rack'],'presence':true}}}", PodOf("p")) ==
        "ab");
  CHECK(placed("{'name':'Racked','argument':{'labelsPresence':{'labels':['rack'],'presence':false}}}", PodOf("p")) ==
        "c");
  CHECK(placed("{'name':'Racked','argument':{'labelsPresence':{'labels':['rack','zone'],'presence':false}}}",
               PodOf("p")) == "");
  CHECK(placed("{'name':'Racked','argument':{'labelsPresence':{'labels':[],'presence':true}}}", PodOf("p")) == "abc");
  const char* zone = "{'name':'Together','argument':{'serviceAffinity':{'labels':['zone']}}}";
  const char* both = "{'name':'Together','argument':{'serviceAffinity':{'labels':['zone','rack']}}}";
  auto pod = PodOf("p", "", "'app':'web'");
  CHECK(placed(zone, pod) == "abc");
  w.Place(PodOf("first", "", "'app':'web'"), "a");
  CHECK(placed(zone, pod) == "abc");  // no service selects the pod
  w.Service("web", "'app':'web'");
  CHECK(placed(zone, pod) == "ab");
  CHECK(placed(both, pod) == "a");
  CHECK(placed(both, PodOf("p", "'nodeSelector':{'rack':'2'}", "'app':'web'")) == "b");  // its own selector first
  CHECK(placed(zone, PodOf("p", "'nodeSelector':{'zone':'y'}", "'app':'web'")) == "c");
}

}  // namespace berth::scheduler
