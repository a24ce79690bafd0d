// What happens to an exception that nobody catches.
#pragma once

namespace berth::util {

// From now on a program that runs out of memory, threads or file descriptors on any thread, where no caller can handle
// it, ends with one line on standard error and status 1. Any other uncaught exception is a defect: it is shown, and the
// process aborts. `program` must outlive the process.
void ExplainUncaughtExceptions(const char* program);

}  // namespace berth::util
