#include "pkg/scheduler/factory/registry.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>
#include <mutex>

#include "pkg/scheduler/algorithmprovider/defaults.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::scheduler {

// ---- Registry -----------------------------------------------------------------------------------

absl::Status Registry::CheckName(std::string_view name) {
  auto inner = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-'; };
  if (name.size() >= 2 && name.front() != '-' && name.back() != '-' && std::all_of(name.begin(), name.end(), inner)) {
    return absl::OkStatus();
  }
  return util::InvalidArgument(
      absl::StrCat("Algorithm name ", util::ToAbsl(name),
                   " does not match the name validation regexp \"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$\"."));
}

absl::Status Registry::AddPredicate(std::string_view name, FitPredicateFactory factory, bool mandatory) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  predicates_.insert_or_assign(std::string(name), std::move(factory));
  if (mandatory) MakeMandatory(name);
  return absl::OkStatus();
}

void Registry::RemovePredicate(std::string_view name) {
  if (auto it = predicates_.find(name); it != predicates_.end()) predicates_.erase(it);
  if (auto it = mandatory_.find(name); it != mandatory_.end()) mandatory_.erase(it);
}

absl::Status Registry::AddPriority(std::string_view name, PriorityFunctionFactory factory, int64_t weight) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  priorities_.insert_or_assign(std::string(name), Priority{std::move(factory), weight});
  return absl::OkStatus();
}

absl::Status Registry::AddProvider(std::string_view name, Provider provider) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  providers_.insert_or_assign(std::string(name), std::move(provider));
  return absl::OkStatus();
}

Registry::Provider* Registry::MutableProvider(std::string_view name) {
  auto it = providers_.find(name);
  return it == providers_.end() ? nullptr : &it->second;
}

void Registry::InsertPredicateKeyEverywhere(std::string_view key) {
  for (auto& [name, provider] : providers_) provider.predicates.emplace(key);
}
void Registry::RemovePredicateKeyEverywhere(std::string_view key) {
  for (auto& [name, provider] : providers_) provider.predicates.erase(std::string(key));
}

// ---- the global one -----------------------------------------------------------------------------

namespace {

class GlobalRegistry {
 public:
  static GlobalRegistry& Get() {
    static auto* global = new GlobalRegistry;  // lives as long as the static objects that register with it
    return *global;
  }
  const Registry& registry() const { return registry_; }

  Registry Freeze() {
    std::lock_guard lock(mutex_);
    frozen_ = true;
    return registry_;
  }
  // Changes the registry; a mistake is a programmer's and ends the process.
  template <typename F>
  void Change(std::string_view name, F change) {
    std::lock_guard lock(mutex_);
    if (frozen_) {
      LOG(FATAL) << "Algorithm " << name << " is registered too late: register before the first scheduler is built";
    }
    absl::Status s = change(registry_);
    if (!s.ok()) LOG(FATAL) << util::Message(s);
  }
  template <typename F>
  absl::Status TryChange(F change) {
    std::lock_guard lock(mutex_);
    if (frozen_) return util::FailedPrecondition("the registry is frozen: a scheduler has been built already");
    return change(registry_);
  }

 private:
  GlobalRegistry() { algorithmprovider::RegisterDefaults(&registry_); }
  std::mutex mutex_;
  Registry registry_;
  bool frozen_ = false;
};

absl::Status NotRegistered(std::string_view provider) {
  return util::NotFound(absl::StrCat("plugin ", util::ToAbsl(provider), " has not been registered"));
}

}  // namespace

Registry Registry::FrozenCopy() {
  return GlobalRegistry::Get().Freeze();
}
const Registry& Registry::Global() {
  return GlobalRegistry::Get().registry();
}

