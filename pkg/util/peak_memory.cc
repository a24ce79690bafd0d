#include "pkg/util/peak_memory.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace berth::util {

int64_t PeakMemoryBytes() {
  constexpr int64_t kKiB = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    int64_t kib = 0;
    if (name == "VmHWM:" && status >> kib) return kib * kKiB;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * kKiB;
}

}  // namespace berth::util
