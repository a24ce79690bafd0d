#include "pkg/scheduler/algorithm/nodeports/port_rows.h"

#include "pkg/util/contract.h"

namespace berth::scheduler::nodeports {

void PortRows::Placed(Row row, const PlacedPod& pod, bool /*trial*/) {
  for (const HostPort& port : pod.info->host_ports) ++rows_[port.port][row];
}

void PortRows::Left(Row row, const PlacedPod& pod, bool /*trial*/) {
  for (const HostPort& port : pod.info->host_ports) {
    const auto rows = rows_.find(port.port);
    BERTH_REQUIRES(rows != rows_.end() && rows->second.contains(row));
    if (--rows->second[row] > 0) continue;
    rows->second.erase(row);
    if (rows->second.empty()) rows_.erase(rows);
  }
}

}  // namespace berth::scheduler::nodeports