std::string RegisterFitPredicate(std::string_view name, PerNodePredicate predicate) {
  return RegisterFitPredicate(name, FromPerNode(std::string(name), std::move(predicate)));
}
std::string RegisterFitPredicate(std::string_view name, FitPredicate predicate) {
  return RegisterFitPredicateFactory(name, [p = std::move(predicate)](const PluginFactoryArgs&) { return p; });
}
std::string RegisterFitPredicateFactory(std::string_view name, FitPredicateFactory factory) {
  GlobalRegistry::Get().Change(name, [&](Registry& r) { return r.AddPredicate(name, std::move(factory)); });
  return std::string(name);
}
std::string RegisterMandatoryFitPredicate(std::string_view name, FitPredicate predicate) {
  GlobalRegistry::Get().Change(name, [&](Registry& r) {
    return r.AddPredicate(
        name, [p = std::move(predicate)](const PluginFactoryArgs&) { return p; }, true);
  });
  return std::string(name);
}
void RemoveFitPredicate(std::string_view name) {
  GlobalRegistry::Get().Change(name, [&](Registry& r) {
    r.RemovePredicate(name);
    return absl::OkStatus();
  });
}
std::string RegisterPriorityFunction(std::string_view name, PriorityFunction function, int64_t weight) {
  return RegisterPriorityConfigFactory(
      name, [f = std::move(function)](const PluginFactoryArgs&) { return f; }, weight);
}
std::string RegisterPriorityFunction2(std::string_view name, PriorityMapFunction map, PriorityReduceFunction reduce,
                                      int64_t weight) {
  return RegisterPriorityFunction(name, FromMapReduce(std::move(map), std::move(reduce)), weight);
}
std::string RegisterPriorityConfigFactory(std::string_view name, PriorityFunctionFactory factory, int64_t weight) {
  GlobalRegistry::Get().Change(name, [&](Registry& r) { return r.AddPriority(name, std::move(factory), weight); });
  return std::string(name);
}
std::string RegisterAlgorithmProvider(std::string_view name, std::set<std::string> predicate_keys,
                                      std::set<std::string> priority_keys) {
  GlobalRegistry::Get().Change(name, [&](Registry& r) {
    return r.AddProvider(name, {std::move(predicate_keys), std::move(priority_keys)});
  });
  return std::string(name);
}

absl::Status InsertPredicateKeyToAlgoProvider(std::string_view provider, std::string_view key) {
  return GlobalRegistry::Get().TryChange([&](Registry& r) {
    Registry::Provider* p = r.MutableProvider(provider);
    if (p == nullptr) return NotRegistered(provider);
    p->predicates.emplace(key);
    return absl::OkStatus();
  });
}
absl::Status RemovePredicateKeyFromAlgoProvider(std::string_view provider, std::string_view key) {
  return GlobalRegistry::Get().TryChange([&](Registry& r) {
    Registry::Provider* p = r.MutableProvider(provider);
    if (p == nullptr) return NotRegistered(provider);
    p->predicates.erase(std::string(key));
    return absl::OkStatus();
  });
}
absl::Status InsertPriorityKeyToAlgoProvider(std::string_view provider, std::string_view key) {
  return GlobalRegistry::Get().TryChange([&](Registry& r) {
    Registry::Provider* p = r.MutableProvider(provider);
    if (p == nullptr) return NotRegistered(provider);
    p->priorities.emplace(key);
    return absl::OkStatus();
  });
}
void InsertPredicateKeyToAlgorithmProviderMap(std::string_view key) {
  GlobalRegistry::Get().Change(key, [&](Registry& r) {
    r.InsertPredicateKeyEverywhere(key);
    return absl::OkStatus();
  });
}
void RemovePredicateKeyFromAlgorithmProviderMap(std::string_view key) {
  GlobalRegistry::Get().Change(key, [&](Registry& r) {
    r.RemovePredicateKeyEverywhere(key);
    return absl::OkStatus();
  });
}

bool IsFitPredicateRegistered(std::string_view name) {
  return Registry::Global().predicates().contains(name);
}
bool IsPriorityFunctionRegistered(std::string_view name) {
  return Registry::Global().priorities().contains(name);
}
std::vector<std::string> ListRegisteredFitPredicates() {
  std::vector<std::string> out;
  for (const auto& [name, factory] : Registry::Global().predicates()) out.push_back(name);
  return out;
}
std::vector<std::string> ListRegisteredPriorityFunctions() {
  std::vector<std::string> out;
  for (const auto& [name, priority] : Registry::Global().priorities()) out.push_back(name);
  return out;
}
std::string ListAlgorithmProviders() {
  std::vector<std::string> names;
  for (const auto& [name, provider] : Registry::Global().providers()) names.push_back(name);
  return absl::StrJoin(names, " | ");
}

}  // namespace berth::scheduler
