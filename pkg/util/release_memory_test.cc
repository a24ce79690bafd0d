#include "pkg/util/release_memory.h"

#include <catch2/catch.hpp>
#include <vector>

namespace berth::util {
namespace {

TEST_CASE("release memory: a vector has none afterwards, but has it after an assignment of {}") {
  std::vector<int> v(100), assigned(100);
  ReleaseMemory(&v);
  CHECK(v.empty());
  CHECK(v.capacity() == 0);
  assigned = {};
  CHECK(assigned.capacity() == 100);
}

}  // namespace
}  // namespace berth::util
