// The incremental scheduler in situations that the random clusters of reference/parity_test.cc seldom produce.
#include <algorithm>
#include <catch2/catch.hpp>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/testing/world.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Bound;
using testing::Cat;
using testing::NodeOf;
using testing::Outcome;
using testing::PodOf;
using testing::World;

// Two schedulers over one cluster. One decides incrementally, the other by the reference scheduler.
struct Pair {
  explicit Pair(World* world) : fast(world->Provider()), plain(world->Provider()) {}
  std::unique_ptr<GenericScheduler> fast, plain;
  // Returns the node on which both place the pod. Fails the test when they differ.
  std::string Place(const api::PodPtr& pod) {
    DecisionTrace trace;
    std::string host = Outcome(fast->Schedule(pod));
    CHECK(host == Outcome(plain->Schedule(pod, DecisionMode::kReference, &trace)));
    return host;
  }
};

std::string Zone(int i) {
  return Cat("'failure-domain.beta.kubernetes.io/zone':'z", std::to_string(i), "'");
}

}  // namespace

TEST_CASE("nodes that move from zone to zone, again and again, are scored by where they are") {
  World world;
  world.Service("web", "'app':'web'");
  for (int i = 0; i < 6; ++i) world.Nodes({NodeOf(Cat("n", std::to_string(i)), Zone(i % 2))});
  Pair pair(&world);
  for (int i = 0; i < 400; ++i) {
    // Mostly two nodes move to the same zone, and every zone is new.
    std::string name = Cat("n", std::to_string(i % 6));
    world.Nodes({NodeOf(name, Zone(1000 + i / 2))});
    auto pod = PodOf(Cat("p", std::to_string(i)), Asks("'cpu':'1m'"), "'app':'web'");
    std::string host = pair.Place(pod);
    if (i % 3 == 0) world.Place(pod, host);
    // A pod of another class with the same StaticNodeIndex, which is decided seldom.
    if (i % 50 == 0) pair.Place(PodOf("other", Asks("'cpu':'2m'"), "'app':'web'"));
  }
}

// A class sorts its rows into buckets by bitmaps while there are few groups and scores, and by counting when there are
// many.
TEST_CASE("pods of a class are placed by score, however many zones there are") {
  constexpr int kNodes = 300;
  for (const int zones : {3, 190}) {
    INFO(zones << " zones");
    World world;
    world.Service("web", "'app':'web'");
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = Cat("n", std::to_string(i));
      world.Nodes({NodeOf(name, Zone(i % zones))});
      const std::string used = Cat("'cpu':'", std::to_string(1 + i * 37 % 1900), "m'");
      world.Place(PodOf(Cat("used-", std::to_string(i)), Asks(used)), name);
    }
    Pair pair(&world);
    for (int i = 0; i < 40; ++i) {
      const auto pod =
          PodOf(Cat("p", std::to_string(i)), Asks(i % 2 == 0 ? "'cpu':'1m'" : "'cpu':'50m'"), "'app':'web'");
      const std::string host = pair.Place(pod);
      REQUIRE(host.starts_with("n"));
      world.Place(pod, host);
    }
  }
}

// As pods of Jobs, each with a label of its own.
TEST_CASE("nothing is kept for templates of which no pod is left") {
  World world;
  world.Nodes({NodeOf("a", "", ""), NodeOf("b", "", "")});
  auto scheduler = world.Provider();
  for (int i = 0; i < 5000; ++i) {
    const std::string label = Cat("'job':'j", std::to_string(i), "'");
    CHECK(Outcome(scheduler->Schedule(PodOf(Cat("p", std::to_string(i)), Asks("'cpu':'1m'"), label))) != "");
  }
  CHECK(scheduler->kept_answers_bytes() < size_t{16} << 20);
}

