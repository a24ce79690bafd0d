// Checks that every registered rule reads no more than its traits declare, and that TraitsProblem finds rules that do.
#include "pkg/scheduler/testing/traits_check.h"
#include "pkg/releases/v1_10/decides.h"

#include <catch2/catch.hpp>

#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::scheduler {
namespace {

using testing::TraitsProblem;

}  // namespace

TEST_CASE("every registered rule of every release reads no more than its traits declare") {
  Registry later;
  releases::v1_29::Decides().register_algorithms(&later);
  for (const Registry& registry : {FrozenRegistry(releases::v1_10::Decides()), later}) {
    for (const auto& [name, rule] : registry.predicates()) {
      int pairs = 0;
      CHECK(TraitsProblem(registry, name, {}, &pairs) == "");
      if (rule.traits.incremental()) CHECK(pairs > 20);
    }
    for (const auto& [name, rule] : registry.priorities()) CHECK(TraitsProblem(registry, name) == "");
  }
}

TEST_CASE("a rule that reads more than it declares is found") {
  Registry r;
  auto reads_label = FromPerNode("ReadsLabel", [](const api::Pod& pod, const NodeInfo&) {
    PredicateResult result;
    result.fit = pod.tmpl->labels.Get(Symbol("app")) != Symbol("a1");
    return result;
  });
  auto reads_pods = FromPerNode("ReadsPods", [](const api::Pod&, const NodeInfo& node) {
    PredicateResult result;
    result.fit = node.pods().size() % 2 == 0;
    return result;
  });
  auto add = [&](const char* name, const FitPredicate& p, Traits traits) {
    REQUIRE(r.AddPredicate(
                 name, [p](const PluginFactoryArgs&) { return p; }, traits)
                .ok());
  };
  add("Label-as-node", reads_label, PredicateTraits(kPodNothing, ClusterPart::kNode));
  add("Label-declared", reads_label, PredicateTraits(kPodLabels, ClusterPart::kNode));
  add("Pods-as-node", reads_pods, PredicateTraits(kPodNothing, ClusterPart::kNode));
  add("Pods-declared", reads_pods, PredicateTraits(kPodNothing, ClusterPart::kNodePods));
  CHECK(
      TraitsProblem(r, "Label-as-node") ==
      "Label-as-node reads a part of the pod that its traits do not declare: pods that differ in labels get different "
      "answers");
  CHECK(TraitsProblem(r, "Label-declared") == "");
  CHECK(TraitsProblem(r, "Pods-as-node") ==
        "Pods-as-node reads more of the cluster than its traits declare: a pod that came to node n0 changed its answer "
        "for node n0");
  CHECK(TraitsProblem(r, "Pods-declared") == "");
  CHECK(TraitsProblem(r, "nobody") == "nobody is not registered");
  // The wrong version of the example in plugin/README.md, which reads labels of its own.
  const auto batch = FromPerNode("Batch", [](const api::Pod& pod, const NodeInfo& node) {
    PredicateResult result;
    result.fit =
        pod.tmpl->labels.Get(Symbol("tier")) != Symbol("batch") || !node.node()->labels.Has(Symbol("interactive"));
    return result;
  });
  add("Batch", batch, PredicateTraits(kPodNothing, ClusterPart::kNode));
  CHECK(
      TraitsProblem(r, "Batch", {{"tier", "batch"}, {"interactive", ""}}) ==
      "Batch reads a part of the pod that its traits do not declare: pods that differ in labels get different answers");
  add("Batch-declared", batch, PredicateTraits(kPodLabels, ClusterPart::kNode));
  CHECK(TraitsProblem(r, "Batch-declared", {{"tier", "batch"}, {"interactive", ""}}) == "");
}

}  // namespace berth::scheduler
