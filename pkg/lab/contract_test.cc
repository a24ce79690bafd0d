// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/lab/capacity.h"
#include "pkg/lab/mix.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::lab {

TEST_CASE("contracts: a cluster is filled with at least one round, and from at least one offer") {
  const util::ThrowBrokenContracts throws;
  const Scenario scenario;
  CHECK_THROWS_AS(Fill(scenario, {}, 0), util::BrokenContractError);
  CHECK_THROWS_AS(CheapestMix(scenario, {}, 1, {}), util::BrokenContractError);
}

}  // namespace berth::lab
#endif
