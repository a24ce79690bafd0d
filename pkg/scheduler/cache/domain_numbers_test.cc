// Compares DomainNumbers with a map, while numbers come and go in both of its forms.
#include <map>

#include <catch2/catch.hpp>

#include "pkg/scheduler/cache/domain_numbers.h"
#include "pkg/scheduler/reference/random_cluster.h"

namespace berth::scheduler {
namespace {

void CheckEqual(const DomainNumbers& numbers, const std::map<uint32_t, int64_t>& map, uint32_t limit) {
  CHECK(numbers.size() == map.size());
  CHECK(numbers.empty() == map.empty());
  std::map<uint32_t, int64_t> seen;
  numbers.ForEach([&](uint32_t domain, int64_t number) { CHECK(seen.emplace(domain, number).second); });
  CHECK(seen == map);
  for (const auto& [domain, number] : map) {
    CHECK(numbers.In(domain) == number);
    CHECK(numbers.MayHave(domain));
    CHECK(domain < numbers.limit());
  }
  for (uint32_t domain = 0; domain < limit; domain += limit / 50 + 1) {
    if (!map.contains(domain)) CHECK(numbers.In(domain) == 0);
  }
  CHECK(numbers.In(~uint32_t{0}) == 0);
}

}  // namespace

TEST_CASE("DomainNumbers holds what a map holds") {
  for (uint64_t seed : reference::Seeds(40)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    const int limit = random.Of(std::vector<int>{1, 50, 300, 5000});
    std::map<uint32_t, int64_t> map;
    DomainNumbers numbers;
    if (random.Chance(50)) numbers.Reserve(static_cast<size_t>(random.Below(limit) + 1), static_cast<uint32_t>(limit));
    const auto add = [&](uint32_t domain, int64_t n) {
      numbers.Add(domain, n);
      if ((map[domain] += n) == 0) map.erase(domain);
    };
    // First most numbers grow, so that the array is used, and then they go one after another.
    for (int n = 0; n < 2 * limit; ++n) {
      add(static_cast<uint32_t>(random.Below(limit)), random.Below(5) - 1);
      if (n % (limit / 3 + 1) == 0) CheckEqual(numbers, map, static_cast<uint32_t>(limit));
    }
    CheckEqual(numbers, map, static_cast<uint32_t>(limit));
    while (!map.empty()) {
      const auto [domain, number] =
          *std::next(map.begin(), random.Below(static_cast<int>(std::min<size_t>(map.size(), 9))));
      add(domain, -number);
      if (map.size() % 61 == 0) CheckEqual(numbers, map, static_cast<uint32_t>(limit));
    }
    CheckEqual(numbers, map, static_cast<uint32_t>(limit));
    add(7, 3);
    CheckEqual(numbers, map, static_cast<uint32_t>(limit));
  }
}

}  // namespace berth::scheduler
