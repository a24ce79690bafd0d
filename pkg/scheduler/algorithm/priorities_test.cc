// Compares priority functions to tables of scores that follow the arithmetic of 1.10.
#include <catch2/catch.hpp>
#include <random>

#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"
#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/scheduler/reference/random_cluster.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::Asks;
using testing::Cat;
using testing::NodeOf;
using testing::PodOf;
using testing::Scored;
using testing::World;
using Scores = std::vector<int64_t>;

std::string Sized(int64_t cpu, int64_t memory) {
  return Cat("'cpu':'", std::to_string(cpu), "m','memory':'", std::to_string(memory), "','pods':'110'");
}

// Returns the score of a node of this size for a pod that raises the requests to these sums. There is a second node
// because a single feasible node is not scored.
int64_t WithRequests(const char* priority, int64_t cpu, int64_t cpu_size, int64_t memory, int64_t memory_size) {
  World w;
  w.Nodes({NodeOf("a", "", "", Sized(cpu_size, memory_size)), NodeOf("b")});
  return Scored(w, priority,
                PodOf("p", Asks(Cat("'cpu':'", std::to_string(cpu), "m','memory':'", std::to_string(memory), "'"))))[0];
}

const char kZone[] = "'failure-domain.beta.kubernetes.io/zone':'";
std::string Zone(const char* z) {
  return Cat(kZone, z, "'");
}

}  // namespace

TEST_CASE("BalancedResourceAllocation: the table") {
  const char* p = "BalancedResourceAllocation";
  CHECK(WithRequests(p, 3000, 4000, 5000, 10000) == 7);
  CHECK(WithRequests(p, 6000, 10000, 3000, 10000) == 7);
  CHECK(WithRequests(p, 700, 1000, 400, 1000) == 7);
  CHECK(WithRequests(p, 8, 10, 1, 10) == 2);   // 2.999999999999999
  CHECK(WithRequests(p, 0, 1, 4, 5) == 1);     // 1.9999999999999996
  CHECK(WithRequests(p, 0, 1, 9, 10) == 0);    // 0.9999999999999998
  CHECK(WithRequests(p, 10, 10, 1, 10) == 0);  // full
  CHECK(WithRequests(p, 1, 10, 11, 10) == 0);
  CHECK(WithRequests(p, 5, 10, 5, 0) == 0);  // a node without memory counts as full
  CHECK(WithRequests(p, 5, 10, 5, 10) == 10);
}

TEST_CASE("LeastRequestedPriority and MostRequestedPriority: integers, toward zero, the mean of two") {
  const char* least = "LeastRequestedPriority";
  CHECK(WithRequests(least, 3000, 4000, 5000, 10000) == 3);  // (2 + 5) / 2
  CHECK(WithRequests(least, 0, 4000, 0, 10000) == 10);
  CHECK(WithRequests(least, 4000, 4000, 10000, 10000) == 0);
  CHECK(WithRequests(least, 4001, 4000, 0, 10000) == 5);
  CHECK(WithRequests(least, 1, 4000, 1, 10000) == 9);
  CHECK(WithRequests(least, 0, 0, 0, 10000) == 5);
  const char* most = "MostRequestedPriority";
  CHECK(WithRequests(most, 3000, 4000, 5000, 10000) == 6);  // (7 + 5) / 2
  CHECK(WithRequests(most, 4000, 4000, 10000, 10000) == 10);
  CHECK(WithRequests(most, 4001, 4000, 10000, 10000) == 5);
  CHECK(WithRequests(most, 0, 0, 10000, 10000) == 5);
}

