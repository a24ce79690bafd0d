// Keeps the memory of a process near what it uses. Without this a process keeps the size that it once had. Does nothing
// in a program that was linked without tcmalloc. Thread-safety: any thread may call this.
#pragma once

namespace berth::util {

// Bounds the freed memory that threads keep for themselves.
void BoundThreadCaches();
// Returns up to 64 MiB of free pages to the system. Threads that need pages wait meanwhile, some milliseconds.
void ReturnFreePages();

}  // namespace berth::util
