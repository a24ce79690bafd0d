#include "pkg/scheduler/core/incremental/signature_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace berth::scheduler {
namespace {

TEST_CASE("a signature has one number from its first use to its last release, and others have other numbers") {
  std::mt19937 random(11);
  SignatureTable table;
  for (int round = 0; round < 60; ++round) {
    const size_t width = 1 + random() % 3, distinct = 1 + random() % 100;
    table.Reset(width);
    struct Kept {
      int32_t number = 0;
      int uses = 0;
    };
    std::map<std::vector<int64_t>, Kept> kept;
    for (int step = 0; step < 3000; ++step) {
      std::vector<int64_t> values(width);
      for (int64_t& v : values) v = static_cast<int64_t>(random() % distinct) - 2;
      Kept& known = kept[values];
      if (known.uses > 0 && random() % 2 == 0) {
        table.Release(known.number);
        if (--known.uses > 0) CHECK(table.Use(values) == known.number);
        if (known.uses > 0) table.Release(known.number);
        continue;
      }
      const int32_t number = table.Use(values);
      CHECK((number == 0) == (values == std::vector<int64_t>(width, 0)));
      if (known.uses > 0) CHECK(number == known.number);
      known.number = number;
      known.uses += number == 0 ? 0 : 1;
      const auto of = table.values(number);
      CHECK(std::vector<int64_t>(of.begin(), of.end()) == values);
    }
    std::map<int32_t, int> numbers;
    for (const auto& [values, k] : kept) {
      if (k.uses > 0) CHECK(++numbers[k.number] == 1);
    }
  }
}

TEST_CASE("signatures that nobody compares are those of the rows, one after another") {
  SignatureTable table;
  table.Reset(2);
  std::vector<int64_t> values{0, 0, 1, -1, 0, 0, 1, -1};
  table.TakeAll(&values, 3);
  CHECK(table.size() == 4);
  for (const int32_t number : {1, 3}) {
    const auto of = table.values(number);
    CHECK(std::vector<int64_t>(of.begin(), of.end()) == std::vector<int64_t>{1, -1});
  }
  CHECK(table.values(2)[1] == 0);
  table.Reset(1);
  const std::vector<int64_t> one{7};
  CHECK(table.values(table.Use(one))[0] == 7);
}

}  // namespace
}  // namespace berth::scheduler
