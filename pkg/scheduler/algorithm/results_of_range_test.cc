#include "pkg/scheduler/algorithm/results_of_range.h"

#include <catch2/catch.hpp>
#include <limits>

namespace berth::scheduler {
namespace {

TEST_CASE("results of a small range are found once for each number") {
  int calls = 0;
  const auto square = ResultsOf<int64_t>(-2, 3, 100, [&](int64_t n) {
    ++calls;
    return n * n;
  });
  CHECK(calls == 6);
  for (int64_t n = -2; n <= 3; ++n) CHECK(square(n) == n * n);
  CHECK(calls == 6);
  // Numbers outside of the range have results, too.
  CHECK(square(-3) == 9);
  CHECK(square(4) == 16);
  CHECK(calls == 8);
}

TEST_CASE("results of a range with more numbers than uses are found as they are needed") {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  int calls = 0;
  const auto half = ResultsOf<double>(kLeast, kMost, 100, [&](int64_t n) {
    ++calls;
    return static_cast<double>(n) / 2;
  });
  CHECK(calls == 0);
  CHECK(half(kLeast) == -0x1p62);
  CHECK(half(7) == 3.5);
  CHECK(calls == 2);
}

}  // namespace
}  // namespace berth::scheduler
