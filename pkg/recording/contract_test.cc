// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/recording/cluster_state.h"
#include "pkg/recording/format.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::recording {

TEST_CASE("contracts: a table of objects holds no null") {
  const util::ThrowBrokenContracts throws;
  ObjectTable<api::Node> nodes;
  CHECK_THROWS_AS(nodes.Set(nullptr), util::BrokenContractError);
}

TEST_CASE("contracts: only outputs have lines of their own") {
  const util::ThrowBrokenContracts throws;
  Event stop;
  stop.what = StopInput{};
  CHECK_THROWS_AS(OutputLine(stop), util::BrokenContractError);
}

}  // namespace berth::recording
#endif
