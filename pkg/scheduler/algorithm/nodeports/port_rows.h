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
  struct Use {
    int32_t ports = 0;  // how many ports on the row have the number
    // Whether NodeRow::ports may have fewer. Of several ports that are equal it has one, which is gone with the first
    // pod.
    bool unsure = false;
  };
  // The use of one number.
  struct Number {
    absl::flat_hash_map<Row, Use> rows;
    HostPort port;      // one of the ports
    bool alike = true;  // whether all of them are equal to it
  };
  // Returns the use of the number, or null if there is none. Valid until a pod comes or goes.
  const Number* Find(int32_t port) const {
    const auto it = numbers_.find(port);
    return it == numbers_.end() ? nullptr : &it->second;
  }
  // To be called when the cache has told of the pods that were there before.
  void Begin(const Cache& cache);
  void Placed(Row row, const PlacedPod& pod, bool trial) override;
  void Left(Row row, const PlacedPod& pod, bool trial) override;

 private:
  absl::flat_hash_map<int32_t, Number> numbers_;
};

}  // namespace berth::scheduler::nodeports
