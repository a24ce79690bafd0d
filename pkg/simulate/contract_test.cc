// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/simulate/series.h"
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

TEST_CASE("contracts: a series has no gaps") {
  const util::ThrowBrokenContracts throws;
  Series series(10, 0, [] { return std::vector<double>(); });
  series.Hold(0, 15, 0, {}, {});
  CHECK_THROWS_AS(series.Hold(16, 20, 0, {}, {}), util::BrokenContractError);
  series.Hold(15, 20, 0, {}, {});
  CHECK_THROWS_AS(series.Hold(15, 20, 0, {}, {}), util::BrokenContractError);
}

}  // namespace berth::simulate
#endif