TEST_CASE("a tenth of a share is what integers say, however large they are") {
  auto integers = [](int64_t part, int64_t whole) {
    return static_cast<int64_t>(static_cast<uint64_t>(part) * 10u) / whole;
  };
  reference::Random random(7);
  auto number = [&] {
    const uint64_t bits =
        static_cast<uint64_t>(random.Below(1 << 30)) << 33 | static_cast<uint64_t>(random.Below(1 << 30)) << 3;
    return static_cast<int64_t>((bits | static_cast<uint64_t>(random.Below(8))) >> random.Below(63));
  };
  for (int n = 0; n < 200000; ++n) {
    const int64_t whole = 1 + number() / 2;
    int64_t part = number() % (whole + 1);
    // Half of the values are near those where the result changes.
    if (random.Chance(50))
      part = std::min(whole, std::max<int64_t>(0, whole / 10 * random.Below(11) + random.Below(3) - 1));
    INFO(part << " of " << whole);
    REQUIRE(noderesources::TenTimesShare(part, whole) == integers(part, whole));
  }
  CHECK(noderesources::TenTimesShare(-7, 3) == integers(-7, 3));
  CHECK(noderesources::TenTimesShare(INT64_MAX, INT64_MAX) == integers(INT64_MAX, INT64_MAX));
  CHECK(noderesources::TenTimesShare(5, -3) == integers(5, -3));
  CHECK(noderesources::TenTimesShare(int64_t{1} << 62, -1) == INT64_MIN);  // -(2^62 * 10) wraps
  CHECK(noderesources::TenTimesShare(INT64_MIN / 2, -1) == INT64_MIN);
}

TEST_CASE("the most negative request is scored as 1.10 does, where sums wrap") {
  World w;
  w.Nodes({NodeOf("a", "", "", Sized(4000, 10000)), NodeOf("b")});
  const auto pod = PodOf("p", Asks("'cpu':'-9223372036854775.5','memory':'0'"));
  CHECK(Scored(w, "LeastRequestedPriority", pod)[0] == 9);  // (9 + 10) / 2
  CHECK(Scored(w, "MostRequestedPriority", pod)[0] == 0);
}

TEST_CASE("resource priorities count 100m and 200Mi for each container that says nothing, and zero for zero") {
  World w;
  w.Nodes({NodeOf("a", "", "", "'cpu':'1','memory':'1000Mi','pods':'9'"),
           NodeOf("b", "", "", "'cpu':'1','memory':'1000Mi','pods':'9'")});
  const std::string two = "'containers':[{'name':'x'},{'name':'y'}]";
  CHECK(Scored(w, "LeastRequestedPriority", PodOf("p", two)) == Scores{7, 7});                // 8 and 6
  CHECK(Scored(w, "LeastRequestedPriority", PodOf("p", Asks("'cpu':'0'"))) == Scores{9, 9});  // 10 and 8
  w.Place(PodOf("there", two), "a");
  CHECK(Scored(w, "LeastRequestedPriority", PodOf("p", two)) == Scores{4, 7});  // 6 and 2
  // Init containers do not count.
  CHECK(Scored(w, "LeastRequestedPriority",
               PodOf("p",
                     "'containers':[{'name':'x'}],'initContainers':[{'name':'i','resources':{'requests':"
                     "{'cpu':'1'}}}]")) == Scores{5, 8});
}

