#include "pkg/scheduler/core/incremental/row_states.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace berth::scheduler {
namespace {

// What fits into 2, into 4 and only into 8 bytes, when the states around which the memory was made are all 0.
struct Form {
  int32_t groups, scores;
  size_t bytes;
};
constexpr Form kForms[] = {{63, 512, 2}, {4095, 1 << 19, 4}, {2'000'000'000, 1'000'000'000, 8}};

class RandomStates {
 public:
  explicit RandomStates(uint32_t seed) : random_(seed) {}
  int32_t Below(int32_t n) { return static_cast<int32_t>(random_() % static_cast<uint32_t>(n)); }
  RowState Of(const Form& form) { return {Below(form.groups), Below(2 * form.scores) - form.scores}; }

 private:
  std::mt19937 random_;
};

TEST_CASE("row states: behave like a vector of states, however many bytes these take") {
  RandomStates random(1);
  constexpr uint32_t kRows = 50;
  for (int round = 0; round < 300; ++round) {
    RowStates states;
    CHECK(states.empty());
    states.Resize(kRows, {}, {});
    std::vector<RowState> expected(kRows);
    size_t bytes = 2;
    for (int step = 0; step < 100; ++step) {
      // In two rounds of three a few states are large, or very large.
      const Form& form = kForms[random.Below(40) == 0 ? round % 3 : 0];
      const RowState s = random.Below(5) == 0 ? RowState{} : random.Of(form);
      const auto row = static_cast<Row>(random.Below(kRows));
      states.Set(row, s);
      expected[row] = s;
      for (const Form& f : kForms) {
        if (s.group < f.groups && s.score >= -f.scores && s.score < f.scores) break;
        bytes = std::max(bytes, 2 * f.bytes);
      }
      states.Prefetch(row);
    }
    REQUIRE(states.size() == kRows);
    for (Row row = 0; row < kRows; ++row) REQUIRE(states[row] == expected[row]);
    CHECK(states.At(kRows) == RowState{});
    states.Visit([&](const auto of_row) {
      for (Row row = 0; row < kRows; ++row) REQUIRE(of_row[row] == expected[row]);
    });
    CHECK(states.bytes() == kRows * bytes);
    states.Clear();
    CHECK(states.empty());
  }
}

TEST_CASE("row states: setting many at once is setting each of them") {
  RandomStates random(2);
  constexpr uint32_t kRows = 50;
  for (int round = 0; round < 300; ++round) {
    const Form& form = kForms[round % 3];
    const auto middle = round % 2 == 0 ? 0 : random.Below(100'000);
    std::vector<Row> rows;
    std::vector<RowState> states;
    RowState low = {0, std::numeric_limits<int32_t>::max()}, high = {0, std::numeric_limits<int32_t>::min()};
    for (Row row = 0; row < kRows - 1; row += static_cast<Row>(1 + random.Below(3))) {
      RowState s = random.Of(form);
      s.score += middle;
      rows.push_back(row);
      states.push_back(s);
      low = {std::max(low.group, s.group), std::min(low.score, s.score)};
      high = {low.group, std::max(high.score, s.score)};
    }
    RowStates one_by_one, at_once;
    one_by_one.Resize(kRows, {}, {});
    for (size_t i = 0; i < rows.size(); ++i) one_by_one.Set(rows[i], states[i]);
    at_once.Resize(kRows, low, high);
    at_once.SetAll(rows, states);
    for (Row row = 0; row < kRows; ++row) REQUIRE(at_once[row] == one_by_one[row]);
    if (form.bytes == 2) CHECK(at_once.bytes() == kRows * sizeof(uint16_t));
    at_once.Grow(kRows + 1);
    CHECK(at_once[kRows] == RowState{});
    CHECK(at_once[rows.back()] == states.back());
  }
}

TEST_CASE("row states: the limits of what is kept in two and in four bytes") {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max(), kLeast = std::numeric_limits<int32_t>::min();
  for (const RowState s :
       {RowState{62, 0}, RowState{63, 0}, RowState{4094, 0}, RowState{4095, 0}, RowState{0, 511}, RowState{0, 512},
        RowState{0, -512}, RowState{0, -513}, RowState{0, (1 << 19) - 1}, RowState{0, 1 << 19}, RowState{0, -(1 << 19)},
        RowState{0, -(1 << 19) - 1}, RowState{4094, -1}, RowState{0, kMost}, RowState{0, kLeast}}) {
    for (const RowState& around : {RowState{}, s}) {
      RowStates states;
      states.Resize(2, around, around);
      states.Set(1, s);
      CHECK(states[1] == s);
      CHECK(states[0] == RowState{});
      states.Set(0, {62, 0});
      CHECK(states[0] == RowState{62, 0});
      CHECK(states[1] == s);
    }
  }
}

}  // namespace
}  // namespace berth::scheduler
