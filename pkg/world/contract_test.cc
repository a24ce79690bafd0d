// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/world/workload.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::world {

TEST_CASE("contracts: a Job has a uid before it is completed, and a pod its name before its claims are made") {
  const util::ThrowBrokenContracts throws;
  Value job = Value::Object();
  CHECK_THROWS_AS(CompleteJob({}, &job), util::BrokenContractError);
  CHECK_THROWS_AS(EphemeralClaims(Value::Object()), util::BrokenContractError);
}

}  // namespace berth::world
#endif
