#include "pkg/scheduler/failure_reasons.h"

#include <catch2/catch.hpp>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/scheduler_metrics.h"

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

TEST_CASE("the reason that decides is that of most of the nodes nearest to fitting") {
  const FailureReason cpu{Symbol("Insufficient cpu")}, memory{Symbol("Insufficient memory")};
  const FailureReason cordoned = reasons::kNodeUnschedulable, selector = reasons::kNodeSelectorNotMatch;
  CHECK(DecisiveReason(Failures({{7, {cordoned}}, {3, {cpu}}})) == "Insufficient cpu");
  CHECK(DecisiveReason(Failures({{7, {cordoned}}, {3, {cpu}}, {4, {memory, cpu}}})) == "Insufficient cpu");
  CHECK(DecisiveReason(Failures({{7, {cordoned, cpu}}, {2, {memory}}})) == "Insufficient memory");
  CHECK(DecisiveReason(Failures({{7, {cordoned}}, {9, {selector}}})) == selector.text.str());
  CHECK(DecisiveReason(Failures({{2, {memory}}, {2, {cpu}}})) == "Insufficient cpu");
  CHECK(DecisiveReason(Failures({{4, {reasons::kPodAffinityNotMatch, reasons::kPodAntiAffinityRulesNotMatch}}})) ==
        reasons::kPodAntiAffinityRulesNotMatch.text.str());
  const auto distinct = DistinctReasons(Failures({{7, {cordoned}}, {3, {cpu}}}));
  CHECK(distinct == std::vector{FailureReasonNamed("Insufficient cpu"), FailureReasonOf(cordoned)});
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
