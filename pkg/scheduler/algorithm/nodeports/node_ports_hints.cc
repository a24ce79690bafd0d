// The queueing hint of the plugin NodePorts. Source: isSchedulableAfterPodDeleted in
// pkg/scheduler/framework/plugins/nodeports/node_ports.go (1.36).
#include <algorithm>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"

namespace berth::scheduler::nodeports {

bool PortsMadeFree(const api::Pod& pod, const ClusterEvent& e) {
  static const Symbol kAnywhere("0.0.0.0");
  const api::Pod* gone = e.Before<api::Pod>();
  if (e.kind != ClusterEvent::Kind::kAssignedPodDelete || gone == nullptr) return true;
  if (!hints::HadPlace(*gone)) return false;
  TemplateInfo wanted, freed;
  DescribeWithPodLevel(*pod.tmpl, &wanted);
  DescribeWithPodLevel(*gone->tmpl, &freed);
  return std::any_of(wanted.host_ports.begin(), wanted.host_ports.end(), [&](const HostPort& w) {
    return std::any_of(freed.host_ports.begin(), freed.host_ports.end(), [&](const HostPort& f) {
      return w.port == f.port && w.protocol == f.protocol && (w.ip == f.ip || w.ip == kAnywhere || f.ip == kAnywhere);
    });
  });
}

}  // namespace berth::scheduler::nodeports
