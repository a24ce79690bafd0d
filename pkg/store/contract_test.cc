// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/store/object.h"
#include "pkg/store/other_version.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::apiserver {

TEST_CASE("contracts: only a kind with another version is converted") {
  const util::ThrowBrokenContracts throws;
  const ResourceInfo plain;
  CHECK_THROWS_AS(ToOtherVersion(plain, Value()), util::BrokenContractError);
  CHECK_THROWS_AS(FromOtherVersion(plain, Value()), util::BrokenContractError);
}

}  // namespace berth::apiserver
#endif
