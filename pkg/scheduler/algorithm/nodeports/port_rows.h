// The rows whose pods use a host port, by the number of the port. A row that no pod uses the number on is never listed,
// and one that is may still have room for another protocol or address, which NodeRow::ports says.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::nodeports {

class PortRows final : public PodHooks {
 public:
  using Rows = absl::flat_hash_map<Row, int32_t>;  // with how many ports have the number there
  // Returns the rows with the number, or null if there are none. Valid until a pod comes or goes.
  const Rows* Find(int32_t port) const {
    const auto it = rows_.find(port);
    return it == rows_.end() ? nullptr : &it->second;
  }
  void Placed(Row row, const PlacedPod& pod, bool trial) override;
  void Left(Row row, const PlacedPod& pod, bool trial) override;

 private:
  absl::flat_hash_map<int32_t, Rows> rows_;
};

}  // namespace berth::scheduler::nodeports
