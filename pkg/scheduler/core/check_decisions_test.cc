// DecisionMode::kBoth finds rules whose traits declare less than the rule reads.
#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler {
namespace {

using testing::NodeOf;
using testing::Outcome;
using testing::PodOf;
using testing::World;

// Returns a scheduler with a predicate that rejects pods with the label app=a on node n1 and is registered with the
// given traits.
std::unique_ptr<GenericScheduler> SchedulerWith(World& w, Traits traits) {
  Registry registry = FrozenRegistry(releases::v1_10::Decides());
  auto reads_label = FromPerNode("ReadsLabel", [](const api::Pod& pod, const NodeInfo& node) {
    PredicateResult result;
    result.fit = pod.tmpl->labels.Get(Symbol("app")) != Symbol("a") || node.node()->meta.name != "n1";
    if (!result.fit) result.reasons.emplace_back("node(s) were for others");
    return result;
  });
  REQUIRE(registry
              .AddPredicate(
                  "ReadsLabel", [reads_label](const PluginFactoryArgs&) { return reads_label; }, traits)
              .ok());
  FactoryArgs args = w.Args();
  args.registry = &registry;
  return CreateFromKeys({"ReadsLabel"}, {}, args).value();
}

api::PodPtr App(const char* name, const char* app) {
  return PodOf(name, "", testing::Cat("'app':'", app, "'"));
}

}  // namespace

TEST_CASE("a rule with too small traits is found by deciding both ways, and the reference decision counts") {
  World w;
  w.Nodes({NodeOf("n1")});
  auto scheduler = SchedulerWith(w, PredicateTraits(kPodNothing, ClusterPart::kNode));
  // The answers for app=b are kept, and by its traits the rule has the same ones for app=a.
  REQUIRE(Outcome(scheduler->Schedule(App("b1", "b"))) == "n1");
  REQUIRE(Outcome(scheduler->Schedule(App("b2", "b"))) == "n1");
  REQUIRE(Outcome(scheduler->Schedule(App("a1", "a"))) == "n1");

  const Decision both = scheduler->Schedule(App("a2", "a"), DecisionMode::kBoth);
  CHECK(both.outcome == Decision::Outcome::kUnfit);
  CHECK(both.difference ==
        "the incremental scheduler places it on node n1 (1 nodes fit, 1 share the best score); the reference scheduler "
        "finds no node where it fits");
  DecisionTrace trace;
  CHECK(!scheduler->Schedule(App("a3", "a"), DecisionMode::kBoth, &trace).difference.empty());
  CHECK(trace.failures != nullptr);
}

TEST_CASE("a pod that the incremental scheduler would not place is found, too") {
  World w;
  w.Nodes({NodeOf("n1")});
  auto scheduler = SchedulerWith(w, PredicateTraits(kPodNothing, ClusterPart::kNode));
  REQUIRE(Outcome(scheduler->Schedule(App("a1", "a"))) == "0/1 nodes are available: 1 node(s) were for others.");
  REQUIRE(Outcome(scheduler->Schedule(App("a2", "a"))) == "0/1 nodes are available: 1 node(s) were for others.");
  const Decision both = scheduler->Schedule(App("b1", "b"), DecisionMode::kBoth);
  CHECK(Outcome(both) == "n1");
  CHECK(both.difference ==
        "the incremental scheduler finds no node where it fits; the reference scheduler places it on node n1 (1 nodes "
        "fit, 1 share the best score)");
}

TEST_CASE("deciding both ways takes one turn of round robin and differs in nothing when the traits are right") {
  World w;
  w.Nodes({NodeOf("n1"), NodeOf("n2"), NodeOf("n3")});
  auto both_ways = SchedulerWith(w, PredicateTraits(kPodLabels, ClusterPart::kNode));
  auto one_way = SchedulerWith(w, PredicateTraits(kPodLabels, ClusterPart::kNode));
  for (int i = 0; i < 20; ++i) {
    const api::PodPtr pod = App("p", i % 3 == 0 ? "a" : "b");
    const Decision d = both_ways->Schedule(pod, DecisionMode::kBoth);
    CHECK(d.difference == "");
    CHECK(d.host == one_way->Schedule(pod).host);
    CHECK(both_ways->last_node_index() == one_way->last_node_index());
  }
}

}  // namespace berth::scheduler
