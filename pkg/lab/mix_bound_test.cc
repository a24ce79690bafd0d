#include "pkg/lab/mix_bound.h"

#include <catch2/catch.hpp>
#include <random>

namespace berth::lab {
namespace {

TEST_CASE("the bound is what the scarcest resource costs") {
  MixProblem p;
  p.price = {2};
  p.empty = {{4, 16}};
  p.free = {0, 0};
  p.demands = {{{true}, {10, 4}}};
  const MixBound b = BoundOf(p);
  CHECK(b.price == Approx(5));
  CHECK(b.nodes[0] == Approx(2.5));
}

TEST_CASE("what is free in the cluster is used first") {
  MixProblem p;
  p.price = {2};
  p.empty = {{4}};
  p.free = {6};
  p.demands = {{{true}, {10}}};
  CHECK(BoundOf(p).price == Approx(2));
  p.free = {20};
  CHECK(BoundOf(p).price == Approx(0));
}

TEST_CASE("each demand is met where it fits, at the lowest price") {
  MixProblem p;
  p.price = {1, 3};
  p.empty = {{4, 0}, {8, 2}};
  p.free = {0, 0};
  p.demands = {{{true, true}, {8, 0}}, {{false, true}, {2, 2}}};
  // One node of the second offer for the second demand; it has room for 6 of the 8 of the first one.
  CHECK(BoundOf(p).price == Approx(3.5));
}

TEST_CASE("no mix in whole nodes is below the bound") {
  std::mt19937 random(5);
  const auto number = [&](int most) { return static_cast<double>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 200; ++round) {
    MixProblem p;
    const size_t offers = 1 + random() % 2;
    p.free = {number(5), number(5)};
    for (size_t t = 0; t < offers; ++t) {
      p.price.push_back(1 + number(5));
      p.empty.push_back({1 + number(8), 1 + number(8)});
    }
    p.demands = {{std::vector<bool>(offers, true), {number(30), number(30)}}};
    const double bound = BoundOf(p).price;
    for (int a = 0; a < 40; ++a) {
      for (int b = 0; b < (offers > 1 ? 40 : 1); ++b) {
        const auto total = [&](size_t r) {
          return p.free[r] + a * p.empty[0][r] + (offers > 1 ? b * p.empty[1][r] : 0);
        };
        const bool enough = total(0) >= p.demands[0].amount[0] && total(1) >= p.demands[0].amount[1];
        const double price = a * p.price[0] + (offers > 1 ? b * p.price[1] : 0);
        if (enough) REQUIRE(price >= bound - 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace berth::lab