TEST_CASE("pods whose tolerations differ in nothing but effect or operator are told apart") {
  World world;
  world.Nodes({NodeOf("a", "", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]"),
               NodeOf("b", "", "'taints':[{'key':'k','value':'v','effect':'NoExecute'}]"),
               NodeOf("c", "", "'taints':[{'key':'k','value':'w','effect':'NoSchedule'}]"),
               NodeOf("d", "", "'taints':[{'key':'other','effect':'NoSchedule'}]")});
  Pair pair(&world);
  auto host = [&](const char* toleration) {
    return pair.Place(PodOf("p", Cat(Asks("'cpu':'1'"), ",'tolerations':[{'key':'k','value':'v',", toleration, "}]")));
  };
  CHECK(host("'operator':'Equal','effect':'NoSchedule'") == "a");
  CHECK(host("'operator':'Equal','effect':'NoExecute'") == "b");
  CHECK(host("'operator':'Exists','effect':'NoSchedule'") == "c");
  CHECK(host("'operator':'Equal','effect':'NoSchedule'") == "a");
}

TEST_CASE("pods that ask for the same share what is known of amounts, whatever they tolerate") {
  World world;
  auto node = [&](int i, const char* cpu) {
    return NodeOf(Cat("n", std::to_string(i)), Zone(i % 3),
                  Cat("'taints':[{'key':'t", std::to_string(i % 4), "','effect':'NoSchedule'}]"),
                  Cat("'cpu':'", cpu, "','memory':'8Gi','pods':'12'"));
  };
  for (int i = 0; i < 24; ++i) world.Nodes({node(i, "4")});
  Pair pair(&world);
  std::vector<api::PodPtr> placed;
  for (int i = 0; i < 300; ++i) {
    // The pod tolerates all taints but one. So there are four classes that fit different nodes and share RowAnswers.
    std::string tolerations;
    for (int t = 0; t < 4; ++t) {
      if (t != i % 4)
        tolerations += Cat(tolerations.empty() ? "" : ",", "{'key':'t", std::to_string(t), "','operator':'Exists'}");
    }
    auto pod = PodOf(Cat("p", std::to_string(i)),
                     Cat(Asks(i / 4 % 2 == 0 ? "'cpu':'300m'" : "'cpu':'700m'"), ",'tolerations':[", tolerations, "]"));
    const std::string host = pair.Place(pod);
    if (host.starts_with("n")) {
      world.Place(pod, host);
      placed.push_back(pod);
    }
    // Between two pods of one class, nodes go, nodes come back with other amounts, and pods end.
    if (i % 7 == 3) world.cache.RemoveNode(Cat("n", std::to_string(i % 24)));
    if (i % 7 == 5) world.Nodes({node((i - 2) % 24, i % 2 == 0 ? "1" : "6")});
    if (i % 5 == 4 && !placed.empty()) {
      REQUIRE(world.cache.RemovePod(*placed[placed.size() / 2]).ok());
      placed.erase(placed.begin() + static_cast<ptrdiff_t>(placed.size() / 2));
    }
  }
}

TEST_CASE("scores that lie far apart are kept like others") {
  World world;
  for (int i = 0; i < 40; ++i) {
    world.Nodes({NodeOf(Cat("n", std::to_string(i)), i % 4 == 0 ? "'disk':'ssd'" : "", "",
                        Cat("'cpu':'", std::to_string(1 + i % 7), "','memory':'8Gi','pods':'10'"))});
  }
  for (const char* weight : {"1000000", "3000000000"}) {
    INFO(weight);
    const std::string policy =
        Cat("{'predicates':[{'name':'PodFitsResources'}],'priorities':[{'name':'LeastRequestedPriority',"
            "'weight':",
            weight, "},{'name':'BalancedResourceAllocation','weight':7}]}");
    auto fast = world.FromPolicy(policy), plain = world.FromPolicy(policy);
    for (int i = 0; i < 60; ++i) {
      auto pod =
          PodOf(Cat(weight, "-", std::to_string(i)), Asks(i % 2 == 0 ? "'cpu':'300m'" : "'cpu':'200m','memory':'1Gi'"));
      DecisionTrace trace;
      std::string host = Outcome(fast->Schedule(pod));
      REQUIRE(host == Outcome(plain->Schedule(pod, DecisionMode::kReference, &trace)));
      world.Place(pod, host);
    }
  }
}

