#include "pkg/scheduler/failure_reasons.h"

#include <catch2/catch.hpp>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/scheduler_metrics.h"
#include "pkg/scheduler/testing/objects.h"
#include "pkg/scheduler/testing/world.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler {
namespace {

using Reasons = std::vector<FailureReason>;

NodeFailures Failures(const std::vector<std::pair<int, Reasons>>& lists) {
  NodeFailures out;
  int node = 0;
  for (const auto& [nodes, reasons] : lists) {
    for (int i = 0; i < nodes; ++i) out.Add(Symbol("n" + std::to_string(node++)), reasons);
  }
  return out;
}

std::string_view TextOf(const NodeFailures& failures) {
  const FailureReason* reason = DecisiveReason(failures);
  return reason == nullptr ? std::string_view() : reason->text.str();
}

TEST_CASE("the reason that decides is that of most of the nodes nearest to fitting") {
  const FailureReason cpu{Symbol("Insufficient cpu")}, memory{Symbol("Insufficient memory")};
  const FailureReason cordoned = reasons::kNodeUnschedulable, selector = reasons::kNodeSelectorNotMatch;
  CHECK(TextOf(Failures({{7, {cordoned}}, {3, {cpu}}})) == "Insufficient cpu");
  CHECK(TextOf(Failures({{7, {cordoned}}, {3, {cpu}}, {4, {memory, cpu}}})) == "Insufficient cpu");
  CHECK(TextOf(Failures({{7, {cordoned, cpu}}, {2, {memory}}})) == "Insufficient memory");
  CHECK(TextOf(Failures({{7, {cordoned}}, {9, {selector}}})) == selector.text.str());
  CHECK(TextOf(Failures({{2, {memory}}, {2, {cpu}}})) == "Insufficient cpu");
  CHECK(TextOf(Failures({{4, {reasons::kPodAffinityNotMatch, reasons::kPodAntiAffinityRulesNotMatch}}})) ==
        reasons::kPodAntiAffinityRulesNotMatch.text.str());
  const auto distinct = DistinctReasons(Failures({{7, {cordoned}}, {3, {cpu}}}));
  CHECK(distinct == std::vector{FailureReasonNamed("Insufficient cpu"), FailureReasonOf(cordoned)});
}

// A cluster of a release with one node that has a taint and a zone.
struct OneNode : testing::World {
  explicit OneNode(const release::Id& id) : World(releases::Of(id).decides), claims(&cache) {
    Nodes({testing::NodeOf("n", "'failure-domain.beta.kubernetes.io/zone':'z'",
                           "'taints':[{'key':'team','value':'seven','effect':'NoSchedule'}]")});
  }
  // Returns the reason of the metric for a pod that cannot be placed.
  std::string_view ReasonFor(std::string_view spec) {
    FactoryArgs args = Args(true);
    args.claim_binder = &claims;
    const bool profiles = release->plugins != nullptr;
    const auto algorithm =
        profiles ? CreateFromProfile(configuration::DefaultProfile(PluginsToConfigure(*release)), {}, args).value()
                 : CreateFromProvider("DefaultProvider", args).value();
    const Decision d = algorithm->Schedule(testing::PodOf("p", spec), DecisionMode::kReference);
    return FailureReasonText(d.failures != nullptr ? DistinctReasons(*d.failures).at(0) : ReasonOfError(d.error_kind));
  }
  ClaimBinder claims;
};

TEST_CASE("reasons that name an object are one reason of the metric in every release") {
  const std::string tolerates = "'tolerations':[{'operator':'Exists'}]";
  for (const release::Id& id : release::All()) {
    INFO(id.name);
    OneNode one(id);
    one.Claim("ends", "'volumeName':'nowhere'", "'deletionTimestamp':'2018-01-01T00:00:00Z'");
    auto with_claim = [&](std::string_view claim) {
      return one.ReasonFor(tolerates + ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'" +
                           std::string(claim) + "'}}]");
    };
    const std::string_view taint = one.ReasonFor("");
    INFO(taint);
    CHECK((taint == "node(s) had taints that the pod didn't tolerate" || taint == "PodToleratesNodeTaints" ||
           taint.starts_with("node(s) had untolerated taint")));
    CHECK(with_claim("nowhere") == "persistentvolumeclaim not found");
    // Releases up to 1.9 do not mind.
    const bool minds = id.name != "1.8" && id.name != "1.9";
    CHECK((with_claim("ends") == "persistentvolumeclaim is being deleted") == minds);
  }
}

TEST_CASE("quantiles of latencies are near the values, not the bounds of buckets") {
  LatencyHistogram h;
  CHECK(h.Quantile(0.5) == 0);
  for (int64_t us = 1; us <= 1000; ++us) h.Observe(us);
  CHECK(h.Quantile(0.5) == Approx(500).epsilon(0.02));
  CHECK(h.Quantile(0.99) == Approx(990).epsilon(0.02));
  LatencyHistogram same;
  for (int i = 0; i < 100; ++i) same.Observe(absl::Microseconds(33));
  CHECK(same.Quantile(0.5) == Approx(33).epsilon(0.13));
  CHECK(same.Quantile(0.99) == Approx(33).epsilon(0.13));
  CHECK(same.count_in(0) == 100);
  CHECK(same.sum() == 3300);
  LatencyHistogram long_ones;
  long_ones.Observe(absl::Hours(1));
  CHECK(long_ones.Quantile(0.5) > 100'000'000);
}

}  // namespace
}  // namespace berth::scheduler
