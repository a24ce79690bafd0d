#include "pkg/heap/heap.h"

#ifdef BERTH_TCMALLOC

#include <gperftools/malloc_extension.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>

namespace berth::heap {

namespace {

constexpr size_t kHugePage = 2 << 20;

// Linux 5.14; the headers of Debian 12's C library have it, older ones do not.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Backs memory by huge pages if there are any. While memory is marked for them, Linux gathers what is left of it into
// huge pages again, also where most of it was returned. So the mark is taken away as soon as the pages are there. Of
// what is too large to be used soon, pages come one by one, and it stays marked.
void Back(void* begin, size_t size) {
  constexpr size_t kMostAtOnce = 16 << 20;
  if (madvise(begin, size, MADV_HUGEPAGE) != 0 || size > kMostAtOnce) return;
  if (madvise(begin, size, MADV_POPULATE_WRITE) == 0) madvise(begin, size, MADV_NOHUGEPAGE);
}

// Keeps one huge page ready, which a thread of its own backs. Where the hypervisor has given away what the machine did
// not use, that takes milliseconds, for which no decision should wait.
class Reserve {
 public:
  // Starts the thread, which sleeps until the first Take(). To be called once.
  void Start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
    std::thread([this] { Run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  // Returns the page, or null if there is none yet, and lets another one be made ready. Does not allocate.
  void* Take() {
    void* const page = page_.exchange(nullptr);
    if (wanted_.exchange(1) == 0) wanted_.notify_one();
    return page;
  }

 private:
  void Run() {
    while (true) {
      wanted_.wait(0);
      wanted_ = 0;
      if (page_.load() != nullptr) continue;
      void* const page = Next();
      if (page == nullptr) return;
      Back(page, kHugePage);
      page_ = page;
    }
  }
  // Returns the address of a page that is not backed yet. Pages follow one another, because Linux and tcmalloc keep
  // adjacent memory together.
  void* Next() {
    constexpr size_t kRegion = 16 << 20;
    if (left_ == 0) {
      void* const region =
          mmap(nullptr, kRegion + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (region == MAP_FAILED) return nullptr;
      const auto address = reinterpret_cast<uintptr_t>(region);
      const size_t before = (kHugePage - address % kHugePage) % kHugePage;
      next_ = static_cast<char*>(region) + before;
      if (before > 0) munmap(region, before);
      munmap(next_ + kRegion, kHugePage - before);
      left_ = kRegion / kHugePage;
    }
    --left_;
    return std::exchange(next_, next_ + kHugePage);
  }

  std::atomic<void*> page_{nullptr};
  std::atomic<int> wanted_{0};
  char* next_ = nullptr;  // used by the thread only, as is left_
  size_t left_ = 0;       // pages of the region
};

// Asks `parent` for whole huge pages. tcmalloc calls this with its lock held, so nothing here may allocate.
class HugePages : public SysAllocator {
 public:
  explicit HugePages(SysAllocator* parent) : parent_(parent) { reserve_.Start(); }

  void* Alloc(size_t size, size_t* actual_size, size_t alignment) override {
    // The caller could not use more than `size` if it does not learn the actual size.
    if (actual_size == nullptr || size > std::numeric_limits<size_t>::max() - kHugePage) {
      return parent_->Alloc(size, actual_size, alignment);
    }
    const size_t whole = (size + kHugePage - 1) / kHugePage * kHugePage;
    if (grown_ >= kSmall && whole == kHugePage && alignment <= kHugePage) {
      if (void* const page = reserve_.Take(); page != nullptr) {
        *actual_size = kHugePage;
        return page;
      }
    }
    grown_ += whole;
    void* begin = parent_->Alloc(whole, actual_size, std::max(alignment, kHugePage));
    if (begin == nullptr) return parent_->Alloc(size, actual_size, alignment);
    Back(begin, whole);
    return begin;
  }

 private:
  // A program this small may need no page more, so none is made ready.
  static constexpr size_t kSmall = 32 << 20;

  SysAllocator* const parent_;
  size_t grown_ = 0;  // bytes
  Reserve reserve_;
};

}  // namespace

void UseHugePages() {
  // Never deleted, because tcmalloc uses it until the process ends.
  static HugePages* const pages = new HugePages(MallocExtension::instance()->GetSystemAllocator());
  MallocExtension::instance()->SetSystemAllocator(pages);
}

void BoundThreadCaches() {
  constexpr size_t kBytes = 4 << 20;  // for all threads together
  MallocExtension::instance()->SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kBytes);
}

void ReturnFreePages() {
  constexpr size_t kBytes = 64 << 20;
  MallocExtension::instance()->ReleaseToSystem(kBytes);
}

}  // namespace berth::heap

#else

namespace berth::heap {

void UseHugePages() {}
void BoundThreadCaches() {}
void ReturnFreePages() {}

}  // namespace berth::heap

#endif
