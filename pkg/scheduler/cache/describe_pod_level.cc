// What a pod counts for in release 1.36 (component-helpers, resource.PodRequests; pkg/scheduler/framework/types.go).
// Unlike in 1.29, pod-level requests replace what the containers request, sidecars count in the sums that scores read,
// and the host ports of sidecars are in use.
#include <algorithm>

#include "pkg/scheduler/cache/amounts.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {
namespace {

using amounts::Amounts;

// Returns what the pod requests, with or without pod-level requests. The defaults are those for containers that do not
// name the resource.
Amounts RequestsOfPod(const api::PodTemplate& t, bool default_cpu, bool default_memory, bool pod_level) {
  Amounts sum = amounts::OfContainers(t, default_cpu, default_memory);
  if (pod_level) {
    for (const auto& [name, q] : PodLevelRequests(t)) sum[name] = q;
  }
  for (const auto& [name, q] : t.overhead) sum[name] += q;
  return sum;
}

}  // namespace

void DescribeWithPodLevel(const api::PodTemplate& t, TemplateInfo* info) {
  static const Symbol kCpuName("cpu"), kMemoryName("memory");
  DescribeTemplate(t, info);  // limits, QoS class and priority are as in 1.10
  info->saturated = false;
  info->host_ports.clear();
  amounts::AppendHostPorts(t.init_containers, true, &info->host_ports);
  amounts::AppendHostPorts(t.containers, false, &info->host_ports);
  const Amounts requests = RequestsOfPod(t, false, false, true);
  info->request = info->used = amounts::Rounded(requests, &info->saturated);
  // With pod-level requests, a container counts with the default only for a resource that nothing of the pod names.
  const bool whole = !PodLevelRequests(t).empty();
  const Resource placed = amounts::Rounded(
      RequestsOfPod(t, !whole || !requests.contains(kCpuName), !whole || !requests.contains(kMemoryName), true),
      &info->saturated);
  info->nonzero_milli_cpu = placed.milli_cpu;
  info->nonzero_memory = placed.memory;
  // The score of NodeResourcesFit ignores the pod-level requests of the pod to be placed (bug N-03, kept).
  const Resource incoming = amounts::Rounded(RequestsOfPod(t, true, true, false), &info->saturated);
  info->incoming_milli_cpu = incoming.milli_cpu;
  info->incoming_memory = incoming.memory;
  if (incoming.scalars != info->request.scalars) info->incoming_scalars = incoming.scalars.list();
}

}  // namespace berth::scheduler
