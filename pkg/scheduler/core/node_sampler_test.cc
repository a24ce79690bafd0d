#include "pkg/scheduler/core/node_sampler.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

constexpr CacheOptions kTreeKept = {NodeOrder::kNameDescending, true, false};

void AddSampledNodes(Cache* cache, int count) {
  for (int i = 0; i < count; ++i) {
    auto node = std::make_shared<api::Node>();
    node->meta.name = absl::StrCat("n", i);
    cache->AddNode(node);
  }
}

// Walks once. The rows that `fits` lists by their number modulo 10 fit.
struct OneWalk {
  std::vector<Row> looked, taken;
  size_t evaluated = 0;
};
OneWalk WalkOnce(NodeSampler* sampler, bool (*fits)(Row)) {
  OneWalk out;
  out.evaluated = sampler->Walk(
      nullptr, 0,
      [&](Row row) {
        out.looked.push_back(row);
        return fits(row);
      },
      [&](Row row) { out.taken.push_back(row); });
  return out;
}
bool All(Row) {
  return true;
}

}  // namespace

TEST_CASE("the number of nodes to find is a share, and never below 100") {
  CHECK(FixedShareOfNodes(99, 50) == 99);
  CHECK(FixedShareOfNodes(150, 50) == 100);
  CHECK(FixedShareOfNodes(1001, 50) == 500);
  CHECK(FixedShareOfNodes(1000, 0) == 1000);
  CHECK(FixedShareOfNodes(1000, -1) == 1000);
  CHECK(FixedShareOfNodes(1000, 101) == 1000);
  CHECK(AdaptiveShareOfNodes(99, 0) == 99);
  CHECK(AdaptiveShareOfNodes(1000, 0) == 420);
  CHECK(AdaptiveShareOfNodes(10000, -5) == 500);
  CHECK(AdaptiveShareOfNodes(1000, 30) == 300);
  CHECK(AdaptiveShareOfNodes(1000, 100) == 1000);
}

TEST_CASE("a walk of the tree uses up the node that shows that enough were found") {
  Cache cache(DescribeTemplate, kTreeKept);
  AddSampledNodes(&cache, 150);
  constexpr SamplingRules kRules = {SamplingRules::Walk::kTree, FixedShareOfNodes, 50};
  NodeSampler sampler(&cache, kRules, 50);
  const OneWalk first = WalkOnce(&sampler, All);
  CHECK(first.evaluated == 101);
  CHECK(first.taken.size() == 100);
  CHECK(first.looked.back() == 100);
  CHECK(WalkOnce(&sampler, All).looked.front() == 101);
}

TEST_CASE("a rotating start looks at that node again") {
  Cache cache(DescribeTemplate, kTreeKept);
  AddSampledNodes(&cache, 150);
  constexpr SamplingRules kRules = {SamplingRules::Walk::kRotatingStart, AdaptiveShareOfNodes, 0};
  NodeSampler sampler(&cache, kRules, 50);
  const OneWalk first = WalkOnce(&sampler, [](Row row) { return row >= 10; });
  CHECK(first.evaluated == 111);
  CHECK(first.taken.front() == 10);
  CHECK(first.taken.back() == 109);
  const OneWalk second = WalkOnce(&sampler, All);
  CHECK(second.looked.front() == 110);
  CHECK(second.taken.back() == 59);
  CHECK(WalkOnce(&sampler, [](Row) { return false; }).evaluated == 150);
}

TEST_CASE("all nodes are looked at when there are few") {
  Cache cache(DescribeTemplate, kTreeKept);
  AddSampledNodes(&cache, 20);
  constexpr SamplingRules kRules = {SamplingRules::Walk::kTree, FixedShareOfNodes, 50};
  NodeSampler sampler(&cache, kRules, 50);
  CHECK(WalkOnce(&sampler, All).taken.size() == 20);
  CHECK(WalkOnce(&sampler, All).looked.front() == 0);
}

TEST_CASE("a walk that is made by counting ends where the other does, and the next one begins there") {
  for (const auto walk : {SamplingRules::Walk::kTree, SamplingRules::Walk::kRotatingStart}) {
    Cache cache(DescribeTemplate, kTreeKept);
    AddSampledNodes(&cache, 170);
    const SamplingRules rules = {walk, FixedShareOfNodes, 50};
    NodeSampler walked(&cache, rules, 50);
    Cache other(DescribeTemplate, kTreeKept);
    AddSampledNodes(&other, 170);
    NodeSampler counted(&other, rules, 50);
    std::minstd_rand random(7);
    for (int i = 0; i < 300; ++i) {
      const Row from = random() % 170, most = random() % 240;
      auto fits = [&](Row row) { return (row + from) % 170 < most; };
      std::vector<Row> taken, expected;
      const size_t looked = walked.Walk(nullptr, 0, fits, [&](Row row) { expected.push_back(row); });
      SampledWalk made = counted.NextWalk(0).value();
      for (; made.looked < 170 && !made.stopped; ++made.looked) {
        const Row row = other.in_tree_order()[(made.start + made.looked) % 170];
        if (!fits(row)) continue;
        made.stopped = taken.size() == made.most;
        if (!made.stopped) taken.push_back(row);
      }
      made.walked = true;
      counted.Made(made);
      REQUIRE(taken == expected);
      REQUIRE(made.looked == looked);
      if (i % 100 == 60) {
        for (Cache* c : {&cache, &other}) c->RemoveNode("n3");
        for (Cache* c : {&cache, &other}) {
          auto node = std::make_shared<api::Node>();
          node->meta.name = "n3";
          c->AddNode(node);
        }
        // Rows that came since the walk began anew are not in the order of the tree until it does so again.
        while (walk == SamplingRules::Walk::kTree && !counted.NextWalk(0)) {
          auto none = [](Row) { return true; };
          auto ignored = [](Row) {};
          REQUIRE(walked.Walk(nullptr, 0, none, ignored) == counted.Walk(nullptr, 0, none, ignored));
        }
      }
    }
  }
}

}  // namespace berth::scheduler
