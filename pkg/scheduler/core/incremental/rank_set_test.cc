// Compares small and large RankSets with std::set, and SelectKth with a sorted list.
#include <set>

#include <catch2/catch.hpp>

#include "pkg/scheduler/core/incremental/rank_set.h"
#include "pkg/scheduler/reference/random_cluster.h"

namespace berth::scheduler {

TEST_CASE("RankSet is a set, however large it grows") {
  for (uint64_t seed : reference::Seeds(40)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    const int limit = random.Of(std::vector<int>{1, 63, 64, 65, 600, 3000});
    RankSet set(static_cast<uint32_t>(limit));
    std::set<uint32_t> want;
    for (int n = 0; n < 2000; ++n) {
      uint32_t rank = static_cast<uint32_t>(random.Below(limit));
      // The set grows first and shrinks later.
      if (!want.contains(rank) && random.Chance(n < 1200 ? 90 : 20)) {
        set.Insert(rank);
        want.insert(rank);
      } else if (want.contains(rank) && random.Chance(n < 1200 ? 20 : 90)) {
        set.Erase(rank);
        want.erase(rank);
      }
      REQUIRE(set.size() == want.size());
      if (n % 50 != 0 || want.empty()) continue;
      const int k = random.Below(static_cast<int>(want.size()));
      const RankSet* in[] = {&set};
      CHECK(SelectKth({in, {}}, {}, static_cast<uint32_t>(limit), static_cast<uint32_t>(k)) ==
            *std::next(want.begin(), k));
      CHECK(want.contains(set.Any()));
      const auto below = static_cast<uint32_t>(random.Below(limit + 1));
      CHECK(set.CountBelow(below) == std::distance(want.begin(), want.lower_bound(below)));
    }
  }
}

TEST_CASE("RankSet has the ranks whose bits it was filled with") {
  for (uint64_t seed : reference::Seeds(40)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    const auto limit = static_cast<uint32_t>(random.Of(std::vector<int>{1, 64, 65, 512, 513, 3000}));
    std::vector<uint64_t> words(RankSet::WordsFor(limit));
    std::vector<uint32_t> want;
    const int chance = random.Of(std::vector<int>{1, 20, 100});
    for (uint32_t rank = 0; rank < limit; ++rank) {
      if (!random.Chance(chance)) continue;
      words[rank / 64] |= uint64_t{1} << (rank % 64);
      want.push_back(rank);
    }
    RankSet by_bits(limit), by_ranks(limit);
    by_bits.FillBits(words);
    by_ranks.Fill(want);
    REQUIRE(by_bits.size() == want.size());
    const RankSet *bits[] = {&by_bits}, *ranks[] = {&by_ranks};
    for (uint32_t k = 0; k < want.size(); ++k) {
      CHECK(SelectKth({bits, {}}, {}, limit, k) == want[k]);
      CHECK(SelectKth({ranks, {}}, {}, limit, k) == want[k]);
    }
    for (uint32_t rank : want) by_bits.Erase(rank);
    CHECK(by_bits.size() == 0);
  }
}

TEST_CASE("SelectKth finds the k-th of what some sets have and others have not") {
  for (uint64_t seed : reference::Seeds(40)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    reference::Random random(seed);
    const int limit = random.Of(std::vector<int>{3, 64, 130, 700, 5000});
    RankSet a(static_cast<uint32_t>(limit)), b(static_cast<uint32_t>(limit)), hidden(static_cast<uint32_t>(limit)),
        again(static_cast<uint32_t>(limit));
    std::vector<uint32_t> want, b_list, hidden_list;
    for (uint32_t rank = 0; rank < static_cast<uint32_t>(limit); ++rank) {
      int what = random.Below(5);
      if (what == 0) b.Insert(rank);
      if (what == 1 || what == 2 || what == 4) a.Insert(rank);
      if (what == 2 || what == 4) hidden.Insert(rank);  // in `a`, but not wanted because of that
      if (what == 4) again.Insert(rank);                // wanted all the same
      if (what == 0) b_list.push_back(rank);
      if (what == 2 || what == 4) hidden_list.insert(hidden_list.begin(), rank);
      if (what == 0 || what == 1 || what == 4) want.push_back(rank);
    }
    const RankSet* in[] = {&a, &b, &again};
    const RankSet* out[] = {&hidden};
    auto check = [&, limit = static_cast<uint32_t>(limit)](const Ranks& in_ranks, const Ranks& out_ranks) {
      for (uint32_t k = 0; k < want.size(); ++k) CHECK(SelectKth(in_ranks, out_ranks, limit, k) == want[k]);
    };
    check({in, {}}, {out, {}});
    // The same with many sets, in pairs that cancel each other.
    std::vector<const RankSet*> many_in(std::begin(in), std::end(in)), many_out(std::begin(out), std::end(out));
    many_in.insert(many_in.end(), 40, &a);
    many_out.insert(many_out.end(), 40, &a);
    check({many_in, {}}, {many_out, {}});
    // The same with ranks in lists.
    const RankSet* without_b[] = {&a, &again};
    check({without_b, b_list}, {{}, hidden_list});
    many_in.erase(many_in.begin() + 1);
    check({many_in, b_list}, {{many_out.data() + 1, many_out.size() - 1}, hidden_list});
    check({{}, std::vector<uint32_t>(want.rbegin(), want.rend())}, {});
  }
}

}  // namespace berth::scheduler