TEST_CASE("SelectorSpreadPriority: the table of nodes and zones") {
  // The counts by node, each with its zone ("" for none), and the expected scores.
  struct Case {
    std::vector<std::pair<int, const char*>> nodes;
    Scores want;
  };
  const Case cases[] = {
      {{{0, "x"}, {0, "y"}}, {10, 10}},
      {{{0, "x"}, {1, "x"}}, {3, 0}},                            // c=0 M=1 Z=1 MZ=1
      {{{1, "x"}, {2, "y"}, {0, ""}}, {5, 0, 10}},               // 1,2 of zones 1,2
      {{{1, ""}, {3, ""}, {0, ""}}, {6, 0, 10}},                 // 6.666666666666666
      {{{0, "x"}, {1, "x"}, {2, "y"}}, {6, 5, 0}},               // c=0 M=2 Z=1 MZ=2 is 6.67
      {{{1, "x"}, {2, "y"}, {1, "y"}}, {6, 0, 1}},               // c=1 M=2 Z=1 MZ=3 is 6.11
      {{{5, "x"}, {6, "y"}, {0, "x"}}, {1, 0, 4}},               // zone sums 5 and 6
      {{{2, "x"}, {1, "x"}, {3, "y"}, {2, "y"}}, {3, 4, 0, 1}},  // c=2 M=3 Z=3 MZ=5 is 3.78
  };
  for (const Case& c : cases) {
    World w;
    w.Service("web", "'app':'web'");
    int number = 0;
    for (size_t i = 0; i < c.nodes.size(); ++i) {
      std::string name = Cat("n", std::to_string(i));
      w.Nodes({NodeOf(name, *c.nodes[i].second == 0 ? "" : Zone(c.nodes[i].second))});
      for (int k = 0; k < c.nodes[i].first; ++k)
        w.Place(PodOf(Cat("p", std::to_string(number++)), "", "'app':'web'"), name);
    }
    INFO("case " << (&c - cases));
    CHECK(Scored(w, "SelectorSpreadPriority", PodOf("p", "", "'app':'web'")) == c.want);
  }
}

TEST_CASE("SelectorSpreadPriority: whom it counts") {
  World w;
  w.Nodes({NodeOf("a"), NodeOf("b"), NodeOf("c")});
  w.Service("web", "'app':'web'");
  w.Place(PodOf("one", "", "'app':'web'"), "a");
  w.Place(PodOf("gone", "", "'app':'web'", "'deletionTimestamp':'2018-01-01T00:00:00Z'"), "b");
  w.Place(PodOf("other", "", "'app':'db'"), "c");
  CHECK(Scored(w, "SelectorSpreadPriority", PodOf("p", "", "'app':'web'")) == Scores{0, 10, 10});
  CHECK(Scored(w, "SelectorSpreadPriority", PodOf("p", "", "'app':'db'")) == Scores{10, 10, 10});  // selected by none
  // ReplicaSets count, too; one with an invalid selector is ignored.
  w.cache.listers().replica_sets.Set(testing::Decoded(
      api::DecodeReplicaSet,
      Cat("{", testing::Meta("bad"), ",'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'Near'}]}}}")));
  w.cache.listers().replica_sets.Set(testing::Decoded(
      api::DecodeReplicaSet, Cat("{", testing::Meta("db"), ",'spec':{'selector':{'matchLabels':{'app':'db'}}}}")));
  CHECK(Scored(w, "SelectorSpreadPriority", PodOf("p", "", "'app':'db'")) == Scores{10, 10, 0});
}

TEST_CASE("InterPodAffinityPriority: weights, both ways, and the hard weight") {
  World w;
  for (const char* n : {"a", "b", "c"}) w.Nodes({NodeOf(n, Cat("'zone':'", n, "'"))});
  auto likes = [](const char* kind, int weight, const char* app) {
    return Cat("'", kind, "':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':", std::to_string(weight),
               ",'podAffinityTerm':{'labelSelector':{'matchLabels':{'app':'", app, "'}},'topologyKey':'zone'}}]}");
  };
  w.Place(PodOf("web", "", "'app':'web'"), "a");
  w.Place(PodOf("db", "", "'app':'db'"), "b");
  auto score = [&](const std::string& affinity, const char* labels = "") {
    return Scored(w, "InterPodAffinityPriority", PodOf("p", Cat("'affinity':{", affinity, "}"), labels));
  };
  CHECK(score("") == Scores{0, 0, 0});
  CHECK(score(likes("podAffinity", 5, "web")) == Scores{10, 0, 0});
  CHECK(score(likes("podAntiAffinity", 5, "web")) == Scores{0, 10, 10});
  CHECK(score(Cat(likes("podAffinity", 3, "web"), ",", likes("podAntiAffinity", 7, "db"))) == Scores{10, 0, 7});
  // Terms of placed pods: a required affinity term counts with the hard weight, which is 1.
  w.Place(PodOf("fan", Cat("'affinity':{", likes("podAffinity", 2, "new"), "}")), "b");
  w.Place(PodOf("needs",
                "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
                "[{'labelSelector':{'matchLabels':{'app':'new'}},'topologyKey':'zone'}]}}"),
          "c");
  CHECK(score("", "'app':'new'") == Scores{0, 10, 5});
  auto heavy = w.FromPolicy(
      "{'predicates':[],'priorities':[{'name':'InterPodAffinityPriority','weight':1}],"
      "'hardPodAffinitySymmetricWeight':4}");
  DecisionTrace trace;
  heavy->Schedule(PodOf("p", "", "'app':'new'"), DecisionMode::kReference, &trace);
  CHECK(trace.priorities[0].scores == Scores{0, 5, 10});
}

