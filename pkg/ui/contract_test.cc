// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/ui/live_source.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::ui {

TEST_CASE("contracts: a copy of the cluster is taken when it is complete") {
  const util::ThrowBrokenContracts throws;
  ClusterCopy copy;
  CHECK_THROWS_AS(copy.Take(), util::BrokenContractError);
}

}  // namespace berth::ui
#endif
