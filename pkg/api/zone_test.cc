#include "pkg/api/zone.h"

#include <catch2/catch.hpp>

namespace berth::api {
namespace {

Labels LabelledWith(std::initializer_list<std::pair<std::string, std::string>> labels) {
  std::vector<std::pair<util::Symbol, util::Symbol>> pairs;
  for (const auto& [key, value] : labels) pairs.emplace_back(key, value);
  return Labels(std::move(pairs));
}

TEST_CASE("the zone of a node is read from today's label, and else from the one before") {
  CHECK(ZoneOf(LabelledWith({})).empty());
  CHECK(ZoneOf(LabelledWith({{"failure-domain.beta.kubernetes.io/zone", "old"}})).str() == "old");
  CHECK(
      ZoneOf(LabelledWith({{"failure-domain.beta.kubernetes.io/zone", "old"}, {"topology.kubernetes.io/zone", "new"}}))
          .str() == "new");
  CHECK(RegionOf(LabelledWith({{"failure-domain.beta.kubernetes.io/region", "old"}})).str() == "old");
  CHECK(
      RegionOf(LabelledWith({{"topology.kubernetes.io/region", "new"}, {"topology.kubernetes.io/zone", "z"}})).str() ==
      "new");
}

}  // namespace
}  // namespace berth::api
