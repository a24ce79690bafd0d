// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/flags/flag_set.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::flags {

TEST_CASE("contracts: only a flag with a value of our own has a text") {
  const util::ThrowBrokenContracts throws;
  FlagSet set;
  set("ours",
      new Value(
          "TEXT", "", [](const std::string&) { return absl::OkStatus(); }, [] { return "x"; }),
      "");
  set("boosts", Takes("N"), "");
  CHECK(set.Find("ours")->text() == "x");
  CHECK_THROWS_AS(set.Find("boosts")->text(), util::BrokenContractError);
}

}  // namespace berth::flags
#endif
