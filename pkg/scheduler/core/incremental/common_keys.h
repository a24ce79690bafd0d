// The labels with few values by which nodes are grouped for every pod, once one pod needs it; usually the zone. A pod
// that does not need a label could do with fewer groups, but then it would not share an equivalence class with pods
// that do. A scheduler has one CommonKeys for all of its overlays.
#pragma once
#include <vector>

#include "pkg/scheduler/core/incremental/static_node_index.h"

namespace berth::scheduler {

class CommonKeys {
 public:
  // Adds the key, unless it has been added before or there are too many keys already.
  void Add(const GroupKey& key);
  // Returns keys that together make few groups, in the order in which they were added. The result may become shorter
  // when nodes bring new values of the labels.
  std::vector<GroupKey> Few() const;
  void Clear() { keys_.clear(); }

 private:
  std::vector<GroupKey> keys_;
};

}  // namespace berth::scheduler
