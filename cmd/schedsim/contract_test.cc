// What callers of this package must ensure. Checked only in builds that check contracts (pkg/util/contract.h).
#include "pkg/util/contract.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "cmd/schedsim/check_component.h"
#include "cmd/schedsim/ladder.h"
#include "cmd/schedsim/result.h"
#include "pkg/api/stream.h"
#include "pkg/release/release.h"

#ifdef BERTH_CHECKS_CONTRACTS
namespace berth::schedsim {

TEST_CASE("contracts: an upgrade has a trial of each variant") {
  const util::ThrowBrokenContracts throws;
  CHECK_THROWS_AS(StepsOfUpgrade({}, {}, {{}}), util::BrokenContractError);
}

TEST_CASE("contracts: results are written in a format that exists") {
  const util::ThrowBrokenContracts throws;
  std::ostringstream out;
  WriterOptions options;
  options.format = "yaml";
  CHECK_THROWS_AS(MakeWriter(options, out), util::BrokenContractError);
}

TEST_CASE("contracts: a configuration without profiles has the kind of one") {
  const util::ThrowBrokenContracts throws;
  const std::string text = R"({"kind":"Policy","apiVersion":"v1"})";
  const auto document = api::ReadDocument(text);
  REQUIRE(document.ok());
  ConfigurationReport report;
  CHECK_THROWS_AS(ExamineComponent(document->root(), text, release::Default(), {}, &report), util::BrokenContractError);
  CHECK_THROWS_AS(ExamineComponent({}, text, release::Default(), {}, &report), util::BrokenContractError);
}

}  // namespace berth::schedsim
#endif