TEST_CASE("InterPodAffinityPriority: counts to scores") {
  // (count, min, max -> score); min and max include 0.
  auto reduce = [](Scores s) {
    World w;
    w.Nodes({NodeOf("a"), NodeOf("b")});
    PluginFactoryArgs args;
    args.cache = &w.cache;
    auto pod = PodOf("p");
    auto scoring = interpodaffinity::InterPodAffinity(args)(PodContext{*pod, *w.cache.Info(*pod), w.cache});
    std::vector<DomainSum> sums;
    for (int64_t raw : s) sums.push_back({raw, true});
    const std::vector<uint32_t> nodes(s.size(), 1);
    dynamic_cast<DomainScoring&>(*scoring).Score({s.size(), sums, {}, nodes}, s);
    return s;
  };
  CHECK(reduce({3, 10}) == Scores{3, 10});
  CHECK(reduce({7, 10}) == Scores{7, 10});
  CHECK(reduce({29, 100}) == Scores{2, 10});
  CHECK(reduce({-5, -10}) == Scores{5, 0});
  CHECK(reduce({2, 3}) == Scores{6, 10});
  CHECK(reduce({6, 7}) == Scores{8, 10});
  CHECK(reduce({0, 0}) == Scores{0, 0});
  CHECK(reduce({4, 4}) == Scores{10, 10});
}

TEST_CASE("fractions of 1.8 are truncated") {
  auto reduced = [](Scores s) {
    NormalizeByReversedFraction(s, 10);
    return s;
  };
  CHECK(reduced({0, 0}) == Scores{10, 10});
  CHECK(reduced({1, 2, 3}) == Scores{6, 3, 0});
  CHECK(reduced({9, 10}) == Scores{0, 0});  // (1.0 - 0.9) * 10.0 is a little less than 1
}

TEST_CASE("a quotient of doubles is that of integers, however close it is to the next one") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const int64_t whole = static_cast<int64_t>(random() >> (20 + random() % 43)) + 1;
    const int64_t times = static_cast<int64_t>(random() % 200);
    for (const int64_t part : {whole * times / 8, whole * times / 8 - 1, whole * times / 8 + 1}) {
      CHECK(Quotient(part, whole) == part / whole);
    }
  }
  for (const int64_t part : {int64_t{1} << 53, (int64_t{1} << 53) - 1, INT64_MAX, INT64_MIN, int64_t{-7}}) {
    for (const int64_t whole : {int64_t{1}, int64_t{3}, int64_t{1} << 53, INT64_MAX}) {
      CHECK(Quotient(part, whole) == part / whole);
    }
  }
}

TEST_CASE("NormalizeReduce") {
  auto reduced = [](Scores s, bool reverse) {
    NormalizeReduce(s, reverse, 10);
    return s;
  };
  CHECK(reduced({0, 0}, false) == Scores{0, 0});
  CHECK(reduced({0, 0}, true) == Scores{10, 10});
  CHECK(reduced({1, 2, 3}, false) == Scores{3, 6, 10});
  CHECK(reduced({1, 2, 3}, true) == Scores{7, 4, 0});
  CHECK(reduced({100, 33, 0}, false) == Scores{10, 3, 0});
  CHECK(reduced({}, true) == Scores{});
}

