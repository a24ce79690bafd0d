// The register functions that no example uses: what they register exists in every release.
#include <absl/status/status.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "pkg/releases/releases.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace plugin::examples {
namespace {

using namespace berth::scheduler;  // NOLINT: tests the public interface

PredicateResult Fits(const berth::api::Pod&, const NodeInfo&) {
  return {};
}

const std::string kRule = RegisterFitPredicate("RegisteredByTest", Fits);
const std::string kMandatory = RegisterMandatoryFitPredicate("MandatoryByTest", FromPerNode("MandatoryByTest", Fits));
const std::string kScore = RegisterPriorityConfigFactory(
    "ScoreByTest",
    [](const PluginFactoryArgs&) {
      return FromMapReduce([](const berth::api::Pod&, const NodeInfo&) { return int64_t{1}; }, nullptr);
    },
    3);
const std::string kProvider = RegisterAlgorithmProvider("ProviderByTest", {kRule}, {kScore});
const std::string kChanged = RegisterAlgorithmProvider("ChangedByTest", {kRule}, {});
const std::vector<absl::Status> kChanges = {
    InsertPredicateKeyToAlgoProvider("ChangedByTest", kMandatory),
    RemovePredicateKeyFromAlgoProvider("ChangedByTest", kRule),
    InsertPriorityKeyToAlgoProvider("ChangedByTest", kScore),
    InsertPredicateKeyToAlgoProvider("NobodyByTest", kRule),
    RemovePredicateKeyFromAlgoProvider("NobodyByTest", kRule),
    InsertPriorityKeyToAlgoProvider("NobodyByTest", kScore),
};
const bool kEverywhere = [] {
  RegisterFitPredicate("GoneByTest", Fits);
  RemoveFitPredicate("GoneByTest");
  InsertPredicateKeyToAlgorithmProviderMap("EverywhereByTest");
  InsertPredicateKeyToAlgorithmProviderMap("TakenBackByTest");
  RemovePredicateKeyFromAlgorithmProviderMap("TakenBackByTest");
  return true;
}();

}  // namespace

TEST_CASE("what the register functions register exists in every release") {
  REQUIRE(kEverywhere);
  for (size_t i = 0; i < kChanges.size(); ++i) {
    CAPTURE(i);
    CHECK(berth::util::Message(kChanges[i]) == (i < 3 ? "" : "plugin NobodyByTest has not been registered"));
  }
  for (const berth::release::Id& id : berth::release::All()) {
    CAPTURE(id.name);
    const Release& release = berth::releases::Of(id).decides;
    CHECK(IsFitPredicateRegistered(release, kRule));
    CHECK(IsFitPredicateRegistered(release, kMandatory));
    CHECK_FALSE(IsFitPredicateRegistered(release, "GoneByTest"));
    CHECK(IsPriorityFunctionRegistered(release, kScore));
    const Registry registry = RegisteredAlgorithms(release);
    CHECK(registry.mandatory().contains(kMandatory));
    CHECK(registry.priorities().at(kScore).weight == 3);
    REQUIRE(registry.providers().contains(kProvider));
    CHECK(registry.providers().at(kProvider).predicates.contains(kRule));
    REQUIRE(registry.providers().contains(kChanged));
    const Registry::Provider& changed = registry.providers().at(kChanged);
    CHECK(changed.predicates.contains(kMandatory));
    CHECK_FALSE(changed.predicates.contains(kRule));
    CHECK(changed.priorities == std::set<std::string>{kScore});
    for (const auto& [name, provider] : registry.providers()) {
      CAPTURE(name);
      CHECK(provider.predicates.contains("EverywhereByTest"));
      CHECK_FALSE(provider.predicates.contains("TakenBackByTest"));
    }
  }
}

}  // namespace plugin::examples
