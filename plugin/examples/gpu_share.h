// Which device of its node each pod has a share of, for GpuShareFits.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace plugin::examples {

// A pod takes the device with the least left that is enough for it, and keeps it. So what is left on each device
// depends on the order in which pods came, and cannot be computed from the pods that are there: the cache tells the
// devices of each pod that comes and goes.
class Devices final : public berth::scheduler::PodHooks {
 public:
  static constexpr int64_t kWhole = 1000;  // what one device has of the resource

  // The cache must outlive the devices.
  Devices(const berth::scheduler::Cache* cache, berth::util::Symbol resource) : cache_(cache), resource_(resource) {}

  berth::util::Symbol resource() const { return resource_; }
  // Returns what is used of each device of the row. A row has as many as its node has whole amounts of the resource.
  std::vector<int64_t> Used(berth::scheduler::Row row) const;
  // Returns the device that a pod with this share would get, or -1 if none has enough left.
  int Choose(berth::scheduler::Row row, int64_t share) const;
  // Returns the device that a pod has, or -1.
  int DeviceOf(const std::string& uid) const;

  void Placed(berth::scheduler::Row row, const berth::scheduler::PlacedPod& pod, bool trial) override;
  void Left(berth::scheduler::Row row, const berth::scheduler::PlacedPod& pod, bool trial) override;

 private:
  struct Share {
    int device = -1;
    bool of_trial = false;  // the pod has never been placed but in a trial
  };
  const berth::scheduler::Cache* cache_;
  berth::util::Symbol resource_;
  std::unordered_map<berth::scheduler::Row, std::vector<int64_t>> used_;  // by device
  std::unordered_map<std::string, Share> shares_;                         // by uid of the pod
};

}  // namespace plugin::examples
