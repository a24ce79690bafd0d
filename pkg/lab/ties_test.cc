#include "pkg/lab/ties.h"

#include <catch2/catch.hpp>
#include <set>

namespace berth::lab {
namespace {

TEST_CASE("ties: the number of the next decision") {
  CHECK_FALSE(TieBreaker(*Ties::Parse("turn")).Next());
  CHECK(TieBreaker(*Ties::Parse("first")).Next() == 0);
  TieBreaker a(*Ties::Parse("random:3")), b(*Ties::Parse("random:3")), c(*Ties::Parse("random:4"));
  std::set<uint64_t> of_ten;
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t n = *a.Next();
    CHECK(n == *b.Next());
    differs = differs || n != *c.Next();
    of_ten.insert(n % 10);
  }
  CHECK(differs);
  CHECK(of_ten.size() == 10);
}

TEST_CASE("ties: what is no way to break them is refused") {
  for (const char* text : {"", "last", "random", "random:", "random:-1", "random:1x", "First"}) {
    CHECK(Ties::Parse(text).status().message().find("must be turn, first or random:SEED") != std::string_view::npos);
  }
}

}  // namespace
}  // namespace berth::lab