TEST_CASE("NodeAffinityPriority and TaintTolerationPriority") {
  World w;
  w.Nodes({NodeOf("a", "'disk':'ssd'",
                  "'taints':[{'key':'k','effect':'PreferNoSchedule'},{'key':'l','effect':'PreferNoSchedule'}]"),
           NodeOf("b", "'disk':'ssd','rack':'1'", "'taints':[{'key':'k','effect':'PreferNoSchedule'}]"), NodeOf("c")});
  auto wants = [](const char* terms) {
    return PodOf("p",
                 Cat("'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[", terms, "]}}"));
  };
  const char* ssd = "{'weight':2,'preference':{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}}";
  const char* rack = "{'weight':4,'preference':{'matchExpressions':[{'key':'rack','operator':'Exists'}]}}";
  CHECK(Scored(w, "NodeAffinityPriority", wants(ssd)) == Scores{10, 10, 0});
  CHECK(Scored(w, "NodeAffinityPriority", wants(Cat(ssd, ",", rack).c_str())) == Scores{3, 10, 0});
  CHECK(Scored(w, "NodeAffinityPriority", wants("{'weight':9,'preference':{}}")) == Scores{0, 0, 0});
  CHECK(Scored(w, "NodeAffinityPriority", PodOf("p")) == Scores{0, 0, 0});
  CHECK(Scored(w, "TaintTolerationPriority", PodOf("p")) == Scores{0, 5, 10});
  auto tolerates = [](const char* t) { return PodOf("p", Cat("'tolerations':[{", t, "}]")); };
  CHECK(Scored(w, "TaintTolerationPriority", tolerates("'key':'k'")) == Scores{0, 10, 10});
  CHECK(Scored(w, "TaintTolerationPriority", tolerates("'key':'k','effect':'PreferNoSchedule'")) == Scores{0, 10, 10});
  CHECK(Scored(w, "TaintTolerationPriority", tolerates("'key':'k','effect':'NoSchedule'")) == Scores{0, 5, 10});
  CHECK(Scored(w, "TaintTolerationPriority", tolerates("'operator':'Exists'")) == Scores{10, 10, 10});
}

TEST_CASE("ImageLocalityPriority: from 23 MiB to 1000 MiB") {
  auto score = [](const char* bytes, const char* containers = "{'name':'c','image':'img:1'}") {
    World w;
    w.Nodes({NodeOf("a", "", "", "'pods':'9'", Cat("'images':[{'names':['img:1','alias'],'sizeBytes':", bytes, "}]")),
             NodeOf("b")});
    return Scored(w, "ImageLocalityPriority", PodOf("p", Cat("'containers':[", containers, "]")))[0];
  };
  CHECK(score("24117247") == 0);
  CHECK(score("24117248") == 1);
  CHECK(score("126563122") == 1);
  CHECK(score("126563124") == 2);
  CHECK(score("1048575999") == 10);
  CHECK(score("1048576000") == 10);
  CHECK(score("2000000000") == 10);
  CHECK(score("600000000", "{'name':'c','image':'img:1'},{'name':'d','image':'alias'}") == 10);  // twice
  CHECK(score("600000000", "{'name':'c','image':'img'}") == 0);  // the name must be exact
}

