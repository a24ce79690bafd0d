#include "pkg/ui/snapshot.h"
#include "pkg/scheduler/cache/scalar_lookup.h"

#include <algorithm>

namespace berth::ui {
namespace {

void CopyExtended(const scheduler::NodeRow& row, const scheduler::Columns& c, scheduler::Row r, NodeUse* use) {
  for (const auto& [name, offered] : row.allocatable.scalars) {
    use->extended.push_back({name, offered, ScalarOf(row.requested, name)});
  }
  if (c.alloc_gpu[r] != 0) {
    static const util::Symbol kGpu("alpha.kubernetes.io/nvidia-gpu");
    use->extended.push_back({kGpu, c.alloc_gpu[r], c.used_gpu[r]});
  }
}

}  // namespace

void CopyNodes(const scheduler::Cache& cache, Snapshot* out) {
  const scheduler::Columns& c = cache.columns();
  out->nodes.resize(cache.row_count());
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    const scheduler::NodeRow& row = cache.row(r);
    if (row.node == nullptr) continue;
    auto& [node, use] = out->nodes[r];
    node = row.node;
    use.cpu = c.alloc_cpu[r];
    use.cpu_used = c.used_cpu[r];
    use.memory = c.alloc_memory[r];
    use.memory_used = c.used_memory[r];
    use.pods = c.alloc_pods[r];
    use.pods_used = c.pod_count[r];
    use.flags = c.flags[r];
    CopyExtended(row, c, r, &use);
  }
}

}  // namespace berth::ui
