#include "pkg/util/peak_memory.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstring>

namespace berth::util {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// Has so much memory in use for a moment. It is not the allocator's, which might keep it.
void Touch(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  std::memset(memory, 1, size);
  REQUIRE(munmap(memory, size) == 0);
}

}  // namespace

TEST_CASE("the most memory that was in use is told when it is no longer in use") {
  const int64_t before = PeakMemoryBytes();
  CHECK(before > 0);
  CHECK(before < int64_t{16} << 30);
  Touch(before + 64 * kMiB);
  const int64_t after = PeakMemoryBytes();
  CHECK(after >= before + 64 * kMiB);
  CHECK(PeakMemoryBytes() >= after);
}

}  // namespace berth::util
