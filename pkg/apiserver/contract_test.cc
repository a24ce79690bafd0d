// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/apiserver/server.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::apiserver {

TEST_CASE("contracts: a server has a port once it listens") {
  const util::ThrowBrokenContracts throws;
  ServerOptions options;
  options.insecure_port = 0;
  const Server server(options);
  CHECK_THROWS_AS(server.insecure_port(), util::BrokenContractError);
}

}  // namespace berth::apiserver
#endif
