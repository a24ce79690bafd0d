// What a pod counts for in release 1.29 (component-helpers, resource.PodRequests). Unlike in 1.10, init containers,
// sidecars and overhead count on the node as well, and amounts are added up exactly and rounded once at the end.
#include <algorithm>

#include "pkg/scheduler/cache/amounts.h"
#include "pkg/scheduler/cache/template_info.h"

namespace berth::scheduler {
namespace {

const Symbol kCpu("cpu"), kMemory("memory"), kEphemeral("ephemeral-storage");
constexpr int64_t kDefaultMemory = int64_t{200} * 1024 * 1024;  // bytes

}  // namespace

namespace amounts {

void Add(const Amounts& more, Amounts* sum) {
  for (const auto& [name, q] : more) (*sum)[name] += q;
}
void Raise(const Amounts& to, Amounts* sum) {
  for (const auto& [name, q] : to) {
    auto [it, fresh] = sum->try_emplace(name, q);
    if (!fresh) it->second = std::max(it->second, q);
  }
}

Amounts RequestsOf(const api::Container& c, bool default_cpu, bool default_memory) {
  Amounts out;
  for (const auto& [name, q] : c.requests) out[name] = q;
  static const api::Quantity kDefaultCpu = *api::Quantity::Parse("100m");
  if (default_cpu) out.try_emplace(kCpu, kDefaultCpu);
  if (default_memory) out.try_emplace(kMemory, api::Quantity::FromInt(kDefaultMemory));
  return out;
}

Amounts Running(const Amounts& own, bool sidecar, Amounts* sidecars) {
  Amounts running = own;
  for (auto& [name, q] : running) {
    const auto it = sidecars->find(name);
    if (it != sidecars->end()) q += it->second;
    if (sidecar) (*sidecars)[name] = q;
  }
  return running;
}

// Each step looks only at the resources that the container names, because the others were compared when the last
// sidecar that names them was started.
Amounts OfContainers(const api::PodTemplate& t, bool default_cpu, bool default_memory) {
  Amounts sum, sidecars, start;
  for (const api::Container& c : t.containers) Add(RequestsOf(c, default_cpu, default_memory), &sum);
  for (const api::Container& c : t.init_containers) {
    const Amounts own = RequestsOf(c, default_cpu, default_memory);
    if (c.restart_always) Add(own, &sum);
    Raise(Running(own, c.restart_always, &sidecars), &start);
  }
  Raise(start, &sum);
  return sum;
}

Resource Rounded(const Amounts& amounts, bool* saturated) {
  Resource out;
  for (const auto& [name, q] : amounts) {
    if (name == kCpu) {
      out.milli_cpu = std::max<int64_t>(q.MilliValue(), 0);
      *saturated |= q.SaturatesMilliValue();
      continue;
    }
    *saturated |= q.SaturatesValue();
    const int64_t value = std::max<int64_t>(q.Value(), 0);
    if (name == kMemory) {
      out.memory = value;
    } else if (name == kEphemeral) {
      out.ephemeral_storage = value;
    } else if (IsScalarOrPrefixedName(name)) {
      *out.MutableScalar(name) = value;
    }
  }
  return out;
}

}  // namespace amounts

namespace {

using amounts::Amounts;
using amounts::RequestsOf;

// Returns the sum over containers, raised to the pod-level requests, plus overhead.
Amounts PodRequests(const api::PodTemplate& t, bool with_defaults) {
  Amounts sum = amounts::OfContainers(t, with_defaults, with_defaults);
  const api::ResourceList whole = PodLevelRequests(t);
  amounts::Raise({whole.begin(), whole.end()}, &sum);
  for (const auto& [name, q] : t.overhead) sum[name] += q;
  return sum;
}

struct NonZero {
  int64_t milli_cpu = 0, memory = 0;
};
NonZero NonZeroOf(const Amounts& a) {
  auto cpu = a.find(kCpu), memory = a.find(kMemory);
  return {cpu == a.end() ? 100 : cpu->second.MilliValue(), memory == a.end() ? kDefaultMemory : memory->second.Value()};
}

// Returns what a placed pod adds to the sums that priorities read. Sidecars are not part of the sum over containers;
// they take part only in the maximum over init containers (bug M-01, kept).
NonZero NonZeroOfPlaced(const api::PodTemplate& t) {
  NonZero sum, most;
  for (const api::Container& c : t.containers) {
    const NonZero one = NonZeroOf(RequestsOf(c, false, false));
    sum = {SaturatingAdd(sum.milli_cpu, one.milli_cpu), SaturatingAdd(sum.memory, one.memory)};
  }
  Amounts sidecars;  // of cpu and memory alone
  for (const api::Container& c : t.init_containers) {
    Amounts running = sidecars;
    for (const auto& [name, q] : RequestsOf(c, false, false)) {
      if (name == kCpu || name == kMemory) running[name] += q;
    }
    if (c.restart_always) sidecars = running;
    const NonZero one = NonZeroOf(running);
    most = {std::max(most.milli_cpu, one.milli_cpu), std::max(most.memory, one.memory)};
  }
  NonZero out{std::max(sum.milli_cpu, most.milli_cpu), std::max(sum.memory, most.memory)};
  for (const auto& [name, q] : t.pod_requests) {
    if (name == kCpu) out.milli_cpu = q.MilliValue();
    if (name == kMemory) out.memory = q.Value();
  }
  for (const auto& [name, q] : t.overhead) {
    if (name == kCpu) out.milli_cpu = SaturatingAdd(out.milli_cpu, q.MilliValue());
    if (name == kMemory) out.memory = SaturatingAdd(out.memory, q.Value());
  }
  return out;
}

}  // namespace

void DescribeTemplateWithSidecars(const api::PodTemplate& t, TemplateInfo* info) {
  DescribeTemplate(t, info);  // limits, QoS class and priority are as in 1.10
  info->saturated = false;
  info->host_ports.clear();  // upstream, the ports of sidecars count as free
  amounts::AppendHostPorts(t.containers, false, &info->host_ports);
  info->request = info->used = amounts::Rounded(PodRequests(t, false), &info->saturated);
  const Resource incoming = amounts::Rounded(PodRequests(t, true), &info->saturated);
  info->incoming_milli_cpu = incoming.milli_cpu;
  info->incoming_memory = incoming.memory;
  const NonZero placed = NonZeroOfPlaced(t);
  info->nonzero_milli_cpu = placed.milli_cpu;
  info->nonzero_memory = placed.memory;
}

}  // namespace berth::scheduler
