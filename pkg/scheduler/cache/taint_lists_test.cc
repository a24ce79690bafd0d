#include "pkg/scheduler/cache/taint_lists.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/testing/objects.h"

namespace berth::scheduler {
namespace {

std::vector<api::Taint> TaintsOf(const char* key) {
  return {{util::Symbol(key), util::Symbol("v"), util::Symbol("NoSchedule")}};
}

TEST_CASE("equal lists of taints share a number, which is given to another list after the last use") {
  TaintLists lists;
  CHECK(lists.Use({}) == 0);
  const uint32_t a = lists.Use(TaintsOf("a"));
  CHECK(a != 0);
  CHECK(lists.Use(TaintsOf("a")) == a);
  const uint32_t b = lists.Use(TaintsOf("b"));
  CHECK(b != a);
  CHECK(lists[b] == TaintsOf("b"));
  const uint64_t version = lists.version();
  lists.Release(a);
  CHECK(lists.Use(TaintsOf("a")) == a);
  CHECK(lists.version() == version);
  lists.Release(a);
  lists.Release(a);
  CHECK(lists.Use(TaintsOf("c")) == a);
  CHECK(lists.version() != version);
  CHECK(lists[a] == TaintsOf("c"));
  lists.Release(0);
  CHECK(lists.Use({}) == 0);
}

TEST_CASE("the rows of a cache have the numbers of their nodes' taints, and flags for cordoned nodes") {
  Cache cache;
  cache.AddNode(testing::NodeOf("n", "'a':'b'", "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]"));
  cache.AddNode(testing::NodeOf("cordoned", "'a':'b'", "'unschedulable':true"));
  const Row n = cache.FindRow(util::Symbol("n")), cordoned = cache.FindRow(util::Symbol("cordoned"));
  CHECK(cache.taint_lists()[cache.columns().taints[n]] == cache.row(n).node->taints);
  CHECK(cache.columns().taints[cordoned] == 0);
  CHECK((cache.columns().flags[n] & kRowCordoned) == 0);
  CHECK((cache.columns().flags[cordoned] & kRowCordoned) != 0);
  cache.AddNode(testing::NodeOf("n"));
  CHECK(cache.columns().taints[n] == 0);
  for (int round = 0; round < 100; ++round) {
    cache.AddNode(
        testing::NodeOf("n", "'a':'b'", "'taints':[{'key':'" + std::to_string(round) + "','effect':'NoSchedule'}]"));
  }
  CHECK(cache.taint_lists().limit() <= 3);
}

}  // namespace
}  // namespace berth::scheduler
