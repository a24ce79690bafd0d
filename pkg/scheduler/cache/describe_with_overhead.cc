// What a pod counts for in release 1.19 (pkg/scheduler/framework/v1alpha1/types.go and resource_allocation.go): the sum
// over the containers, or the request of an init container where that is larger, plus overhead. Every container is
// rounded by itself. Init containers and overhead count on the node as well. What was added to the API later and uses a
// node's resources, sidecars and pod-level requests, counts as in 1.29.
#include <algorithm>

#include "pkg/scheduler/cache/amounts.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {
namespace {

const Symbol kCpuName("cpu"), kMemoryName("memory");

struct Defaulted {
  int64_t milli_cpu = 100, memory = int64_t{200} * 1024 * 1024;  // bytes
};
// Returns the container's requests of cpu and memory, or the defaults. An explicit 0 stays 0.
Defaulted WithDefaults(const api::ResourceList& requests) {
  Defaulted out;
  for (const auto& [name, q] : requests) {
    if (name == kCpuName) out.milli_cpu = q.MilliValue();
    if (name == kMemoryName) out.memory = q.Value();
  }
  return out;
}

// Adds the amounts of the list, with the scalar resources of 1.19.
void AddTo(Resource* sum, const api::ResourceList& list, bool* saturated) {
  *saturated |= !sum->Add(list, IsScalarOrPrefixedName);
}

// Counts the sidecars and the pod-level requests, if there are any.
void CountAddedFields(const api::PodTemplate& t, Resource* sum, Defaulted* all, bool* saturated) {
  if (amounts::HasSidecars(t)) {
    *sum = amounts::Rounded(amounts::OfContainers(t, false, false), saturated);
    const Resource with_defaults = amounts::Rounded(amounts::OfContainers(t, true, true), saturated);
    *all = {with_defaults.milli_cpu, with_defaults.memory};
  }
  const api::ResourceList whole = PodLevelRequests(t);
  Resource own;
  AddTo(&own, whole, saturated);
  sum->RaiseTo(own);
  for (const auto& [name, q] : whole) {
    if (name == kCpuName) all->milli_cpu = q.MilliValue();
    if (name == kMemoryName) all->memory = q.Value();
  }
}

}  // namespace

// The overhead of cpu counts in full on the node. In the scores of the pod itself it counts as whole cores, rounded up
// and taken for milliCPU, as upstream: 250m adds 1, and 2 adds 2.
void DescribeTemplateWithOverhead(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeTemplate(t, info);  // host ports, limits, QoS class and priority are as in 1.10
  info->saturated = false;
  Resource sum;
  Defaulted all{0, 0};
  for (const api::Container& c : t.containers) {
    AddTo(&sum, c.requests, &info->saturated);
    const Defaulted one = WithDefaults(c.requests);
    all.milli_cpu = SaturatingAdd(all.milli_cpu, one.milli_cpu, &info->saturated);
    all.memory = SaturatingAdd(all.memory, one.memory, &info->saturated);
  }
  for (const api::Container& c : t.init_containers) {
    Resource own;
    AddTo(&own, c.requests, &info->saturated);
    sum.RaiseTo(own);
    const Defaulted one = WithDefaults(c.requests);
    all = {std::max(all.milli_cpu, one.milli_cpu), std::max(all.memory, one.memory)};
  }
  CountAddedFields(t, &sum, &all, &info->saturated);
  info->incoming_milli_cpu = info->nonzero_milli_cpu = all.milli_cpu;
  info->incoming_memory = info->nonzero_memory = all.memory;
  AddTo(&sum, t.overhead, &info->saturated);
  for (const auto& [name, q] : t.overhead) {
    if (name == kCpuName) {
      info->nonzero_milli_cpu = SaturatingAdd(info->nonzero_milli_cpu, q.MilliValue(), &info->saturated);
      info->incoming_milli_cpu = SaturatingAdd(info->incoming_milli_cpu, q.Value(), &info->saturated);
    }
    if (name == kMemoryName) {
      info->nonzero_memory = SaturatingAdd(info->nonzero_memory, q.Value(), &info->saturated);
      info->incoming_memory = SaturatingAdd(info->incoming_memory, q.Value(), &info->saturated);
    }
  }
  info->request = info->used = sum;
}

}  // namespace berth::scheduler
