#pragma once
#include <cstdint>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

// The amounts that removed pods give back, in milliCPU, bytes and pods.
struct FreedAmounts {
  int64_t milli_cpu = 0, memory = 0, nvidia_gpu = 0, ephemeral_storage = 0, pods = 0;

  void Add(const Resource& r, int64_t sign) {
    milli_cpu += sign * r.milli_cpu;
    memory += sign * r.memory;
    nvidia_gpu += sign * r.nvidia_gpu;
    ephemeral_storage += sign * r.ephemeral_storage;
    pods += sign;
  }
  bool Covers(const FreedNeed& n) const {
    return milli_cpu >= n.milli_cpu && memory >= n.memory && nvidia_gpu >= n.nvidia_gpu &&
           ephemeral_storage >= n.ephemeral_storage && pods >= n.pods;
  }
};

}  // namespace berth::scheduler