TEST_CASE("kinds of pods that take turns, and some that come several times in a row, are spread like others") {
  World world;
  constexpr int kKinds = 48;
  for (int i = 0; i < 30; ++i) world.Nodes({NodeOf(Cat("n", std::to_string(i)), Zone(i % 3))});
  for (int k = 0; k < kKinds; ++k) {
    world.Service(Cat("s", std::to_string(k)).c_str(), Cat("'app':'a", std::to_string(k), "'").c_str());
  }
  Pair pair(&world);
  std::vector<api::PodPtr> placed;
  uint32_t random = 1;
  for (int i = 0; i < 700; ++i) {
    // Every seventh pod begins a run of pods of one kind. Pods of a kind may not share a node if its number is a
    // multiple of 4, and requests differ from kind to kind, so that kinds seldom share what is kept.
    random = random * 1664525 + 1013904223;
    const int kind = static_cast<int>(i % 7 < 4 ? i / 7 : random >> 16) % kKinds;
    const std::string app = Cat("'app':'a", std::to_string(kind), "'");
    std::string spec = Asks(Cat("'cpu':'", std::to_string(10 + kind), "m'"));
    if (kind % 4 == 0) {
      spec +=
          Cat(",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
              "'kubernetes.io/hostname','labelSelector':{'matchLabels':{",
              app, "}}}]}}");
    }
    auto pod = PodOf(Cat("p", std::to_string(i)), spec, app);
    const std::string host = pair.Place(pod);
    if (host.starts_with("n")) {
      world.Place(pod, host);
      placed.push_back(pod);
    }
    if (i % 3 == 2 && !placed.empty()) {
      const auto gone = placed.begin() + static_cast<ptrdiff_t>(random % placed.size());
      REQUIRE(world.cache.RemovePod(**gone).ok());
      placed.erase(gone);
    }
  }
}

// Rows and ranks of nodes that go are given to others, between two uses of what is kept.
TEST_CASE("nodes that come under new names, and go, are scored like others") {
  World world;
  world.Service("web", "'app':'web'");
  std::vector<std::string> nodes;
  uint32_t state = 1;
  const auto random = [&](size_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  const auto add = [&](const std::string& name) {
    world.Nodes({NodeOf(name, Zone(static_cast<int>(random(3))))});
    if (std::find(nodes.begin(), nodes.end(), name) == nodes.end()) nodes.push_back(name);
  };
  for (int i = 0; i < 40; ++i) add(Cat("n", std::to_string(2 * i)));
  Pair pair(&world);
  std::vector<api::PodPtr> placed;
  for (int i = 0; i < 1500; ++i) {
    for (size_t n = random(3); n > 0; --n) {
      if (random(2) == 0 && nodes.size() > 20) {
        std::swap(nodes[random(nodes.size())], nodes.back());
        world.cache.RemoveNode(nodes.back());
        nodes.pop_back();
      } else if (nodes.size() < 60) {
        add(Cat("n", std::to_string(random(100))));
      }
    }
    // Pods of the first kinds come often, so that what is kept for them is brought up to date from few changes.
    const size_t kind = random(random(6) + 1);
    const auto pod = PodOf(Cat("p", std::to_string(i)), Asks(Cat("'cpu':'", std::to_string(10 + kind), "m'")),
                           kind % 2 == 0 ? "'app':'web'" : "'app':'other'");
    const std::string host = pair.Place(pod);
    REQUIRE(host.starts_with("n"));
    world.Place(pod, host);
    placed.push_back(pod);
    if (placed.size() < 60) continue;
    const auto gone = placed.begin() + static_cast<ptrdiff_t>(random(placed.size()));
    REQUIRE(world.cache.RemovePod(**gone).ok());
    placed.erase(gone);
  }
}

// The numbers of pods on nodes are looked up for the nodes alone that may be chosen where these are few, and compared
// with one another unless nearly all differ. Each pod asks for something else, so that nothing is kept for it.
TEST_CASE("pods are spread over few nodes or all, whether these have the same numbers of pods or all different ones") {
  constexpr int kNodes = 100;
  const bool all_differ = GENERATE(false, true);
  World world;
  world.Service("web", "'app':'web'");
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = Cat("n", std::to_string(i));
    const std::string labels = Cat(Zone(i % 3), ",'rack':'r", std::to_string(i / 4), "'");
    world.Nodes({NodeOf(name, labels, "", "'cpu':'4','memory':'8Gi','pods':'200'")});
    for (int k = 0; k < (all_differ ? i : 1 + i % 3); ++k) {
      world.Place(PodOf(Cat(name, "-", std::to_string(k)), "", "'app':'web'"), name);
    }
  }
  Pair pair(&world);
  for (int i = 0; i < 120; ++i) {
    const std::string rack = Cat("'nodeSelector':{'rack':'r", std::to_string(i % 25), "'},");
    const auto pod =
        PodOf(Cat("p", std::to_string(i)),
              Cat(i % 3 == 0 ? "" : rack, Asks(Cat("'cpu':'", std::to_string(1 + i), "m'"))), "'app':'web'");
    const std::string host = pair.Place(pod);
    REQUIRE(host.starts_with("n"));
    world.Place(pod, host);
  }
}