TEST_CASE("NodePreferAvoidPodsPriority") {
  World w;
  const char* note =
      "'annotations':{'scheduler.alpha.kubernetes.io/preferAvoidPods':'{\\'preferAvoidPods\\':[{\\'podSignature\\':"
      "{\\'podController\\':{\\'kind\\':\\'ReplicaSet\\',\\'uid\\':\\'u1\\',\\'name\\':\\'any\\'}}}]}'}";
  w.Nodes(
      {NodeOf("a", "", "", "'pods':'9'", "", note), NodeOf("b"),
       NodeOf("c", "", "", "'pods':'9'", "", "'annotations':{'scheduler.alpha.kubernetes.io/preferAvoidPods':'{'}")});
  auto owned = [](const char* kind, const char* uid, const char* controller = "true") {
    return PodOf("p", "", "",
                 Cat("'ownerReferences':[{'apiVersion':'v1','kind':'", kind, "','name':'n','uid':'", uid,
                     "','controller':", controller, "}]"));
  };
  const char* p = "NodePreferAvoidPodsPriority";
  CHECK(Scored(w, p, owned("ReplicaSet", "u1")) == Scores{0, 10, 10});
  CHECK(Scored(w, p, owned("ReplicaSet", "u2")) == Scores{10, 10, 10});
  CHECK(Scored(w, p, owned("ReplicationController", "u1")) == Scores{10, 10, 10});
  CHECK(Scored(w, p, owned("ReplicaSet", "u1", "false")) == Scores{10, 10, 10});
  CHECK(Scored(w, p, PodOf("p")) == Scores{10, 10, 10});
}

TEST_CASE("labelPreference, serviceAntiAffinity, EqualPriority and ResourceLimitsPriority") {
  World w;
  w.Nodes({NodeOf("a", "'rack':'1'"), NodeOf("b", "'rack':'2'"), NodeOf("c"), NodeOf("d", "'rack':'1'")});
  auto scored = [&](const char* priority, const api::PodPtr& pod) {
    DecisionTrace trace;
    w.FromPolicy(Cat("{'predicates':[],'priorities':[{'name':'Mine','weight':1,'argument':{", priority, "}}]}"))
        ->Schedule(pod, DecisionMode::kReference, &trace);
    return trace.priorities[0].scores;
  };
  CHECK(scored("'labelPreference':{'label':'rack','presence':true}", PodOf("p")) == Scores{10, 10, 0, 10});
  CHECK(scored("'labelPreference':{'label':'rack','presence':false}", PodOf("p")) == Scores{0, 0, 10, 0});
  const char* anti = "'serviceAntiAffinity':{'label':'rack'}";
  auto pod = PodOf("p", "", "'app':'web'");
  CHECK(scored(anti, pod) == Scores{10, 10, 0, 10});
  w.Service("web", "'app':'web'");
  for (const char* n : {"1", "2", "3"})
    w.Place(PodOf(n, "", "'app':'web'"), n[0] == '1' ? "a" : n[0] == '2' ? "b" : "d");
  w.Place(PodOf("4", "", "'app':'web'", "'deletionTimestamp':'2018-01-01T00:00:00Z'"),
          "c");                                    // counts, but is in no rack
  CHECK(scored(anti, pod) == Scores{5, 7, 0, 5});  // 2, 1 of 4
  CHECK(Scored(w, "EqualPriority", pod) == Scores{1, 1, 1, 1});

  World sizes;
  sizes.Nodes({NodeOf("big", "", "", "'cpu':'4','memory':'100','pods':'9'"),
               NodeOf("small", "", "", "'cpu':'1','memory':'10','pods':'9'")});
  FactoryArgs args = sizes.Args();
  args.gates.resource_limits_priority_function = true;
  auto scheduler = CreateFromKeys({}, {"ResourceLimitsPriority"}, args).value();
  auto limited = [&](const char* limits) {
    DecisionTrace trace;
    scheduler->Schedule(PodOf("p", Cat("'containers':[{'name':'c','resources':{'limits':{", limits, "}}}]")),
                        DecisionMode::kReference, &trace);
    return trace.priorities[0].scores;
  };
  CHECK(limited("") == Scores{0, 0});
  CHECK(limited("'cpu':'1'") == Scores{1, 1});
  CHECK(limited("'cpu':'1001m'") == Scores{1, 0});
  CHECK(limited("'cpu':'5','memory':'10'") == Scores{1, 1});
  CHECK(limited("'cpu':'5','memory':'101'") == Scores{0, 0});
}

}  // namespace berth::scheduler
