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

TEST_CASE("zones are told apart by region and zone, and by the older labels first") {
  const Labels both = LabelledWith({{"failure-domain.beta.kubernetes.io/zone", "old"},
                                    {"topology.kubernetes.io/zone", "new"},
                                    {"topology.kubernetes.io/region", "r"}});
  CHECK(ZoneKeyOf(both, ZoneLabels::kFormer) == std::string(":\0:old", 6));
  CHECK(ZoneKeyOf(both, ZoneLabels::kFormerOrTodays) == std::string("r:\0:old", 7));
  const Labels todays = LabelledWith({{"topology.kubernetes.io/zone", "new"}});
  CHECK(ZoneKeyOf(todays, ZoneLabels::kFormer).empty());
  CHECK(ZoneKeyOf(todays, ZoneLabels::kFormerOrTodays) == std::string(":\0:new", 6));
  CHECK(ZoneKeyOf(LabelledWith({}), ZoneLabels::kFormerOrTodays).empty());
}

}  // namespace
}  // namespace berth::api
