// How the heap of a program grows, and how it gives back what is free. These functions do nothing in programs without
// tcmalloc, which are those with sanitizers. Thread-safety: any thread may call them.
#pragma once

namespace berth::heap {

// Lets the heap grow by pages of 2 MiB instead of 4 KiB, where Linux has them (transparent_hugepage/enabled is "always"
// or "madvise"). A page fault takes microseconds on a virtual machine, and a process that reads a large cluster would
// have hundreds of thousands of them. What is freed is returned in pages of 4 KiB as before; Linux takes what a process
// has returned of a huge page when it needs memory. Before Linux 5.14, and in memory that was allocated in pieces of
// more than 16 MiB, it may fill what was returned with huge pages again. From 32 MiB on, a thread, which blocks all
// signals, keeps the next huge page ready. To be called at the beginning of main(), before other threads are started.
void UseHugePages();

// Bounds the freed memory that threads keep for themselves.
void BoundThreadCaches();

// Returns up to 64 MiB of free pages to the system, because a process would keep the size that it once had. Threads
// that need pages wait meanwhile, some milliseconds.
void ReturnFreePages();

}  // namespace berth::heap
