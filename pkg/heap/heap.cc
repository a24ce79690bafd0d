#include "pkg/heap/heap.h"

#ifdef BERTH_TCMALLOC

#include <gperftools/malloc_extension.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace berth::heap {

namespace {

constexpr size_t kHugePage = 2 << 20;

// Linux 5.14; the headers of Debian 12's C library have it, older ones do not.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// Asks `parent` for whole huge pages. tcmalloc calls this with its lock held, so nothing here may allocate.
class HugePages : public SysAllocator {
 public:
  explicit HugePages(SysAllocator* parent) : parent_(parent) {}

  void* Alloc(size_t size, size_t* actual_size, size_t alignment) override {
    // The caller could not use more than `size` if it does not learn the actual size.
    if (actual_size == nullptr || size > std::numeric_limits<size_t>::max() - kHugePage) {
      return parent_->Alloc(size, actual_size, alignment);
    }
    const size_t whole = (size + kHugePage - 1) / kHugePage * kHugePage;
    void* begin = parent_->Alloc(whole, actual_size, std::max(alignment, kHugePage));
    if (begin == nullptr) return parent_->Alloc(size, actual_size, alignment);
    Back(begin, whole);
    return begin;
  }

 private:
  // Backs memory by huge pages if there are any. While memory is marked for them, Linux gathers what is left of it into
  // huge pages again, also where most of it was returned. So the mark is taken away as soon as the pages are there. Of
  // what is too large to be used soon, pages come one by one, and it stays marked.
  static void Back(void* begin, size_t size) {
    constexpr size_t kMostAtOnce = 16 << 20;
    if (madvise(begin, size, MADV_HUGEPAGE) != 0 || size > kMostAtOnce) return;
    if (madvise(begin, size, MADV_POPULATE_WRITE) == 0) madvise(begin, size, MADV_NOHUGEPAGE);
  }

  SysAllocator* const parent_;
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
