// Packing what rows fail into words gives the combinations that a list of the failed checks of each row gives.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "pkg/scheduler/core/combinations.h"

namespace berth::scheduler {
namespace {

// What a row fails: each check with the number of its reasons, or 0 if it does not number them.
using Failed = std::vector<std::pair<uint32_t, uint32_t>>;

struct Collected {
  std::vector<Row> rows;
  std::vector<Failed> expected;  // by row
  Combinations combinations;
  std::vector<uint32_t> places;  // by row
};

Collected CollectAtRandom(unsigned seed) {
  constexpr Row kRows = 300;
  std::mt19937 random(seed);
  Collected c;
  RowSet all;
  all.Resize(kRows);
  for (Row row = 0; row < kRows; ++row) {
    if (random() % 8 == 0) continue;
    c.rows.push_back(row);
    all.Insert(row);
  }
  c.expected.resize(kRows);
  FailedChecks failed(kRows, &c.combinations);
  const uint32_t checks = 1 + random() % 12;
  for (uint32_t check = 0; check < checks; ++check) {
    const uint32_t share = random() % 4;  // in four rows, how many fail
    const auto fails = [&] { return random() % 4 < share; };
    if (random() % 2 == 0) {
      // Wide numbers fill the words within a few checks.
      const uint32_t widest = 1u << random() % 32, kinds = 1 + random() % 4;
      std::vector<uint32_t> numbers(c.rows.size(), 0);
      for (size_t i = 0; i < c.rows.size(); ++i) {
        if (!fails()) continue;
        numbers[i] = std::max(1u, widest - static_cast<uint32_t>(random() % kinds));
        c.expected[c.rows[i]].emplace_back(check, numbers[i]);
      }
      failed.Add(check, c.rows, numbers);
    } else {
      const bool numbered = random() % 2 == 0;
      RowSet fitting = all;
      for (const Row row : c.rows) {
        if (!fails()) continue;
        fitting.Erase(row);
        c.expected[row].emplace_back(check, numbered ? 1 : 0);
      }
      failed.Add(check, numbered, all, fitting);
    }
  }
  for (Row row = 0; row < kRows; ++row) c.places.push_back(failed.Of(row));
  return c;
}

}  // namespace

TEST_CASE("rows share a combination if they fail the same checks with the same numbers, and only then") {
  size_t fitting = 0, failing = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const Collected c = CollectAtRandom(seed);
    std::map<Failed, uint32_t> place_of;
    std::map<uint32_t, Failed> failed_of;
    for (const Row row : c.rows) {
      const Failed& expected = c.expected[row];
      const uint32_t place = c.places[row];
      CHECK(place_of.try_emplace(expected, place).first->second == place);
      CHECK(failed_of.try_emplace(place, expected).first->second == expected);
      CHECK((place == 0) == expected.empty());
      ++(expected.empty() ? fitting : failing);
    }
    for (const auto& [place, failed] : failed_of) {
      std::vector<uint32_t> checks;
      for (const auto& [check, number] : failed) checks.push_back(check);
      CHECK(c.combinations.ChecksOf(place) == checks);
      CHECK(place < c.combinations.limit());
      if (failed.empty()) continue;
      const Combinations::Combination& is = c.combinations.at(place);
      CHECK(is.first == checks.front());
      CHECK(is.numbered == std::none_of(failed.begin(), failed.end(), [](const auto& f) { return f.second == 0; }));
    }
  }
  CHECK(fitting > 1000);
  CHECK(failing > 1000);
}

}  // namespace berth::scheduler
