// Compares KeyFilter with the map whose keys it filters.
#include <map>

#include <catch2/catch.hpp>

#include "pkg/scheduler/cache/key_filter.h"
#include "pkg/scheduler/reference/random_cluster.h"

namespace berth::scheduler {

TEST_CASE("KeyFilter never denies a key, and denies most of what is no key") {
  for (uint64_t seed : reference::Seeds(40)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    const int limit = random.Of(std::vector<int>{1, 50, 3000, 100000});
    std::map<uint32_t, int> map;
    KeyFilter filter;
    for (int n = 0; n < 3000; ++n) {
      const auto key = static_cast<uint32_t>(random.Below(limit));
      if (random.Chance(70)) {
        if (map.emplace(key, n).second) filter.Insert(key, map);
      } else {
        map.erase(key);
      }
    }
    for (const auto& [key, value] : map) CHECK(filter.MayHave(key));
    size_t wrong = 0;
    for (uint32_t other = 0; other < 10000; ++other) wrong += filter.MayHave(1000000 + other) ? 1 : 0;
    CHECK(wrong < 1000);
    filter.Clear();
    CHECK_FALSE(filter.MayHave(1));
  }
}

}  // namespace berth::scheduler
