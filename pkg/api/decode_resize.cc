// What a pod counts for while it is resized in place (Kubernetes 1.27 and later, for everybody since 1.33).
//
// The spec says what is asked for, and the status what the kubelet has promised (allocatedResources) and what the
// containers have (resources). Until they agree, a container counts for the largest of the three, for each resource by
// itself; if the kubelet has found that the resize can never be made on this node, the spec does not count. Only
// containers and sidecars are resized. A status without `resources` says nothing.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "pkg/api/decode_internal.h"

namespace berth::api::internal {
namespace {

// The amounts of one status.
struct StatusAmounts {
  ResourceList actual, allocated;
};

void Read(Reader& r, const Path& at, Json j, StatusAmounts* out) {
  r.Members(at, j, Member("resources", Member("requests", &out->actual)),
            Member("allocatedResources", &out->allocated));
}

bool IsInfeasible(Json status) {
  for (auto c : status.Find("conditions").Children()) {
    if (c.value.Find("type").Text() == "PodResizePending") return c.value.Find("reason").Text() == "Infeasible";
  }
  return false;
}

using Amounts = std::map<Symbol, Quantity>;

void Raise(const ResourceList& to, Amounts* out) {
  for (const auto& [name, q] : to) {
    auto [it, fresh] = out->try_emplace(name, q);
    if (!fresh) it->second = std::max(it->second, q);
  }
}

// Returns what counts, in the order of the spec and then of the names, so that equal pods have equal templates.
ResourceList Counted(const ResourceList& spec, const StatusAmounts& h, bool infeasible) {
  Amounts most;
  if (!infeasible) Raise(spec, &most);
  Raise(h.actual, &most);
  Raise(h.allocated, &most);
  ResourceList out;
  out.reserve(most.size());
  for (const auto& [name, q] : spec) {
    if (auto it = most.find(name); it != most.end()) {
      out.emplace_back(name, it->second);
      most.erase(it);
    }
  }
  std::vector<std::pair<Symbol, Quantity>> rest(most.begin(), most.end());
  std::sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) { return a.first.str() < b.first.str(); });
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// The statuses that have `resources`, by the name of the container.
std::map<std::string, StatusAmounts, std::less<>> StatusesOf(Reader& r, const Path& at, Json statuses) {
  std::map<std::string, StatusAmounts, std::less<>> out;
  if (!statuses.IsArray()) return out;
  r.Elements(at, statuses, [&](const Path& p, Json s) {
    if (s.Find("resources").IsNull()) return;
    StatusAmounts h;
    Read(r, p, s, &h);
    out.insert_or_assign(std::string(s.Find("name").Text()), std::move(h));
  });
  return out;
}

// Raises the requests of the containers of a list. REQUIRES: `containers` was decoded from `specs`. `t` is null until
// the first difference, and then a copy of `base`.
void CountStatuses(Reader& r, const Path& at, Json specs, Json statuses, bool infeasible, bool init,
                   const PodTemplate& base, std::unique_ptr<PodTemplate>* t) {
  const auto amounts = StatusesOf(r, at, statuses);
  if (amounts.empty()) return;
  const std::vector<Container>& containers = init ? base.init_containers : base.containers;
  size_t i = 0;
  for (auto spec : specs.Children()) {
    if (i >= containers.size()) return;
    const Container& c = containers[i++];
    if (init && !c.restart_always) continue;
    const auto it = amounts.find(spec.value.Find("name").Text());
    if (it == amounts.end()) continue;
    ResourceList counted = Counted(c.requests, it->second, infeasible);
    if (counted == c.requests) continue;
    if (*t == nullptr) *t = std::make_unique<PodTemplate>(base);
    (init ? (*t)->init_containers : (*t)->containers)[i - 1].requests = std::move(counted);
  }
}

}  // namespace

bool SaysWhatContainersHave(Json pod) {
  const Json status = pod.Find("status");
  if (status.Find("resources").IsObject()) return true;
  for (Json list : {status.Find("containerStatuses"), status.Find("initContainerStatuses")}) {
    for (auto entry : list.Children()) {
      if (!entry.value.IsObject() || !entry.value.Find("resources").IsNull()) return true;
    }
  }
  return false;
}

std::shared_ptr<const PodTemplate> WithResize(Reader& r, Json pod, const std::shared_ptr<const PodTemplate>& base) {
  if (!SaysWhatContainersHave(pod)) return base;
  const Json status = pod.Find("status");
  const Json statuses = status.Find("containerStatuses"), init = status.Find("initContainerStatuses");
  const Json whole = base->pod_requests.empty() ? Json() : status.Find("resources");
  const bool infeasible = IsInfeasible(status);
  const Json spec = pod.Find("spec");
  const Path at{nullptr, "status", -1};
  const Path at_statuses{&at, "containerStatuses", -1}, at_init{&at, "initContainerStatuses", -1};
  std::unique_ptr<PodTemplate> t;
  CountStatuses(r, at_statuses, spec.Find("containers"), statuses, infeasible, false, *base, &t);
  CountStatuses(r, at_init, spec.Find("initContainers"), init, infeasible, true, *base, &t);
  if (whole.IsObject()) {
    StatusAmounts h;
    Read(r, {}, status, &h);
    ResourceList counted = Counted(base->pod_requests, h, infeasible);
    // A name of the pod that neither amount of the status has counts as 0 (1.36).
    for (const auto& [name, q] : base->pod_requests) {
      if (std::none_of(counted.begin(), counted.end(), [&](const auto& c) { return c.first == name; })) {
        counted.emplace_back(name, Quantity());
      }
    }
    if (counted != base->pod_requests) {
      if (t == nullptr) t = std::make_unique<PodTemplate>(*base);
      t->pod_requests = std::move(counted);
    }
  }
  if (t == nullptr || !r.ok()) return base;
  t->resize_texts = r.keeper()->Take();
  return PodTemplate::Intern(std::move(*t));
}

}  // namespace berth::api::internal
