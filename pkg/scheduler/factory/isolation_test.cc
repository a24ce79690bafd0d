// Builds a thousand small scenarios in one process, each with its own algorithm and gates, and checks that none affects
// the next.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/reference/lockstep.h"

namespace berth::scheduler {
namespace {

using reference::Lockstep;
using reference::Seeds;

// Returns all decisions of the scenario with this seed, as text.
std::string Run(uint64_t seed) {
  Lockstep world(seed);
  reference::Random& r = world.random;
  reference::Settings unused;
  FactoryArgs args;
  args.release = &releases::v1_10::Decides();
  args.cache = &world.cache;
  args.gates.taint_nodes_by_condition = r.Chance(25);
  args.gates.resource_limits_priority_function = r.Chance(50);
  args.gates.algorithm.pod_priority = r.Chance(50);
  args.gates.algorithm.volume_scheduling = r.Chance(70);
  args.nominated = args.gates.algorithm.pod_priority ? &world.nominated : nullptr;
  args.volume_binder = args.gates.algorithm.volume_scheduling ? &world.binder : nullptr;
  Policy policy =
      RandomPolicy(&r, args.gates.taint_nodes_by_condition, args.gates.resource_limits_priority_function, &unused);
  std::string name = r.Of({"Ours", "HostName", "GeneralPredicates", "AcrossZones", "CheckServiceAffinity"});
  PredicatePolicy ours;
  ours.name = name;
  ours.argument.emplace().labels_presence = {{r.Of({"rack", "disk", "nowhere"})}, r.Chance(50)};
  policy.predicates->push_back(ours);  // replaces the registered predicate of this name
  EffectiveAlgorithm effective;
  auto made = r.Chance(20)
                  ? CreateFromProvider(r.Of({"DefaultProvider", "ClusterAutoscalerProvider"}), args, &effective)
                  : CreateFromConfig(policy, args, &effective);
  if (!made.ok()) return absl::StrCat("not made: ", made.status().message());
  std::string out;
  for (const std::string& p : effective.predicates) absl::StrAppend(&out, p, " ");
  for (const auto& [p, weight] : effective.priorities) absl::StrAppend(&out, p, "=", weight, " ");
  for (int n = 0; n < 12; ++n) {
    for (int k = r.Below(4); k > 0; --k) world.Change();
    auto pod = world.Pending();
    DecisionTrace trace;
    Decision d = (*made)->Schedule(pod, DecisionMode::kReference, &trace);
    absl::StrAppend(&out, "\n", pod->meta.name, ": ", d.host.string(), d.error);
    for (int64_t total : trace.totals) absl::StrAppend(&out, " ", total);
    if (!d.host.empty()) world.Assume(pod, d.host.string());
  }
  return out;
}

}  // namespace

TEST_CASE("a thousand scenarios, one after another, decide as each does alone") {
  // Runs the scenarios in another order, so that each has other neighbours, and while others are alive.
  std::vector<std::string> first;
  auto seeds = Seeds(1000);
  for (uint64_t seed : seeds) first.push_back(Run(seed));
  for (size_t i = seeds.size(); i-- > 0;) {
    INFO("BERTH_RANDOM_SEED=" << seeds[i]);
    CHECK(Run(seeds[i]) == first[i]);
  }
  size_t different = 0;
  for (size_t i = 1; i < first.size(); ++i) different += first[i] != first[i - 1];
  CHECK(different + 1 == first.size());
}

}  // namespace berth::scheduler
