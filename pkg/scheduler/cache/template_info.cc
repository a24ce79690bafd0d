// What a pod counts for in release 1.10, including the sidecars and the overhead of later API versions.
#include "pkg/scheduler/cache/template_info.h"

#include <algorithm>

namespace berth::scheduler {
namespace {

const Symbol kCpuResource("cpu"), kMemoryResource("memory"), kTcp("TCP"), kAnyHostIp("0.0.0.0");
constexpr int64_t kDefaultMilliCpu = 100;
constexpr int64_t kDefaultMemory = 200 * 1024 * 1024;

// Returns the amount of the resource, the last one when it is named several times, or null.
const api::Quantity* Find(const api::ResourceList& list, Symbol name) {
  const api::Quantity* found = nullptr;
  for (const auto& [n, q] : list) {
    if (n == name) found = &q;
  }
  return found;
}

// Returns whether the list has an amount of cpu or memory above 0. A pod is best-effort when no list of its containers
// has one.
bool AsksForCpuOrMemory(const api::ResourceList& list) {
  return std::any_of(list.begin(), list.end(), [](const auto& r) {
    return (r.first == kCpuResource || r.first == kMemoryResource) && r.second.Sign() > 0;
  });
}

// Counts what was added to the API after 1.10 and uses a node's resources all the same: sidecars, which are init
// containers that run as long as the pod does, and the overhead of the pod's runtime class. As in Kubernetes 1.29, an
// init container needs its own request in addition to those of the sidecars that were started before it.
void CountSidecarsAndOverhead(const api::PodTemplate& t, bool (*is_scalar)(Symbol), TemplateInfo* info) {
  Resource sidecars;
  bool fits = true;
  for (const api::Container& c : t.init_containers) {
    if (c.restart_always) {
      fits &= sidecars.Add(c.requests, is_scalar);
      fits &= info->used.Add(c.requests, is_scalar);
      const api::Quantity *cpu = Find(c.requests, kCpuResource), *memory = Find(c.requests, kMemoryResource);
      info->nonzero_milli_cpu =
          SaturatingAdd(info->nonzero_milli_cpu, cpu ? cpu->MilliValue() : kDefaultMilliCpu, &info->saturated);
      info->nonzero_memory =
          SaturatingAdd(info->nonzero_memory, memory ? memory->Value() : kDefaultMemory, &info->saturated);
      if (AsksForCpuOrMemory(c.requests) || AsksForCpuOrMemory(c.limits)) info->best_effort = false;
    }
  }
  Resource request = info->used, started;
  for (const api::Container& c : t.init_containers) {
    Resource needed = started;
    fits &= needed.Add(c.requests, is_scalar);
    if (c.restart_always) started = needed;
    request.RaiseTo(needed);
  }
  if (const api::Quantity* cpu = Find(t.overhead, kCpuResource)) {
    info->nonzero_milli_cpu = SaturatingAdd(info->nonzero_milli_cpu, cpu->MilliValue(), &info->saturated);
  }
  if (const api::Quantity* memory = Find(t.overhead, kMemoryResource)) {
    info->nonzero_memory = SaturatingAdd(info->nonzero_memory, memory->Value(), &info->saturated);
  }
  fits &= info->used.Add(t.overhead, is_scalar);
  fits &= request.Add(t.overhead, is_scalar);
  info->request = request;
  info->saturated |= !fits;
}

bool HasSidecarsOrOverhead(const api::PodTemplate& t) {
  return !t.overhead.empty() || std::any_of(t.init_containers.begin(), t.init_containers.end(),
                                            [](const api::Container& c) { return c.restart_always; });
}

void DescribeWith(const api::PodTemplate& t, bool (*is_scalar)(Symbol), TemplateInfo* info) {
  info->priority = t.PriorityOrZero();
  info->best_effort = true;
  for (const api::Container& c : t.containers) {
    info->saturated |= !info->used.Add(c.requests, is_scalar);
    info->limits.Add(c.limits, is_scalar);
    const api::Quantity* cpu = Find(c.requests, kCpuResource);
    const api::Quantity* memory = Find(c.requests, kMemoryResource);
    info->nonzero_milli_cpu =
        SaturatingAdd(info->nonzero_milli_cpu, cpu ? cpu->MilliValue() : kDefaultMilliCpu, &info->saturated);
    info->nonzero_memory =
        SaturatingAdd(info->nonzero_memory, memory ? memory->Value() : kDefaultMemory, &info->saturated);
    if (AsksForCpuOrMemory(c.requests) || AsksForCpuOrMemory(c.limits)) info->best_effort = false;
    for (const api::ContainerPort& p : c.ports) {
      if (p.host_port <= 0) continue;
      info->host_ports.push_back(
          {p.host_ip.empty() ? kAnyHostIp : p.host_ip, p.protocol.empty() ? kTcp : p.protocol, p.host_port});
    }
  }
  info->request = info->used;
  for (const api::Container& c : t.init_containers) {
    info->request.RaiseTo(c.requests, is_scalar);
    info->limits.RaiseTo(c.limits, is_scalar);
  }
  if (HasSidecarsOrOverhead(t)) CountSidecarsAndOverhead(t, is_scalar, info);
  info->incoming_milli_cpu = info->nonzero_milli_cpu;
  info->incoming_memory = info->nonzero_memory;
  info->has_pod_affinity = t.affinity.pod.has_value() || t.affinity.pod_anti.has_value();
}

}  // namespace

void DescribeTemplate(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeWith(t, IsScalarResourceName, info);
}

void DescribeTemplateWithScalarGpu(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeWith(t, IsScalarResourceNameV1_29, info);
  info->request.nvidia_gpu = info->used.nvidia_gpu = info->limits.nvidia_gpu = 0;
}

}  // namespace berth::scheduler
