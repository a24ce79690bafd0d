// The addresses behind services, as Endpoints and EndpointSlices (pkg/controller/endpoint and endpointslice, 1.36).
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kSlice[] = "EndpointSlice", kAddresses[] = "Endpoints", kOfService[] = "kubernetes.io/service-name";
// How many addresses there are in a slice, and at most in the Endpoints of a service.
constexpr size_t kMostInSlice = 100, kMostInEndpoints = 1000;

// A pod behind a service.
struct Backend {
  std::string name, uid, ip, node;
  bool ready = false, serving = false, terminating = false;
  std::vector<int64_t> ports;  // one for each port of the service; -1: the pod has no port of that name
};

// Returns the number of the port of a pod that a service's port leads to; -1 if the pod has none, or if it has a name
// and the pod is null.
int64_t TargetOf(const Value& port, const Value* pod) {
  const Value* target = port.Find("targetPort");
  int64_t number = 0;
  if (target == nullptr || target->IsNull()) return NumberAt(port, {"port"});
  if (target->IsNumber() || absl::SimpleAtoi(util::ToAbsl(target->text()), &number)) {
    return target->IsNumber() ? target->AsInt() : number;
  }
  const Value* containers = pod == nullptr ? nullptr : pod->At({"spec", "containers"});
  if (containers == nullptr) return -1;
  for (const Value& c : containers->items) {
    const Value* ports = c.Find("ports");
    if (ports == nullptr) continue;
    for (const Value& p : ports->items) {
      if (p.Str("name") == target->text()) return NumberAt(p, {"containerPort"});
    }
  }
  return -1;
}

Value TargetReference(const Backend& pod, std::string_view ns) {
  return Value::Object({{"kind", "Pod"}, {"namespace", ns}, {"name", pod.name}, {"uid", pod.uid}});
}

