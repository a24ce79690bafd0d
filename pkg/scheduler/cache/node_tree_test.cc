#include "pkg/scheduler/cache/node_tree.h"

#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

namespace berth::scheduler {
namespace {

std::vector<Row> Pass(NodeTree* tree) {
  std::vector<Row> out;
  for (size_t i = 0; i < tree->size(); ++i) out.push_back(*tree->Next());
  return out;
}

const Symbol kA("a"), kB("b"), kC("c");

}  // namespace

TEST_CASE("a node tree gives one node of each zone in turn") {
  NodeTree tree;
  CHECK_FALSE(tree.Next());
  tree.Add(0, kB);
  tree.Add(1, kA);
  tree.Add(2, kC);
  tree.Add(3, kA);
  tree.Add(4, kB);
  CHECK(tree.InOrder() == std::vector<Row>{0, 1, 2, 4, 3});
  CHECK(Pass(&tree) == std::vector<Row>{0, 1, 2, 4, 3});
  CHECK(Pass(&tree) == std::vector<Row>{0, 1, 2, 4, 3});
}

TEST_CASE("a zone that loses its last node comes last when it returns") {
  NodeTree tree;
  tree.Add(0, kA);
  tree.Add(1, kB);
  tree.Remove(0, kA);
  tree.Add(0, kA);
  CHECK(tree.InOrder() == std::vector<Row>{1, 0});
}

// Bug 13-01: seen in release 1.13.4 with nodes a1 in zone A and b1, b2, b3 in zone B.
TEST_CASE("a node that joins a zone that was passed comes at once, and another is left out") {
  NodeTree tree;
  tree.Add(1, kA);
  for (Row row : {11, 12, 13}) tree.Add(row, kB);
  CHECK(Pass(&tree) == std::vector<Row>{1, 11, 12, 13});
  tree.Add(2, kA);
  CHECK(Pass(&tree) == std::vector<Row>{2, 1, 11, 2, 12});
  CHECK(Pass(&tree) == std::vector<Row>{13, 1, 11, 2, 12});
}

TEST_CASE("skipping steps of a walk is the same as going them, whatever comes and goes") {
  std::minstd_rand random(1);
  auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  for (int run = 0; run < 200; ++run) {
    NodeTree walked, skipped;
    const Symbol zones[] = {kA, kB, kC};
    std::vector<std::pair<Row, Symbol>> rows;
    for (int step = 0; step < 60; ++step) {
      if (rows.size() < 2 || below(5) == 0) {
        rows.emplace_back(static_cast<Row>(100 * run + step), zones[below(3)]);
        for (NodeTree* tree : {&walked, &skipped}) tree->Add(rows.back().first, rows.back().second);
        continue;
      }
      if (below(8) == 0) {
        const auto gone = rows.begin() + static_cast<std::ptrdiff_t>(below(rows.size()));
        for (NodeTree* tree : {&walked, &skipped}) tree->Remove(gone->first, gone->second);
        rows.erase(gone);
        continue;
      }
      const size_t steps = below(rows.size() + 1);
      const std::optional<size_t> place = skipped.Place();
      const std::vector<Row> order = skipped.InOrder();
      for (size_t i = 0; i < steps; ++i) {
        const Row next = *walked.Next();
        if (place) CHECK(next == order[(*place + i) % order.size()]);
        if (!place) CHECK(next == *skipped.Next());
      }
      if (place) skipped.Skip(steps);
    }
  }
}

}  // namespace berth::scheduler
