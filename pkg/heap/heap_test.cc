#include "pkg/heap/heap.h"

#include <absl/strings/match.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace berth::heap {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasTcmalloc = false;  // the sanitizers' allocators keep what was freed
#else
constexpr bool kHasTcmalloc = true;
#endif

// Returns the process's resident memory in MiB.
int64_t ResidentMib() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE) >> 20;
}

// Returns how much of the process's memory consists of huge pages, in MiB.
int64_t HugeMib() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    int64_t kib = 0;
    if (word == "AnonHugePages:" && file >> kib) return kib >> 10;
  }
  return 0;
}

// Returns the flags that Linux shows for the mapping that an address is in, such as "rd wr mr mw me ac sd nh".
std::string FlagsOf(const void* address) {
  std::ifstream file("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) found = wanted >= begin && wanted < end;
    if (found && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

// Returns whether Linux gives huge pages to those who ask for them.
bool HasHugePages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string choice;
  return std::getline(file, choice) && choice.find("[never]") == std::string::npos;
}

// Returns as many pieces as make up this memory. A piece is not larger than a page of 4 KiB.
std::vector<std::unique_ptr<char[]>> Pieces(size_t mib) {
  constexpr size_t kPiece = 4 << 10;
  std::vector<std::unique_ptr<char[]>> pieces((mib << 20) / kPiece);
  for (auto& p : pieces) p = std::make_unique<char[]>(kPiece);
  return pieces;
}

void ReturnAllFreePages() {
  for (int i = 0; i < 4; ++i) ReturnFreePages();
}

TEST_CASE("pages that a process has freed are returned to the system, also in parts of huge pages") {
  for (const bool huge : {false, true}) {
    CAPTURE(huge);
    if (huge) UseHugePages();
    ReturnAllFreePages();  // those of other tests, which would be used below
    const int64_t before = ResidentMib();
    {
      auto pieces = Pieces(128);
      CHECK(ResidentMib() >= before + 120);
      // Of each 192 KiB, the first 64 KiB stay.
      for (size_t i = 0; i < pieces.size(); ++i) {
        if (i / 16 % 3 != 0) pieces[i] = nullptr;
      }
      ReturnAllFreePages();
      if (kHasTcmalloc) CHECK(ResidentMib() < before + 64);
    }
    ReturnAllFreePages();
    if (kHasTcmalloc) CHECK(ResidentMib() < before + 16);
  }
}

TEST_CASE("the heap grows by huge pages where Linux has them") {
  UseHugePages();
  ReturnAllFreePages();
  const int64_t before = HugeMib();
  const auto pieces = Pieces(256);
  const bool expected = kHasTcmalloc && HasHugePages();
  CHECK(HugeMib() - before >= (expected ? 64 : 0));
  // What is returned later is not filled with huge pages again.
  CHECK(absl::StrContains(FlagsOf(pieces.back().get()), " nh ") == expected);
}

TEST_CASE("a large heap grows by pages that a thread has made ready, and by others while there is none") {
  UseHugePages();
  std::vector<std::unique_ptr<char[]>> pieces;
  for (int round = 0; round < 20; ++round) {
    for (auto& p : Pieces(8)) pieces.push_back(std::move(p));
    std::this_thread::yield();
  }
  // No two pieces share memory.
  for (size_t i = 0; i < pieces.size(); ++i) std::memcpy(pieces[i].get(), &i, sizeof i);
  size_t wrong = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    size_t found = 0;
    std::memcpy(&found, pieces[i].get(), sizeof found);
    wrong += found == i ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("signals are not delivered to the thread that makes pages ready") {
  UseHugePages();
  size_t threads = 0, open = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      uint64_t blocked = 0;
      if (std::sscanf(line.c_str(), "SigBlk: %lx", &blocked) != 1) continue;
      ++threads;
      open += (blocked >> (SIGTERM - 1) & 1) == 0 ? 1 : 0;
    }
  }
  if (kHasTcmalloc) CHECK(threads == 2);
  CHECK(open == 1);
}

TEST_CASE("large and aligned memory can be allocated while the heap grows by huge pages") {
  UseHugePages();
  constexpr size_t kSize = (100 << 20) + 1;
  const auto large = std::make_unique<char[]>(kSize);
  large[kSize - 1] = 'x';
  struct alignas(4 << 20) Aligned {
    char c = 0;
  };
  const auto aligned = std::make_unique<Aligned>();
  CHECK(reinterpret_cast<uintptr_t>(aligned.get()) % alignof(Aligned) == 0);
  CHECK(large[kSize - 1] == 'x');
  if (kHasTcmalloc) CHECK_THROWS_AS(std::string(std::string().max_size() - 1, 'x'), std::bad_alloc);
}

TEST_CASE("caches of threads are bounded, and memory can be used as before") {
  BoundThreadCaches();
  std::vector<std::unique_ptr<int>> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(std::make_unique<int>(i));
  CHECK(*numbers[999] == 999);
}

}  // namespace
}  // namespace berth::heap
