#include "pkg/util/idle_memory.h"

#include <cstddef>

// tcmalloc's interface for C; its header is not in the package of the library. The symbols are weak because programs
// with sanitizers have another allocator.
extern "C" {
[[gnu::weak]] int MallocExtension_SetNumericProperty(const char* property, size_t value);
[[gnu::weak]] void MallocExtension_ReleaseToSystem(size_t bytes);
}

namespace berth::util {

void BoundThreadCaches() {
  constexpr size_t kBytes = 4 << 20;  // for all threads together
  if (MallocExtension_SetNumericProperty == nullptr) return;
  MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kBytes);
}

void ReturnFreePages() {
  constexpr size_t kBytes = 64 << 20;
  if (MallocExtension_ReleaseToSystem != nullptr) MallocExtension_ReleaseToSystem(kBytes);
}

}  // namespace berth::util
