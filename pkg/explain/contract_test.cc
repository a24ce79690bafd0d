// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>
#include <memory>
#include <utility>

#include "pkg/explain/explanation.h"
#include "pkg/explain/trial.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/registry/release.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::explain {

TEST_CASE("contracts: an explanation is written as JSON or YAML, and ways are tried for a pod that is not placed") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(ExplanationData({}, "table"), util::BrokenContractError);

  scheduler::Cache cache;
  const scheduler::Release release;
  scheduler::AlgorithmConfig config;
  config.release = &release;
  scheduler::GenericScheduler scheduler(&cache, std::move(config), nullptr);
  auto pod = std::make_shared<api::Pod>();
  pod->meta.name = "p";
  pod->meta.uid = "u";
  pod->node_name = scheduler::Symbol("n");
  pod->tmpl = api::PodTemplate::Intern({});
  REQUIRE(cache.AddPod(pod).ok());
  Explanation explanation;
  explanation.pod = pod;
  const scheduler::EffectiveAlgorithm effective;
  CHECK_THROWS_AS(KeepWhatHelps({scheduler, cache, effective}, &explanation), util::BrokenContractError);
}

}  // namespace berth::explain
#endif
