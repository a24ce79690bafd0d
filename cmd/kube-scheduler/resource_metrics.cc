#include "cmd/kube-scheduler/resource_metrics.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cmd/kube-scheduler/metrics.h"

namespace berth::kube_scheduler {
namespace {

using Amounts = std::map<std::string, api::Quantity>;
using Member = api::ResourceList api::Container::*;

void Add(const api::ResourceList& list, Amounts* sum) {
  for (const auto& [name, amount] : list) (*sum)[name.string()] += amount;
}

void AtLeast(const Amounts& needed, Amounts* amounts) {
  for (const auto& [name, amount] : needed) {
    api::Quantity& a = (*amounts)[name];
    a = std::max(a, amount);
  }
}

// Returns the most that the pod needs at any time: init containers run one after another, together with the sidecars
// that were started before them; then all containers run, together with all sidecars.
Amounts Needed(const api::PodTemplate& t, Member which) {
  Amounts running, sidecars, most;
  for (const api::Container& c : t.init_containers) {
    Amounts now = sidecars;
    Add(c.*which, &now);
    AtLeast(now, &most);
    if (c.restart_always) sidecars = std::move(now);
  }
  running = std::move(sidecars);
  for (const api::Container& c : t.containers) Add(c.*which, &running);
  AtLeast(running, &most);
  return most;
}

// Returns the unit of a resource and the amount in that unit.
std::pair<const char*, double> InUnits(const std::string& resource, const api::Quantity& amount) {
  if (resource == "cpu") return {"cores", static_cast<double>(amount.MilliValue()) / 1000};
  const bool bytes = resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
                     absl::StartsWith(resource, "hugepages-");
  const bool integer = absl::StartsWith(resource, "attachable-volumes-");
  return {bytes ? "bytes" : integer ? "integer" : "", static_cast<double>(amount.Value())};
}

void AddPod(const api::Pod& pod, const Amounts& amounts, prometheus::MetricFamily* family) {
  for (const auto& [resource, amount] : amounts) {
    if (amount.Sign() == 0) continue;
    const auto [unit, value] = InUnits(resource, amount);
    AddSample(family,
              {{"namespace", pod.meta.ns.string()},
               {"node", pod.node_name.string()},
               {"pod", pod.meta.name},
               {"priority", pod.tmpl->priority ? absl::StrCat(*pod.tmpl->priority) : ""},
               {"resource", resource},
               {"scheduler", pod.tmpl->scheduler_name.string()},
               {"unit", unit}},
              value);
  }
}

}  // namespace

std::string ResourceMetricsText(const std::vector<api::PodPtr>& pods) {
  using prometheus::MetricType;
  auto requests = Family("kube_pod_resource_request", MetricType::Gauge,
                         "[STABLE] Resources requested by workloads on the cluster, broken down by pod. This shows the "
                         "resource usage the scheduler and kubelet expect per pod for resources along with the unit "
                         "for the resource if any.");
  auto limits = Family("kube_pod_resource_limit", MetricType::Gauge,
                       "[STABLE] Resources limit for workloads on the cluster, broken down by pod. This shows the "
                       "resource usage the scheduler and kubelet expect per pod for resources along with the unit for "
                       "the resource if any.");
  for (const api::PodPtr& pod : pods) {
    if (pod->Finished()) continue;
    const api::PodTemplate& t = *pod->tmpl;
    Amounts requested = Needed(t, &api::Container::requests);
    Add(t.overhead, &requested);
    AddPod(*pod, requested, &requests);
    Amounts limited = Needed(t, &api::Container::limits);
    for (const auto& [name, amount] : t.overhead) {
      const auto limit = limited.find(name.string());
      if (limit != limited.end() && limit->second.Sign() != 0) limit->second += amount;
    }
    AddPod(*pod, limited, &limits);
  }
  std::vector<prometheus::MetricFamily> families;
  for (auto* f : {&limits, &requests}) {
    if (!f->metric.empty()) families.push_back(std::move(*f));
  }
  return ToText(std::move(families));
}

}  // namespace berth::kube_scheduler
