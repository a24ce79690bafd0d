#include "pkg/explain/output.h"

#include <catch2/catch.hpp>

namespace berth::explain {
namespace {

TEST_CASE("columns are as wide as their widest cell") {
  CHECK(Table({{"A", "LONG", "Z"}, {"bbb", "c"}, {"d", "", "e"}}) == "A     LONG   Z\nbbb   c\nd            e\n");
  CHECK(Table({}).empty());
  CHECK(Table({{"\u00e4", "x"}, {"bb", "y"}}) == "\u00e4    x\nbb   y\n");
}

TEST_CASE("counts and long lists in words") {
  CHECK(Counted(1, "node") == "1 node");
  CHECK(Counted(0, "node") == "0 nodes");
  CHECK(Some({"a", "b", "c"}, 2) == "a, b, c");
  CHECK(Some({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
  CHECK(Some({}, 2).empty());
}

}  // namespace
}  // namespace berth::explain
