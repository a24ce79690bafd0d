// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>

#include "pkg/api/json_scanner.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/api/validation/validation.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::api {

TEST_CASE("contracts: what a JSON writer opens is closed once") {
  const util::ThrowBrokenContracts throws;
  JsonWriter w;
  CHECK_THROWS_AS(w.End(), util::BrokenContractError);
  w.Object();
  CHECK_THROWS_AS(w.Finish(), util::BrokenContractError);
  w.End();
  CHECK(w.Finish() == "{}\n");
}

TEST_CASE("contracts: a JSON scanner begins at a bracket") {
  const util::ThrowBrokenContracts throws;
  JsonScanner scanner;
  CHECK_THROWS_AS(scanner.Scan("1"), util::BrokenContractError);
  CHECK(scanner.Scan("{}1") == 2);
}

TEST_CASE("contracts: fields are cut off objects that scheduling reads, and a name of a port is no empty text") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(CutToSchedulingFields("Secret", Json()), util::BrokenContractError);
  CHECK_THROWS_AS(SchedulingFieldPaths("Secret"), util::BrokenContractError);
  CHECK_THROWS_AS(validation::PortNameProblems(""), util::BrokenContractError);
}

}  // namespace berth::api
#endif
