// Handles exceptions that are not caught.
#pragma once

namespace berth::util {

// After this call, a program that runs out of memory, threads or file descriptors on any thread, at a point where no
// caller can handle it, prints one line to standard error and exits with status 1. Any other uncaught exception is a
// defect: it is printed and the process aborts. `program` must outlive the process.
void ExplainUncaughtExceptions(const char* program);

}  // namespace berth::util
