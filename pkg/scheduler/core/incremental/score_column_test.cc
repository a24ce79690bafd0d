// A column of scores holds what was written, whether the scores are small or large.
#include "pkg/scheduler/core/incremental/score_column.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

namespace berth::scheduler {
namespace {

std::optional<int32_t> ScoreAt(const ScoreColumn& column, Row row) {
  return column.Visit([&](const auto* scores) -> std::optional<int32_t> {
    using T = std::remove_cvref_t<decltype(scores[0])>;
    if (scores[row] == ScoreColumn::kDoesNotFit<T>) return std::nullopt;
    return scores[row];
  });
}

TEST_CASE("a column has the scores that were set last") {
  std::minstd_rand random(5);
  const std::vector<int32_t> kinds = {0, 700, -3, 32767, -32767, -32768, 32768, 1 << 30, -(1 << 30), 65536};
  for (int run = 0; run < 200; ++run) {
    // Some columns have small scores alone, and some have the largest one that is not small.
    const size_t used = run % 3 == 0 ? 5 : run % 3 == 1 ? 6 : kinds.size();
    ScoreColumn column;
    std::vector<std::optional<int32_t>> want(1 + random() % 50);
    column.Assign(want.size());
    for (int step = 0; step < 100; ++step) {
      const Row row = static_cast<Row>(random() % want.size());
      if (random() % 4 == 0) {
        column.SetDoesNotFit(row);
        want[row] = std::nullopt;
      } else if (random() % 10 == 0) {
        std::vector<Row> rows;
        std::vector<int32_t> scores;
        for (Row r = row; r < want.size(); r += 1 + random() % 4) {
          rows.push_back(r);
          scores.push_back(kinds[random() % used]);
          want[r] = scores.back();
        }
        column.SetAll(rows, scores);
      } else {
        want[row] = kinds[random() % used];
        column.Set(row, *want[row]);
      }
      CHECK(ScoreAt(column, row) == want[row]);
    }
    REQUIRE(column.size() == want.size());
    for (Row row = 0; row < want.size(); ++row) CHECK(ScoreAt(column, row) == want[row]);
    const bool large =
        std::ranges::any_of(want, [](const auto& score) { return score && (*score > 32767 || *score < -32767); });
    if (used == 5) CHECK(column.bytes() == 2 * want.size());
    if (large) CHECK(column.bytes() == 4 * want.size());
    column.Assign(3);
    CHECK(column.size() == 3);
    CHECK(ScoreAt(column, 2) == std::nullopt);
  }
}

}  // namespace
}  // namespace berth::scheduler
