#include "pkg/scheduler/core/incremental/row_states.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace berth::scheduler {
namespace {

TEST_CASE("row states: behave like a vector of states, whether these are small or large") {
  std::mt19937 random(1);
  auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
  constexpr uint32_t kRows = 50;
  for (int round = 0; round < 300; ++round) {
    RowStates states;
    CHECK(states.empty());
    states.Resize(kRows);
    std::vector<RowState> expected(kRows);
    // In one round of three a few states are large.
    const bool large = round % 3 == 0;
    for (int step = 0; step < 100; ++step) {
      RowState s{below(4095), below(1 << 20) - (1 << 19)};
      if (large && below(40) == 0) s = {below(2'000'000'000), below(2'000'000'000) - 1'000'000'000};
      if (below(5) == 0) s = {};
      const auto row = static_cast<Row>(below(kRows));
      states.Set(row, s);
      expected[row] = s;
      states.Prefetch(row);
    }
    REQUIRE(states.size() == kRows);
    for (Row row = 0; row < kRows; ++row) REQUIRE(states[row] == expected[row]);
    if (!large) CHECK(states.bytes() == kRows * sizeof(uint32_t));
    states.Clear();
    CHECK(states.empty());
  }
}

TEST_CASE("row states: setting many at once is setting each of them") {
  std::mt19937 random(2);
  auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
  constexpr uint32_t kRows = 50;
  // In turn: all states are small; the last one is not; states were large before.
  for (int round = 0; round < 300; ++round) {
    RowStates one_by_one, at_once;
    for (RowStates* s : {&one_by_one, &at_once}) {
      s->Resize(kRows);
      if (round % 3 == 2) s->Set(kRows - 1, {5000, 1});
    }
    std::vector<Row> rows;
    std::vector<RowState> states;
    for (Row row = 0; row < kRows - 1; row += static_cast<Row>(1 + below(3))) {
      rows.push_back(row);
      states.push_back({below(4095), below(1 << 20) - (1 << 19)});
    }
    if (round % 3 == 1) states.back() = round % 2 == 0 ? RowState{4095, 0} : RowState{0, -(1 << 19) - 1};
    for (size_t i = 0; i < rows.size(); ++i) one_by_one.Set(rows[i], states[i]);
    RowState least = states[0], most = states[0];
    for (const RowState& s : states) {
      least = {std::max(least.group, s.group), std::min(least.score, s.score)};
      most = {least.group, std::max(most.score, s.score)};
    }
    at_once.SetAll(rows, states, least, most);
    for (Row row = 0; row < kRows; ++row) REQUIRE(at_once[row] == one_by_one[row]);
    CHECK((at_once.bytes() == kRows * sizeof(uint32_t)) == (round % 3 == 0));
  }
}

TEST_CASE("row states: the limits of what is kept in four bytes") {
  for (const RowState s : {RowState{4094, 0}, RowState{4095, 0}, RowState{0, (1 << 19) - 1}, RowState{0, 1 << 19},
                           RowState{0, -(1 << 19)}, RowState{0, -(1 << 19) - 1}, RowState{4094, -1}}) {
    RowStates states;
    states.Resize(2);
    states.Set(1, s);
    CHECK(states[1] == s);
    CHECK(states[0] == RowState{});
  }
}

}  // namespace
}  // namespace berth::scheduler
