// SchedulerOptions::check_decisions: a share of the decisions is made both ways, compared and counted.
#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/testing/scheduler_case.h"

namespace berth::scheduler {
namespace {

using testing::Case;
using testing::NewNode;
using testing::NewPod;

// Returns the algorithms of DefaultProvider, with a predicate HostName that rejects pods with priority 7 on every node
// and whose traits do not declare that it reads the priority.
Registry WithWrongTraits() {
  Registry registry = FrozenRegistry(releases::v1_10::Decides());
  auto reads_priority = FromPerNode("HostName", [](const api::Pod& pod, const NodeInfo&) {
    PredicateResult result;
    result.fit = pod.Priority() != 7;
    if (!result.fit) result.reasons.emplace_back("node(s) were for others");
    return result;
  });
  auto add = [&](const char* name) {
    REQUIRE(registry
                .AddPredicate(
                    name, [reads_priority](const PluginFactoryArgs&) { return reads_priority; },
                    PredicateTraits(kPodNothing, ClusterPart::kNode))
                .ok());
  };
  add("NoDiskConflict");
  return registry;
}

SchedulerOptions Checking(double share) {
  SchedulerOptions options;
  options.check_decisions = share;
  return options;
}

void Bind(Case& c, const api::PodPtr& pod) {
  c.Add(pod);
  c.Run();
}

}  // namespace

TEST_CASE("no decision is checked unless a share is asked for") {
  Case c;
  c.Add(NewNode("n1", 100));
  for (int i = 0; i < 5; ++i) Bind(c, NewPod(absl::StrCat("p", i)));
  CHECK(c.s().metrics().scheduled == 5);
  CHECK(c.s().metrics().checked_decisions == 0);
}

TEST_CASE("every fourth decision is checked with a share of 0.25") {
  Case c(false, Checking(0.25));
  c.Add(NewNode("n1", 100));
  for (int i = 0; i < 10; ++i) Bind(c, NewPod(absl::StrCat("p", i)));
  CHECK(c.s().metrics().scheduled == 10);
  CHECK(c.s().metrics().checked_decisions == 2);
  CHECK(c.s().metrics().decision_differences == 0);
}

TEST_CASE("a rule with wrong traits is counted and logged, and the reference decision is carried out") {
  const Registry registry = WithWrongTraits();
  Case c(false, Checking(1), &registry);
  c.Add(NewNode("n1", 100));
  for (int i = 0; i < 3; ++i) Bind(c, NewPod(absl::StrCat("p", i)));
  CHECK(c.s().metrics().decision_differences == 0);
  c.Add(NewPod("important", {.priority = 7}));
  CHECK(c.Run().find("event important Warning FailedScheduling: 0/1 nodes are available: 1 node(s) were for others.") ==
        0);
  CHECK(c.s().metrics().checked_decisions == 4);
  CHECK(c.s().metrics().decision_differences == 1);

  Case unchecked(false, {}, &registry);
  unchecked.Add(NewNode("n1", 100));
  for (int i = 0; i < 3; ++i) Bind(unchecked, NewPod(absl::StrCat("p", i)));
  unchecked.Add(NewPod("important", {.priority = 7}));
  CHECK(unchecked.Run() == "bind important n1");  // the wrong placement that the check finds
}

}  // namespace berth::scheduler
