// Evictions within the limits of PodDisruptionBudgets, and the allocation of node ports.
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>
#include <string>

#include "pkg/api/labels.h"
#include "pkg/store/registry.h"
#include "pkg/world/budget.h"
#include "pkg/world/living/fields.h"

namespace berth::apiserver {
namespace {

using world::living::Selects;

int64_t IntAt(const Value& v, std::initializer_list<std::string_view> path) {
  const Value* n = v.At(path);
  return n == nullptr ? 0 : n->AsInt();
}

// Returns minAvailable or maxUnavailable as a number: either it is one, or it is a percentage of `total`, rounded up.
int64_t Scaled(const Value& v, int64_t total) {
  if (v.IsNumber()) return v.AsInt();
  int64_t percent = 0;
  for (char c : v.text()) {
    if (c >= '0' && c <= '9' && percent < 1000) percent = percent * 10 + (c - '0');
  }
  return (total * percent + 99) / 100;
}

bool IsReady(const Value& pod) {
  const Value* conditions = pod.At({"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->items.begin(), conditions->items.end(), [](const Value& c) {
           return c.Str("type") == "Ready" && c.Str("status") == "True";
         });
}

// Returns why a budget whose status a controller keeps allows no disruption.
std::string WhyNoneIsAllowed(const Value& budget) {
  if (const Value* conditions = budget.At({"status", "conditions"})) {
    for (const Value& c : conditions->items) {
      if (c.Str("type") == "DisruptionAllowed" && c.Str("reason") == "SyncFailed") {
        return absl::StrCat("does not allow evicting pods currently because it failed sync: ",
                            std::string(c.Str("message")));
      }
    }
  }
  const int64_t desired = IntAt(budget, {"status", "desiredHealthy"}),
                healthy = IntAt(budget, {"status", "currentHealthy"});
  if (healthy > desired) return "does not allow evicting pods currently";
  return absl::StrCat("needs ", desired, " healthy pods and has ", healthy, " currently");
}

ApiError TooManyRequests(std::string_view budget, std::string_view why, int retry_after_seconds) {
  ApiError e;
  e.code = 429;
  e.reason = "TooManyRequests";
  e.message = "Cannot evict pod as it would violate the pod's disruption budget.";
  e.has_details = true;
  e.retry_after_seconds = retry_after_seconds;
  e.other_causes.push_back(
      {"DisruptionBudget", absl::StrCat("The disruption budget ", std::string(budget), " ", std::string(why))});
  return e;
}

bool Finished(const Value& pod) {
  const Value* phase = pod.At({"status", "phase"});
  return phase != nullptr && (phase->text() == "Succeeded" || phase->text() == "Failed");
}

}  // namespace

// Takes one disruption from the budget, or returns why that is not possible. If the budget's status is kept by a
// controller (it has an observedGeneration), the status decides. Otherwise nobody fills in the status, so the pods are
// counted; a pod with a node that is not being deleted counts as healthy, because there are no kubelets to report
// health.
std::optional<ApiError> Registry::CheckBudget(const ResourceInfo& budgets, const Object& budget, const Value& pod) {
  Value v = ToValue(budgets, 0, budget);
  Value& status = v.Child("status");
  if (IntAt(v, {"status", "observedGeneration"}) > 0) {
    if (IntAt(v, {"status", "observedGeneration"}) < IntAt(v, {"metadata", "generation"})) {
      return TooManyRequests(budget.name, "is still being processed by the server.", 10);
    }
    const world::Rules rules = world::RulesOf(catalog().release());
    const auto state = world::StatusOfBudget(v);
    // Where nobody runs pods, all of them are Pending, and count as healthy.
    const bool is_sick = world::living::TextAt(pod, {"status", "phase"}) == "Running" && !IsReady(pod);
    if (state && is_sick && world::LetsUnreadyPodGo(rules, v, *state)) return std::nullopt;
    int64_t allowed = IntAt(v, {"status", "disruptionsAllowed"});
    if (allowed <= 0) return TooManyRequests(budget.name, WhyNoneIsAllowed(v), 0);
    status.Set("disruptionsAllowed", Value::Int(allowed - 1));
    status.Child("disruptedPods").Set(world::NameOf(pod), Value::String(NowText()));
    ObjectPtr old = store_->Get(budgets, budget.ns, budget.name);
    StoreUpdate(budgets, std::move(v), old);
    return std::nullopt;
  }
  int64_t expected = 0, healthy = 0;
  const ResourceInfo& pods = catalog().Core("pods");
  const bool empty_holds = validation::kEmptyBudgetsHold.Has(catalog().release());
  store_->Scan(pods, budget.ns, "", [&](const ObjectPtr& o) {
    Value other = ToValue(pods, 0, *o);
    if (!Selects(v.At({"spec", "selector"}), other.At({"metadata", "labels"}), false) || Finished(other)) return true;
    ++expected;
    const Value* deletion = other.At({"metadata", "deletionTimestamp"});
    bool deleting = deletion != nullptr && !deletion->IsNull();
    if (!deleting && other.At({"spec", "nodeName"}) != nullptr) ++healthy;
    return true;
  });
  int64_t desired = 0;
  if (const Value* unavailable = v.At({"spec", "maxUnavailable"})) {
    desired = std::max<int64_t>(0, expected - Scaled(*unavailable, expected));
  } else if (const Value* available = v.At({"spec", "minAvailable"})) {
    desired = Scaled(*available, expected);
  } else if (empty_holds) {
    desired = expected;  // neither is given: no eviction is allowed
  }
  if (healthy > desired) return std::nullopt;
  return TooManyRequests(budget.name, absl::StrCat("needs ", desired, " healthy pods and has ", healthy, " currently"),
                         0);
}

std::optional<ApiError> Registry::Evict(std::string_view ns, std::string_view name, const DeleteRequest& how) {
  const ResourceInfo& pods = catalog().Core("pods");
  ObjectPtr old = store_->Get(pods, ns, name);
  if (old == nullptr) return NotFound({"", "pods"}, name);
  Value pod = ToValue(pods, 0, *old);
  const Value* deletion = pod.At({"metadata", "deletionTimestamp"});
  bool deleting = deletion != nullptr && !deletion->IsNull();
  const Value* node = pod.At({"spec", "nodeName"});
  bool bound = node != nullptr && !node->text().empty();
  // Evicting a pod that does not run disrupts nothing.
  if (bound && !deleting && !Finished(pod)) {
    const ResourceInfo& budgets = *catalog().Find("policy", "v1", "poddisruptionbudgets");
    const size_t v1 = static_cast<size_t>(std::max(0, budgets.VersionIndex("policy", "v1")));
    const world::Rules rules = world::RulesOf(catalog().release());
    std::vector<ObjectPtr> matching;
    store_->Scan(budgets, ns, "", [&](const ObjectPtr& o) {
      Value v = ToValue(budgets, v1, *o);
      if (world::IsAboutNoPod(rules, v)) return true;
      if (Selects(v.At({"spec", "selector"}), pod.At({"metadata", "labels"}), false)) matching.push_back(o);
      return true;
    });
    if (matching.size() > 1) {
      return InternalError(
          "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
    }
    if (!matching.empty()) {
      if (auto refused = CheckBudget(budgets, *matching[0], pod)) return refused;
    }
  }
  if (!deleting && !how.resource_version && validation::kDisruptionTargets.Has(catalog().release())) {
    world::living::SetCondition({"DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"},
                                clock_->Wall(), &pod);
    if (!how.dry_run) StoreUpdate(pods, std::move(pod), old);
  }
  auto gone = Delete(pods, 0, ns, name, how);
  if (auto* error = std::get_if<ApiError>(&gone)) return *error;
  return std::nullopt;
}

std::optional<ApiError> Registry::AllocateNodePorts(const ResourceInfo& r, Value* service) {
  constexpr int64_t kFirst = 30000, kLast = 32767;
  Value& spec = service->Child("spec");
  std::string_view type = spec.Str("type");
  Value* ports = spec.Find("ports");
  if ((type != "NodePort" && type != "LoadBalancer") || ports == nullptr) return std::nullopt;
  const Value* meta = service->Find("metadata");
  std::string name(meta->Str("name")), ns(meta->Str("namespace"));
  std::map<int64_t, int> taken;  // uses of each port by other services
  store_->Scan(r, "", "", [&](const ObjectPtr& o) {
    if (o->name == name && o->ns == ns) return true;
    Value other = ToValue(r, 0, *o);
    if (const Value* list = other.At({"spec", "ports"})) {
      for (const Value& p : list->items) ++taken[IntAt(p, {"nodePort"})];
    }
    return true;
  });
  for (size_t i = 0; i < ports->items.size(); ++i) {
    int64_t given = IntAt(ports->items[i], {"nodePort"});
    if (given == 0) continue;
    std::string field = absl::StrCat("spec.ports[", i, "].nodePort");
    FieldErrors errors;
    if (given < kFirst || given > kLast) {
      errors.push_back(InvalidRaw(field, std::to_string(given),
                                  "provided port is not in the valid range. The range of valid ports is 30000-32767"));
    } else if (taken.contains(given)) {
      errors.push_back(InvalidRaw(field, std::to_string(given), "provided port is already allocated"));
    }
    if (!errors.empty()) return InvalidObject("", r.kind, name, std::move(errors));
  }
  const Value* allocates = spec.Find("allocateLoadBalancerNodePorts");
  if (type == "LoadBalancer" && allocates != nullptr && allocates->IsBool() && !allocates->AsBool()) {
    return std::nullopt;
  }
  for (const Value& p : ports->items) ++taken[IntAt(p, {"nodePort"})];
  for (Value& p : ports->items) {
    if (IntAt(p, {"nodePort"}) != 0) continue;
    int64_t port = kFirst + static_cast<int64_t>(Random() % static_cast<uint64_t>(kLast - kFirst + 1));
    for (int64_t tried = 0; taken.contains(port); port = port == kLast ? kFirst : port + 1) {
      if (++tried > kLast - kFirst) return InternalError("failed to allocate a nodePort: range is full");
    }
    ++taken[port];
    p.Set("nodePort", Value::Int(port));
  }
  return std::nullopt;
}

}  // namespace berth::apiserver
