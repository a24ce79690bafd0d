// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/release/release.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::release {

TEST_CASE("contracts: no version has no neighbours, and a table is not asked for versions before its first row") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(Version().Previous(), util::BrokenContractError);
  CHECK_THROWS_AS(Version().Next(), util::BrokenContractError);
  constexpr From<int> kRows[] = {{{10}, 1}, {{19}, 2}};
  CHECK(At(kRows, {10}) == 1);
  CHECK_THROWS_AS(At(kRows, {9}), util::BrokenContractError);
}

}  // namespace berth::release
#endif
