#include "pkg/scheduler/algorithm/nodeports/port_rows.h"

#include "pkg/util/contract.h"

namespace berth::scheduler::nodeports {

void PortRows::Begin(const Cache& cache) {
  for (auto& [port, number] : numbers_) {
    for (const auto& [row, ports] : number.ports) {
      if (cache.row(row).ports.HasNumber(port)) continue;
      number.sure.Erase(row);
      number.unsure.Insert(row);
    }
  }
}

void PortRows::Placed(Row row, const PlacedPod& pod, bool /*trial*/) {
  for (const HostPort& port : pod.info->host_ports) {
    Number& number = numbers_[port.port];
    if (number.ports.empty()) number.port = port;
    number.alike = number.alike && port == number.port;
    const bool sure = ++number.ports[row] == 1 && !number.unsure.Has(row);
    number.sure.Erase(row);
    (sure ? number.sure : number.unsure).Insert(row);
  }
}

// A row remains unsure while evictions are tried, because its pods come again.
void PortRows::Left(Row row, const PlacedPod& pod, bool trial) {
  for (const HostPort& port : pod.info->host_ports) {
    const auto found = numbers_.find(port.port);
    BERTH_REQUIRES(found != numbers_.end() && found->second.ports.contains(row));
    Number& number = found->second;
    if (--number.ports[row] > 0 || (trial && number.unsure.Has(row))) continue;
    number.ports.erase(row);
    number.sure.Erase(row);
    number.unsure.Erase(row);
    if (number.ports.empty()) numbers_.erase(found);
  }
}

}  // namespace berth::scheduler::nodeports
