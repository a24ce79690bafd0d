// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "cmd/kube-scheduler/inbox.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::kube_scheduler {

TEST_CASE("contracts: one listener hears of what is put into an inbox") {
  const util::ThrowBrokenContracts throws;
  Inbox inbox(1);
  inbox.Tell([](size_t) {});
  CHECK_THROWS_AS(inbox.Tell([](size_t) {}), util::BrokenContractError);
}

}  // namespace berth::kube_scheduler
#endif
