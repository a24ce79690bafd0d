#include "pkg/util/idle_memory.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <vector>

namespace berth::util {
namespace {

// Returns the process's resident memory in MiB.
int64_t ResidentMib() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE) >> 20;
}

TEST_CASE("pages that a process has freed are returned to the system") {
  for (int i = 0; i < 4; ++i) ReturnFreePages();  // those of other tests, which would be used below
  const int64_t before = ResidentMib();
  {
    constexpr size_t kPiece = 64 << 10;
    std::vector<std::unique_ptr<char[]>> pieces(2048);
    for (auto& p : pieces) {
      p = std::make_unique<char[]>(kPiece);
    }
    CHECK(ResidentMib() >= before + 120);
  }
  for (int i = 0; i < 4; ++i) ReturnFreePages();
    // The sanitizers' allocators keep what was freed, and this must do no harm there.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(ResidentMib() < before + 16);
#endif
}

TEST_CASE("caches of threads are bounded, and memory can be used as before") {
  BoundThreadCaches();
  std::vector<std::unique_ptr<int>> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(std::make_unique<int>(i));
  CHECK(*numbers[999] == 999);
}

}  // namespace
}  // namespace berth::util