// Nearly every node is alone in its zone, so that the index does not look for nodes that are alike.
TEST_CASE("nodes that are all different are scored like others, also when they change") {
  constexpr int kNodes = 120;
  World world;
  world.Service("web", "'app':'web'");
  const std::string soft = "{'key':'a','effect':'PreferNoSchedule'}", two = Cat(soft, ",", soft);
  const auto taints = [&](int i) { return Cat("'taints':[", i % 3 == 0 ? "" : i % 3 == 1 ? soft : two, "]"); };
  for (int i = 0; i < kNodes; ++i) world.Nodes({NodeOf(Cat("n", std::to_string(i)), Zone(i), taints(i))});
  Pair pair(&world);
  for (int i = 0; i < 300; ++i) {
    // Some nodes get a zone that was there before, others a new one, and some go for a while.
    const std::string name = Cat("n", std::to_string(i * 7 % kNodes));
    if (i % 5 == 1) world.cache.RemoveNode(name);
    if (i % 5 != 1) world.Nodes({NodeOf(name, Zone(i % 3 == 0 ? i % 10 : 1000 + i), taints(i))});
    const auto pod = PodOf(Cat("p", std::to_string(i)), Asks(i % 4 == 0 ? "'cpu':'50m'" : "'cpu':'1m'"), "'app':'web'");
    const std::string host = pair.Place(pod);
    REQUIRE(host.starts_with("n"));
    world.Place(pod, host);
  }
}

// After some pods that fit nowhere, the reasons are looked for first.
TEST_CASE("pods of many kinds that fit nowhere are told the same reasons, and others among them are placed") {
  World world;
  for (int i = 0; i < 30; ++i) {
    world.Nodes({NodeOf(Cat("n", std::to_string(i)), Zone(i % 3),
                        i % 2 == 0 ? "'taints':[{'key':'t','effect':'NoSchedule'}]" : "")});
  }
  Pair pair(&world);
  for (int i = 0; i < 120; ++i) {
    const int kind = i % 40;
    const bool fits = kind % 9 == 8;
    const auto pod = PodOf(Cat("p", std::to_string(i)), Asks(fits ? "'cpu':'1m'" : "'cpu':'1000'"),
                           Cat("'app':'a", std::to_string(kind), "'"));
    const std::string host = pair.Place(pod);
    CHECK(host.starts_with("n") == fits);
    CHECK(pair.fast->last_node_index() == pair.plain->last_node_index());
    if (fits) world.Place(pod, host);
  }
}

