// The rows whose nodes have a CSINode, and those on which CSI drivers replace in-tree plugins, by the annotations of
// the CSINodes (CSI migration of Kubernetes 1.29).
//
// Invariant after each call: rows_ and by_plugin_ describe version csi_nodes_ of the cache's CSINodes, and its nodes as
// they were at generation_.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

class CsiNodeRows {
 public:
  // `cache` must outlive the object.
  explicit CsiNodeRows(const Cache* cache) : cache_(cache) {}
  // Return the rows whose nodes have a CSINode, and those on which a CSI driver replaces the in-tree plugin. They are
  // brought up to date with what has changed since the last call. Valid until the next call.
  const RowSet& All();
  const RowSet& Migrated(std::string_view plugin);

 private:
  void Refresh();
  void Set(Row row);

  const Cache* cache_;
  bool found_ = false;
  uint64_t csi_nodes_ = 0, generation_ = 0;
  RowSet rows_;
  absl::flat_hash_map<std::string, RowSet> by_plugin_;
};

}  // namespace berth::scheduler
