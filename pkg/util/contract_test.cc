#include "pkg/util/contract.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/util/feature_gates.h"

namespace berth::util {

TEST_CASE("contracts are checked in builds for debugging and with sanitizers, and cost nothing in others") {
  int evaluated = 0;
  BERTH_REQUIRES(++evaluated > 0);
  CHECK(evaluated == (kChecksContracts ? 1 : 0));
}

TEST_CASE("a broken contract says what was required") {
  const ThrowBrokenContracts throws;
  std::string said;
  try {
    BrokenContract("1 < 0", "file.cc", 7);
  } catch (const BrokenContractError& error) {
    said = error.condition;
  }
  CHECK(said == "1 < 0");
}

#ifdef BERTH_CHECKS_CONTRACTS
TEST_CASE("contracts: gates are looked up in sorted lists") {
  const ThrowBrokenContracts throws;
  std::vector<FeatureGate> gates(2);
  gates[0].name = "A";
  gates[1].name = "B";
  CHECK(FindGate(gates, "B") == &gates[1]);
  std::swap(gates[0], gates[1]);
  CHECK_THROWS_AS(FindGate(gates, "B"), BrokenContractError);
}
#endif

}  // namespace berth::util
