// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/client/event_series.h"
#include "pkg/client/lock_objects.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::client {

TEST_CASE("contracts: only an event that has occurred again has a series") {
  const util::ThrowBrokenContracts throws;
  SeriesEvent event;
  CHECK_THROWS_AS(SeriesPatch(event.base), util::BrokenContractError);
  event.base.count = 2;
  CHECK_FALSE(SeriesPatch(event.base).empty());
}

TEST_CASE("contracts: a lock is of a type that exists") {
  const util::ThrowBrokenContracts throws;
  LeaderElectionOptions options;
  options.lock_type = "secrets";
  CHECK_THROWS_AS(LockObjects(nullptr, options), util::BrokenContractError);
}

}  // namespace berth::client
#endif
