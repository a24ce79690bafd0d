#include "pkg/scheduler/core/incremental/row_partition.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace berth::scheduler {
namespace {

TEST_CASE("a row partition: positions are in one set if their values are equal in every column") {
  std::minstd_rand random(7);
  auto below = [&](size_t n) { return random() % n; };
  RowPartition partition;
  for (int run = 0; run < 2000; ++run) {
    const size_t size = below(4) == 0 ? below(3) : below(60);
    partition.Reset(size);
    std::vector<std::vector<int64_t>> keys(size);
    for (size_t columns = below(5); columns > 0; --columns) {
      // Some columns have one value, some a few near each other, some a few far from each other, some many, and some
      // the least and the largest of all.
      const std::vector<size_t> kinds = {1, 3, 20, 1000};
      const size_t distinct = kinds[below(kinds.size())], apart = below(3) == 0 ? 1 + below(100) : 1;
      const bool extreme = below(5) == 0;
      std::vector<int64_t> values(size);
      for (size_t i = 0; i < size; ++i) {
        values[i] = static_cast<int64_t>(below(distinct) * apart) - 5;
        if (extreme && below(2) == 0) values[i] = std::numeric_limits<int64_t>::min();
        if (extreme && below(3) == 0) values[i] = std::numeric_limits<int64_t>::max();
        keys[i].push_back(values[i]);
      }
      partition.Divide(values);
    }
    std::map<std::vector<int64_t>, size_t> set_of_key;
    std::vector<size_t> firsts;
    for (size_t i = 0; i < size; ++i) {
      const auto [set, is_new] = set_of_key.try_emplace(keys[i], firsts.size());
      if (is_new) firsts.push_back(i);
      REQUIRE(partition.set(i) == set->second);
    }
    REQUIRE(partition.set_count() == firsts.size());
    for (size_t set = 0; set < firsts.size(); ++set) REQUIRE(partition.first(set) == firsts[set]);
  }
}

}  // namespace
}  // namespace berth::scheduler
