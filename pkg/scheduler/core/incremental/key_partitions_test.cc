#include "pkg/scheduler/core/incremental/key_partitions.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <utility>

#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

TEST_CASE("rows have the same number in a partition if and only if their nodes are in the same domains") {
  std::mt19937 random(7);
  Cache cache;
  const auto labels = [&] {
    std::string text = "'any':'1'";
    for (const char* key : {"zone", "rack", "disk"}) {
      if (random() % 4 != 0) absl::StrAppend(&text, ",'", key, "':'", random() % 4, "'");
    }
    return text;
  };
  for (int n = 0; n < 40; ++n) cache.AddNode(testing::NodeOf(absl::StrCat("n", n), labels()));
  KeyPartitions partitions(&cache);
  const LabelColumn *zone = &cache.Label(util::Symbol("zone")), *rack = &cache.Label(util::Symbol("rack")),
                    *disk = &cache.Label(util::Symbol("disk"));
  const std::vector<std::vector<GroupKey>> lists = {{{zone, false}},
                                                    {{zone, false}, {rack, false}},
                                                    {{rack, false}, {zone, true}},
                                                    {{zone, false}, {rack, false}, {disk, true}}};
  for (int round = 0; round < 200; ++round) {
    if (round % 3 == 0) cache.AddNode(testing::NodeOf(absl::StrCat("n", random() % 44), labels()));
    if (round % 7 == 0) cache.RemoveNode(absl::StrCat("n", random() % 44));
    const std::vector<GroupKey>& keys = lists[random() % lists.size()];
    const std::span<const uint32_t> sets = partitions.Of(keys);
    std::map<std::vector<uint32_t>, uint32_t> set_of;
    std::map<uint32_t, std::vector<uint32_t>> domains_of;
    cache.listed().ForEach([&](Row row) {
      std::vector<uint32_t> domains;
      for (const GroupKey& key : keys) domains.push_back(key.DomainOf(row));
      CHECK(set_of.try_emplace(domains, sets[row]).first->second == sets[row]);
      CHECK(domains_of.try_emplace(sets[row], domains).first->second == domains);
    });
  }
}

}  // namespace
}  // namespace berth::scheduler
