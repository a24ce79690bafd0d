// What a pod counts for in release 1.10, including the sidecars, the overhead and the pod-level requests of later API
// versions.
#include "pkg/scheduler/cache/template_info.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "pkg/scheduler/cache/amounts.h"

namespace berth::scheduler {
namespace {

const Symbol kCpuResource("cpu"), kMemoryResource("memory");
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

// Raises what the pod needs at its start. As in Kubernetes 1.29, an init container needs its own request in addition to
// those of the sidecars that were started before it. Each step looks only at the resources that the container names,
// because the others were compared when the last sidecar that names them was started.
bool RaiseToStart(const api::PodTemplate& t, bool (*is_scalar)(Symbol), Resource* request) {
  absl::flat_hash_map<Symbol, api::Quantity> started;
  bool fits = true;
  for (const api::Container& c : t.init_containers) {
    api::ResourceList needed = c.requests;
    for (auto& [name, q] : needed) {
      const auto it = started.find(name);
      if (it != started.end()) q += it->second;
      if (c.restart_always) started[name] = q;
    }
    fits &= Resource().Add(needed, is_scalar);
    request->RaiseTo(needed, is_scalar);
  }
  return fits;
}

// Counts the pod-level requests, which limit what all containers request together (Kubernetes 1.34). An API server
// sees to it that they are not less than that sum.
void CountPodLevel(const api::PodTemplate& t, bool (*is_scalar)(Symbol), Resource* request, TemplateInfo* info) {
  const api::ResourceList requests = PodLevelRequests(t);
  info->used.RaiseTo(requests, is_scalar);
  request->RaiseTo(requests, is_scalar);
  if (const api::Quantity* cpu = Find(requests, kCpuResource)) info->nonzero_milli_cpu = cpu->MilliValue();
  if (const api::Quantity* memory = Find(requests, kMemoryResource)) info->nonzero_memory = memory->Value();
  for (const auto& [name, q] : requests) info->saturated |= q.SaturatesValue();
  if (AsksForCpuOrMemory(requests) || AsksForCpuOrMemory(t.pod_limits)) info->best_effort = false;
}

// Counts what was added to the API after 1.10 and uses a node's resources all the same: sidecars, which are init
// containers that run as long as the pod does, pod-level requests, and the overhead of the pod's runtime class.
void CountNewFields(const api::PodTemplate& t, bool (*is_scalar)(Symbol), TemplateInfo* info) {
  bool fits = true;
  for (const api::Container& c : t.init_containers) {
    if (c.restart_always) {
      fits &= info->used.Add(c.requests, is_scalar);
      const api::Quantity *cpu = Find(c.requests, kCpuResource), *memory = Find(c.requests, kMemoryResource);
      info->nonzero_milli_cpu =
          SaturatingAdd(info->nonzero_milli_cpu, cpu ? cpu->MilliValue() : kDefaultMilliCpu, &info->saturated);
      info->nonzero_memory =
          SaturatingAdd(info->nonzero_memory, memory ? memory->Value() : kDefaultMemory, &info->saturated);
      if (AsksForCpuOrMemory(c.requests) || AsksForCpuOrMemory(c.limits)) info->best_effort = false;
    }
  }
  Resource request = info->used;
  fits &= RaiseToStart(t, is_scalar, &request);
  CountPodLevel(t, is_scalar, &request, info);
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

bool HasNewFields(const api::PodTemplate& t) {
  return !t.overhead.empty() || !t.pod_requests.empty() || !t.pod_limits.empty() || amounts::HasSidecars(t);
}

}  // namespace

bool amounts::HasSidecars(const api::PodTemplate& t) {
  return std::any_of(t.init_containers.begin(), t.init_containers.end(),
                     [](const api::Container& c) { return c.restart_always; });
}

void amounts::AppendHostPorts(const std::vector<api::Container>& containers, bool sidecars_only,
                              std::vector<HostPort>* out) {
  static const Symbol kTcp("TCP"), kAnyHostIp("0.0.0.0");
  for (const api::Container& c : containers) {
    if (sidecars_only && !c.restart_always) continue;
    for (const api::ContainerPort& p : c.ports) {
      if (p.host_port <= 0) continue;
      out->push_back({p.host_ip.empty() ? kAnyHostIp : p.host_ip, p.protocol.empty() ? kTcp : p.protocol, p.host_port});
    }
  }
}

api::ResourceList PodLevelRequests(const api::PodTemplate& t) {
  api::ResourceList out;
  for (const auto& [name, q] : t.pod_requests) {
    if (name == kCpuResource || name == kMemoryResource || name.str().starts_with("hugepages-")) {
      out.emplace_back(name, q);
    }
  }
  return out;
}

namespace {

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
  }
  amounts::AppendHostPorts(t.containers, false, &info->host_ports);
  amounts::AppendHostPorts(t.init_containers, true, &info->host_ports);
  info->request = info->used;
  for (const api::Container& c : t.init_containers) {
    info->request.RaiseTo(c.requests, is_scalar);
    info->limits.RaiseTo(c.limits, is_scalar);
  }
  if (HasNewFields(t)) CountNewFields(t, is_scalar, info);
  info->incoming_milli_cpu = info->nonzero_milli_cpu;
  info->incoming_memory = info->nonzero_memory;
  info->has_pod_affinity = t.affinity.pod.has_value() || t.affinity.pod_anti.has_value();
}

}  // namespace

void DescribeTemplate(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeWith(t, IsScalarResourceName, info);
}

void DescribeTemplateWithOuterNames(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeWith(t, IsScalarNameOutsideKubernetes, info);
}

void DescribeTemplateWithOpaqueNames(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeWith(t, IsScalarOrOpaqueName, info);
}

void DescribeTemplateWithScalarGpu(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeWith(t, IsScalarOrPrefixedName, info);
  info->request.nvidia_gpu = info->used.nvidia_gpu = info->limits.nvidia_gpu = 0;
}

}  // namespace berth::scheduler
