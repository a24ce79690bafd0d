// How much room for cloud disks the predicates about attach limits leave, for a priority of 1.11 to 1.13 that reads it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"

namespace berth::scheduler::volumes {

struct DiskRoom {
  int64_t allocatable = 0;  // how many more volumes can be attached
  int64_t requested = 0;    // how many the pod would add
};

// Source: TransientInfo, which MaxPDVolumeCountChecker fills in
// (pkg/scheduler/algorithm/predicates/predicates.go, 1.13).
class DiskRoomRule {
 public:
  // Reads which predicates about cloud disks the scheduler has, and in which order.
  explicit DiskRoomRule(const PluginFactoryArgs& args);
  // Returns the room on each row by the last of these predicates whose kind of disk the pod has, or zeros when it has
  // none. Only for rows that the pod fits.
  std::vector<DiskRoom> On(const PodContext& ctx, std::span<const Row> rows) const;

 private:
  AlgorithmGates gates_;
  std::vector<CloudDisk> disks_;  // in the order of evaluation
};

}  // namespace berth::scheduler::volumes
