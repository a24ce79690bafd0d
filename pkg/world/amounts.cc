#include "pkg/world/amounts.h"

#include <algorithm>

namespace berth::world {

Amounts AmountsOf(const Value* list) {
  Amounts amounts;
  if (list == nullptr || !list->IsObject()) return amounts;
  for (size_t i = 0; i < list->keys.size(); ++i) {
    auto amount = api::Quantity::Parse(list->items[i].text());
    if (amount.ok()) amounts[list->keys[i]] = *amount;
  }
  return amounts;
}

Amounts AmountsOf(const Value& container, std::string_view which) {
  return AmountsOf(container.At({"resources", which}));
}

Value ToValue(const Amounts& amounts) {
  Value list = Value::Object();
  for (const auto& [name, amount] : amounts) list.Set(name, Value::String(amount.String()));
  return list;
}

void AddAmounts(const Amounts& more, Amounts* to) {
  for (const auto& [name, amount] : more) {
    auto [it, is_new] = to->emplace(name, amount);
    if (is_new) continue;
    // The sum has the notation of the first amount that is not 0.
    it->second = it->second.Sign() == 0 ? amount : it->second + amount;
  }
}

void RaiseAmounts(const Amounts& other, Amounts* to) {
  for (const auto& [name, amount] : other) {
    auto [it, is_new] = to->emplace(name, amount);
    if (!is_new) it->second = std::max(it->second, amount);
  }
}

Amounts OfContainers(const Value& pod_spec, std::string_view which) {
  Amounts sum, most, sidecars;
  if (const Value* containers = pod_spec.Find("containers")) {
    for (const Value& c : containers->items) AddAmounts(AmountsOf(c, which), &sum);
  }
  if (const Value* containers = pod_spec.Find("initContainers")) {
    for (const Value& c : containers->items) {
      // Only what the container names is compared: the rest was when the last sidecar that names it was started.
      Amounts own = AmountsOf(c, which);
      const bool is_sidecar = c.Str("restartPolicy") == "Always";
      if (is_sidecar) {
        AddAmounts(own, &sum);
        AddAmounts(own, &sidecars);
      }
      for (auto& [name, amount] : own) {
        auto it = sidecars.find(name);
        if (it == sidecars.end()) continue;
        amount = is_sidecar ? it->second : amount.Sign() == 0 ? it->second : amount + it->second;
      }
      RaiseAmounts(own, &most);
    }
  }
  RaiseAmounts(most, &sum);
  return sum;
}

Amounts OfPod(const Value& pod_spec, std::string_view which) {
  Amounts amounts = OfContainers(pod_spec, which);
  for (const auto& [name, amount] : AmountsOf(pod_spec, which)) amounts[name] = amount;
  return amounts;
}

}  // namespace berth::world
