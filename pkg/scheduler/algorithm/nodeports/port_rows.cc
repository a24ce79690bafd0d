#include "pkg/scheduler/algorithm/nodeports/port_rows.h"

#include "pkg/util/contract.h"

namespace berth::scheduler::nodeports {

void PortRows::Begin(const Cache& cache) {
  for (auto& [port, number] : numbers_) {
    for (auto& [row, use] : number.rows) use.unsure = use.unsure || !cache.row(row).ports.HasNumber(port);
  }
}

void PortRows::Placed(Row row, const PlacedPod& pod, bool /*trial*/) {
  for (const HostPort& port : pod.info->host_ports) {
    Number& number = numbers_[port.port];
    if (number.rows.empty()) number.port = port;
    number.alike = number.alike && port == number.port;
    Use& use = number.rows[row];
    use.unsure = ++use.ports > 1 || use.unsure;
  }
}

// A row remains unsure while evictions are tried, because its pods come again.
void PortRows::Left(Row row, const PlacedPod& pod, bool trial) {
  for (const HostPort& port : pod.info->host_ports) {
    const auto number = numbers_.find(port.port);
    BERTH_REQUIRES(number != numbers_.end());
    const auto use = number->second.rows.find(row);
    BERTH_REQUIRES(use != number->second.rows.end() && use->second.ports > 0);
    if (--use->second.ports > 0 || (trial && use->second.unsure)) continue;
    number->second.rows.erase(use);
    if (number->second.rows.empty()) numbers_.erase(number);
  }
}

}  // namespace berth::scheduler::nodeports
