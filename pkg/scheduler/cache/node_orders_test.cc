// The order of nodes and their ranks, after any sequence of changes, against a list that is sorted anew.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/testing/new_objects.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

// What a reader keeps by rank, and brings up to date from the cache's log of changes.
class ReaderOfRanks {
 public:
  explicit ReaderOfRanks(const Cache* cache) : cache_(*cache) {}

  void Refresh() {
    if (version_ != cache_.ranks_version()) {
      version_ = cache_.ranks_version();
      row_at_.clear();
      kept_.clear();
      ++times_anew_;
      cache_.listed().ForEach([&](Row row) { Enter(row); });
    } else {
      cache_.RanksGivenUpSince(seen_, [&](Row row, uint32_t rank) { Erase(row, rank); });
      std::vector<Row> changed;
      REQUIRE(cache_.NodeChangesSince(seen_, [&](Row row) { changed.push_back(row); }));
      for (const Row row : changed) Erase(row, cache_.Rank(row));
      for (const Row row : changed) {
        if (cache_.listed().Has(row) && !kept_.contains(row)) Enter(row);
      }
    }
    seen_ = cache_.generation();
  }
  // Returns the names of the rows in the order of their ranks.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [rank, row] : row_at_) names.push_back(cache_.row(row).name.string());
    return names;
  }
  int times_anew() const { return times_anew_; }

 private:
  void Enter(Row row) {
    const uint32_t rank = cache_.Rank(row);
    REQUIRE(rank < cache_.rank_limit());
    CHECK(cache_.RowAt(rank) == row);
    CHECK(row_at_.try_emplace(rank, row).second);
    kept_[row] = rank;
  }
  void Erase(Row row, uint32_t rank) {
    const auto known = kept_.find(row);
    if (known == kept_.end()) return;
    CHECK(known->second == rank);
    row_at_.erase(rank);
    kept_.erase(known);
  }

  const Cache& cache_;
  std::map<uint32_t, Row> row_at_;
  std::map<Row, uint32_t> kept_;  // ranks by row
  uint64_t version_ = 0, seen_ = 0;
  int times_anew_ = 0;
};

}  // namespace

TEST_CASE("a reader that follows the changes of ranks knows the order of the nodes") {
  std::mt19937 random(11);
  for (const bool tree : {false, true}) {
    Cache cache(DescribeTemplate, {.keeps_tree = tree, .zones_by_either_label = tree});
    std::map<std::string, int, std::greater<>> names;
    for (int n = 0; n < 30; ++n) {
      cache.AddNode(testing::NodeOf(absl::StrCat("n", n)));
      names[absl::StrCat("n", n)] = 0;
    }
    ReaderOfRanks often(&cache), seldom(&cache);
    for (int round = 0; round < 3000; ++round) {
      // Names return sooner or later, often to another row, because pods keep some rows while their node is gone.
      const std::string name = absl::StrCat("n", random() % 60, random() % 8 == 0 ? "x" : "");
      switch (random() % 4) {
        case 0:
        case 1:
          cache.AddNode(testing::NodeOf(name, absl::StrCat("'topology.kubernetes.io/zone':'z", random() % 3, "'")));
          names[name] = 0;
          break;
        case 2:
          cache.RemoveNode(name);
          names.erase(name);
          break;
        default:
          (void)cache.AddPod(testing::Bound(testing::PodOf(absl::StrCat("p", round), ""), name));
      }
      std::vector<std::string> want;
      for (const auto& [known, unused] : names) want.push_back(known);
      std::vector<std::string> got;
      for (const Row row : cache.in_order()) got.push_back(cache.row(row).name.string());
      REQUIRE(got == want);
      often.Refresh();
      REQUIRE(often.Names() == want);
      if (round % 20 != 0) continue;
      seldom.Refresh();
      REQUIRE(seldom.Names() == want);
      if (tree) CHECK(cache.in_tree_order().size() == want.size());
    }
    // Most nodes that come find a rank that is free.
    CHECK(often.times_anew() < 300);
  }
}

}  // namespace berth::scheduler