TEST_CASE("pods of one kind with volumes of their own are placed like others, wherever the volumes are") {
  World world;
  world.Service("web", "'app':'web'");
  for (int i = 0; i < 40; ++i) world.Nodes({NodeOf(Cat("n", std::to_string(i)), Zone(i % 4))});
  Pair pair(&world);
  for (int i = 0; i < 60; ++i) {
    const std::string name = Cat("data-", std::to_string(i));
    // A volume that is in no zone excludes no node.
    world.Volume(name, "'capacity':{'storage':'1Gi'}", i % 3 == 0 ? "" : Cat("'labels':{", Zone(i % 4), "}"));
    world.Claim(name, Cat("'volumeName':'", name, "'"));
    const auto pod =
        PodOf(Cat("p", std::to_string(i)),
              Cat(Asks("'cpu':'10m'"), ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'", name, "'}}]"),
              "'app':'web'");
    const std::string host = pair.Place(pod);
    REQUIRE(host.starts_with("n"));
    world.Place(pod, host);
  }
}

TEST_CASE("an error about volumes is reported of a node that would fail a later predicate") {
  World world;
  world.Nodes({NodeOf("a"), NodeOf("b", Zone(1), "", "'cpu':'4','memory':'8Gi','pods':'10'",
                                   "'conditions':[{'type':'DiskPressure','status':'True'}]")});
  world.Claim("data", "'volumeName':'gone'");
  const char* policy = "{'predicates':[{'name':'NoVolumeZoneConflict'},{'name':'CheckNodeDiskPressure'}]}";
  auto fast = world.FromPolicy(policy), plain = world.FromPolicy(policy);
  auto pod = PodOf("p", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'data'}}]");
  DecisionTrace trace;
  CHECK(Outcome(fast->Schedule(pod)) == "persistentvolume \"gone\" not found");
  CHECK(Outcome(plain->Schedule(pod, DecisionMode::kReference, &trace)) == "persistentvolume \"gone\" not found");
  CHECK(Outcome(fast->Schedule(PodOf("q"))) == "a");
}

// A pod on the node "far" has a volume by a claim that is not its own, which is an error of any pod that could attach
// one there. The limits of volumes are examined before inter-pod affinity, which admits "near" alone.
TEST_CASE("an error about volumes is reported of a node where affinity rejects the pod") {
  const char* const release = GENERATE("1.29", "1.36");
  World world(releases::Of(**release::Named(release)).decides);
  ClaimBinder binder(&world.cache);
  FactoryArgs args = world.Args();
  args.claim_binder = &binder;
  const auto profile = configuration::DefaultProfile(PluginsToConfigure(*world.release));
  auto fast = CreateFromProfile(profile, {}, args).value(), plain = CreateFromProfile(profile, {}, args).value();
  for (const std::string name : {"near", "far"}) {
    world.Nodes({NodeOf(name, Cat("'kubernetes.io/hostname':'", name, "'"))});
    world.cache.listers().csi_nodes.Set(testing::Decoded(
        api::DecodeCsiNode, Cat("{'metadata':{'name':'", name, "'},'spec':{'drivers':[{'name':'d','nodeID':'", name,
                                "','allocatable':{'count':9}}]}}")));
  }
  world.Place(PodOf("db", "", "'app':'db'"), "near");
  const bool mistaken = GENERATE(false, true);
  if (mistaken) {
    world.Claim("other-v", "'volumeName':'pv-other'");
    world.Place(PodOf("other", "'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':{}}}}]"), "far");
  }
  world.Volume("pv",
               "'claimRef':{'namespace':'default','name':'data','uid':'uid-data'},"
               "'csi':{'driver':'d','volumeHandle':'h'}");
  world.Claim("data", "'volumeName':'pv'", "'annotations':{'pv.kubernetes.io/bind-completed':'yes'}");
  const auto pod = PodOf("p",
                         "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'data'}}],"
                         "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
                         "'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'db'}}}]}}");
  DecisionTrace trace;
  const std::string wanted = Outcome(plain->Schedule(pod, DecisionMode::kReference, &trace));
  INFO(wanted);
  CHECK(wanted.find(mistaken ? "was not created for pod" : "near") != std::string::npos);
  CHECK(Outcome(fast->Schedule(pod)) == wanted);
}

}  // namespace berth::scheduler