class EndpointsController final : public Actor {
 public:
  explicit EndpointsController(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    const std::string ns(NamespaceOf(*c.object));
    if (c.kind == "Service") {
      const std::string name(NameOf(*c.object));
      selectors_[ns].erase(name);
      const Value* selector = c.object->At({"spec", "selector"});
      const bool selects = selector != nullptr && selector->IsObject() && !selector->empty();
      if (!c.gone && selects) selectors_[ns][name].Set("matchLabels", Value(*selector));
      if (selectors_[ns].empty()) selectors_.erase(ns);
      if (c.gone || selects) world_->Enqueue(this, {"Service", ns, name});
      return;
    }
    if (c.kind != "Pod") return;
    auto there = selectors_.find(ns);
    if (there == selectors_.end()) return;
    for (const auto& [name, selector] : there->second) {
      const bool concerned = std::any_of(kSides.begin(), kSides.end(), [&](PodFactsPtr Change::*side) {
        return c.*side != nullptr && Selects(&selector, &(c.*side)->labels, false);
      });
      if (concerned) world_->Enqueue(this, {"Service", ns, name}, 5 * CalmFor(world_->PodsIn(ns).size()));
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr service = world_->cluster().Get("Service", what.ns, what.name);
    if (service == nullptr) {
      world_->cluster().Delete(kAddresses, what.ns, what.name, {});
      return;  // slices go with their owner
    }
    auto of_namespace = selectors_.find(what.ns);
    if (IsTerminating(*service) || of_namespace == selectors_.end()) return;
    auto selector = of_namespace->second.find(what.name);
    if (selector == of_namespace->second.end()) return;
    const std::vector<Backend> pods = Backends(*service, selector->second);
    if (world_->cluster().Serves(kAddresses)) WriteEndpoints(what, *service, pods);
    if (world_->cluster().Serves(kSlice)) WriteSlices(what, *service, pods);
  }

 private:
  static constexpr std::array<PodFactsPtr Change::*, 2> kSides = {&Change::before, &Change::after};

  // Returns the pods that have an address, by their names.
  std::vector<Backend> Backends(const Value& service, const Value& selector) const {
    const bool all_ready = TrueAt(service, {"spec", "publishNotReadyAddresses"});
    const Value* ports = service.At({"spec", "ports"});
    // Only ports with names are looked up in the pods.
    const bool named = ports != nullptr && std::any_of(ports->items.begin(), ports->items.end(), [](const Value& p) {
                         return p.Find("targetPort") != nullptr && TargetOf(p, nullptr) < 0;
                       });
    std::vector<Backend> pods;
    for (const auto& [uid, facts] : world_->PodsIn(NamespaceOf(service))) {
      if (facts->IsFinished() || facts->node.empty() || !Selects(&selector, &facts->labels, false)) continue;
      if (facts->ip.empty()) continue;
      const ValuePtr pod = named ? world_->cluster().Get("Pod", facts->ns, facts->name) : nullptr;
      Backend& b = pods.emplace_back();
      b.name = facts->name;
      b.uid = facts->uid;
      b.ip = facts->ip;
      b.node = facts->node;
      b.serving = facts->ready;
      b.terminating = facts->terminating;
      b.ready = all_ready || (facts->ready && !facts->terminating);
      for (size_t i = 0; ports != nullptr && i < ports->items.size(); ++i) {
        b.ports.push_back(TargetOf(ports->items[i], pod.get()));
      }
    }
    std::sort(pods.begin(), pods.end(), [](const Backend& a, const Backend& b) { return a.name < b.name; });
    return pods;
  }

  // Returns the ports of the service as they are behind it, for pods with these numbers.
  static Value Ports(const Value& service, const std::vector<int64_t>& numbers) {
    Value list = Value::Array();
    const Value* ports = service.At({"spec", "ports"});
    for (size_t i = 0; ports != nullptr && i < ports->items.size(); ++i) {
      if (i >= numbers.size() || numbers[i] < 0) continue;
      const Value& port = ports->items[i];
      Value p = Value::Object({{"name", port.Str("name")},
                               {"port", numbers[i]},
                               {"protocol", port.Str("protocol").empty() ? "TCP" : port.Str("protocol")}});
      list.Append(std::move(p));
    }
    return list;
  }

  void WriteEndpoints(const ObjectName& what, const Value& service, const std::vector<Backend>& pods) {
    std::map<std::vector<int64_t>, std::pair<Value, Value>> by_ports;  // the addresses that are ready, and the others
    size_t count = 0;
    for (const Backend& b : pods) {
      if (b.terminating || ++count > kMostInEndpoints) continue;
      Value address = Value::Object({{"ip", b.ip}, {"nodeName", b.node}});
      address.Set("targetRef", TargetReference(b, what.ns));
      auto [it, is_new] = by_ports.try_emplace(b.ports, Value::Array(), Value::Array());
      (b.ready ? it->second.first : it->second.second).Append(std::move(address));
    }
    Value subsets = Value::Array();
    for (auto& [ports, addresses] : by_ports) {
      Value subset = Value::Object();
      if (!addresses.first.empty()) subset.Set("addresses", std::move(addresses.first));
      if (!addresses.second.empty()) subset.Set("notReadyAddresses", std::move(addresses.second));
      subset.Set("ports", Ports(service, ports));
      subsets.Append(std::move(subset));
    }
    Value v = Value::Object();
    Value& meta = v.Child("metadata");
    meta.SetAll({{"name", what.name}, {"namespace", what.ns}});
    if (const Value* labels = service.At({"metadata", "labels"})) meta.Set("labels", Value(*labels));
    v.Set("subsets", std::move(subsets));
    Write(kAddresses, what.name, std::move(v), "subsets");
  }

  void WriteSlices(const ObjectName& what, const Value& service, const std::vector<Backend>& pods) {
    std::map<std::vector<int64_t>, std::vector<const Backend*>> by_ports;
    for (const Backend& b : pods) by_ports[b.ports].push_back(&b);
    if (by_ports.empty()) by_ports[{}];
    size_t number = 0;
    for (const auto& [ports, behind] : by_ports) {
      for (size_t from = 0; from == 0 || from < behind.size(); from += kMostInSlice) {
        const size_t to = std::min(behind.size(), from + kMostInSlice);
        Value v = NewSlice(what, service, number++);
        Value endpoints = Value::Array();
        for (size_t i = from; i < to; ++i) endpoints.Append(EndpointOf(*behind[i], what.ns));
        v.Set("endpoints", std::move(endpoints));
        v.Set("ports", Ports(service, ports));
        const std::string name(NameOf(v));
        Write(kSlice, name, std::move(v), "endpoints");
      }
    }
    size_t& known = slices_[absl::StrCat(what.ns, "/", what.name)];
    for (size_t extra = number; extra < known; ++extra) {
      world_->cluster().Delete(kSlice, what.ns, SliceName(service, extra), {});
    }
    known = number;
  }

  // A name of its own for each slice of a service that is the same whenever it is written.
  static std::string SliceName(const Value& service, size_t number) {
    const std::string text = absl::StrCat(util::ToAbsl(UidOf(service)), "/", number);
    return absl::StrCat(util::ToAbsl(NameOf(service)), "-", TemplateHash(Value::String(text)).substr(0, 5));
  }

  static Value NewSlice(const ObjectName& what, const Value& service, size_t number) {
    Value v = Value::Object();
    Value& meta = v.Child("metadata");
    meta.SetAll({{"name", SliceName(service, number)}, {"generateName", what.name + "-"}, {"namespace", what.ns}});
    const Value* own = service.At({"metadata", "labels"});
    Value labels = own == nullptr ? Value::Object() : *own;
    labels.SetAll(
        {{"endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"}, {kOfService, what.name}});
    meta.Set("labels", std::move(labels));
    Value owners = Value::Array();
    owners.Append(ControllerReference(service));
    meta.Set("ownerReferences", std::move(owners));
    v.Set("addressType", Value::String("IPv4"));
    return v;
  }

  Value EndpointOf(const Backend& b, std::string_view ns) const {
    Value e = Value::Object();
    Value addresses = Value::Array();
    addresses.Append(Value::String(b.ip));
    e.Set("addresses", std::move(addresses));
    Value& conditions = e.Child("conditions");
    conditions.SetAll({{"ready", b.ready}, {"serving", b.serving}, {"terminating", b.terminating}});
    e.Set("targetRef", TargetReference(b, ns));
    e.Set("nodeName", Value::String(b.node));
    auto node = world_->nodes().find(b.node);
    if (node != world_->nodes().end()) {
      static const api::Symbol kZone("topology.kubernetes.io/zone");
      if (auto zone = node->second->labels.Get(kZone)) e.Set("zone", Value::String(zone->str()));
    }
    return e;
  }

  // Creates an object, or replaces the one of its name if `member` or the ports differ.
  void Write(std::string_view kind, const std::string& name, Value v, std::string_view member) {
    const std::string ns(NamespaceOf(v));
    const ValuePtr found = world_->cluster().Get(kind, ns, name);
    if (found == nullptr) {
      world_->cluster().Create(kind, std::move(v));
      return;
    }
    if (IsTerminating(*found)) return;
    Value changed = *found;
    for (std::string_view m : {member, std::string_view("ports")}) {
      if (const Value* now = v.Find(m)) changed.Set(m, Value(*now));
    }
    if (!(changed == *found)) world_->cluster().Update(kind, std::move(changed));
  }

  World* world_;
  std::map<std::string, std::map<std::string, Value>> selectors_;  // of services, by namespace and name
  std::map<std::string, size_t> slices_;                           // how many slices a service has
};

}  // namespace

std::unique_ptr<Actor> NewEndpointsController(World* world) {
  return std::make_unique<EndpointsController>(world);
}

}  // namespace berth::world::living
