#include "pkg/scheduler/cache/resource.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "pkg/scheduler/cache/scalar_lookup.h"

namespace berth::scheduler {
namespace {

TEST_CASE("long lists of resources add up as short ones do, in whatever order they come") {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    Resource sum;
    std::map<std::string, int64_t> expected;
    int64_t cpu = 0;
    for (int part = 0; part < 4; ++part) {
      const int n = static_cast<int>(random() % 200);
      std::vector<int> names(500);
      for (int i = 0; i < 500; ++i) names[static_cast<size_t>(i)] = i;
      std::shuffle(names.begin(), names.end(), random);
      api::ResourceList list;
      for (int i = 0; i < n; ++i) {
        const auto amount = static_cast<int64_t>(random() % 100);
        const std::string name = absl::StrCat("example.com/r", names[static_cast<size_t>(i)]);
        list.emplace_back(Symbol(name), *api::Quantity::Parse(std::to_string(amount)));
        expected[name] += amount;
      }
      list.emplace_back(Symbol("cpu"), *api::Quantity::Parse("2"));
      cpu += 2000;
      CHECK(sum.Add(list));
    }
    CHECK(sum.milli_cpu == cpu);
    REQUIRE(sum.scalars.size() == expected.size());
    CHECK(std::is_sorted(sum.scalars.begin(), sum.scalars.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; }));
    for (const auto& [name, amount] : expected) {
      CHECK(sum.Scalar(Symbol(name)) == amount);
      CHECK(ScalarOf(sum, Symbol(name)) == amount);
    }
    CHECK(ScalarOf(sum, Symbol("example.com/none")) == 0);
  }
}

TEST_CASE("sums of long lists of resources are cut to 64 bits, and say so") {
  api::ResourceList list;
  for (int i = 0; i < 100; ++i) {
    list.emplace_back(Symbol(absl::StrCat("example.com/r", i)), *api::Quantity::Parse("9223372036854775807"));
  }
  Resource sum;
  CHECK(sum.Add(list));
  CHECK_FALSE(sum.Add(list));
  CHECK(sum.Scalar(Symbol("example.com/r7")) == std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace berth::scheduler
