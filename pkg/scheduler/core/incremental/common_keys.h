// Labels of few values that groups tell apart for every pod once one pod needs it, zones above all: pods that need them
// and pods that do not then share classes. One for all overlays of a scheduler.
#pragma once
#include <vector>

#include "pkg/scheduler/core/incremental/static_node_index.h"

namespace berth::scheduler {

class CommonKeys {
 public:
  // Does nothing when there are many keys already.
  void Add(const GroupKey& key);
  // Returns those that together make few groups, in the order in which they were added. Labels get more values as nodes
  // come, so that what is returned may become less.
  std::vector<GroupKey> Few() const;
  void Clear() { keys_.clear(); }

 private:
  std::vector<GroupKey> keys_;
};

}  // namespace berth::scheduler
