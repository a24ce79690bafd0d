// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/convert/convert.h"
#include "pkg/convert/encode.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::convert {

TEST_CASE("contracts: a configuration is converted for a release, and into a version that it reads") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(Convert("{}", {}), util::BrokenContractError);
  CHECK_THROWS_AS(NewestVersionOf(release::Default().version), util::BrokenContractError);
}

}  // namespace berth::convert
#endif
