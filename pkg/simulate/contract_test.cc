// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/simulate/timeline.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::simulate {

TEST_CASE("contracts: simulated time never goes back, and what tries again waits") {
  const util::ThrowBrokenContracts throws;
  Timeline timeline;
  CHECK_THROWS_AS(timeline.TryAfter(0, [] {}), util::BrokenContractError);
  timeline.AdvanceTo(2);
  CHECK_THROWS_AS(timeline.AdvanceTo(1), util::BrokenContractError);
  CHECK(timeline.now() == 2);
}

}  // namespace berth::simulate
#endif
