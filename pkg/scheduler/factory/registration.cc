// Registration of the algorithms of plugin/, which takes place before main() and applies to every release.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <map>
#include <mutex>

#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// One registry for each release: the release's own algorithms, to which every registration is applied in turn.
class Registrations {
 public:
  static Registrations& Get() {
    static auto* all = new Registrations;  // never destroyed: static objects register with it
    return *all;
  }
  // Takes no lock. REQUIRES: no other thread registers at the same time.
  const Registry& Of(const Release& release) const { return registries_.at(&release); }

  Registry Freeze(const Release& release) {
    std::lock_guard lock(mutex_);
    frozen_ = true;
    return registries_.at(&release);
  }
  // Applies a registration to all registries. A mistake is a programming error and ends the process.
  template <typename F>
  void Change(std::string_view name, F change) {
    std::lock_guard lock(mutex_);
    if (frozen_) {
      LOG(FATAL) << "Algorithm " << name << " is registered too late: register before the first scheduler is built";
    }
    for (auto& [release, registry] : registries_) {
      absl::Status s = change(registry);
      if (!s.ok()) LOG(FATAL) << util::Message(s);
    }
  }
  // Changes the provider in every release that has it. Returns an error if none has, or if the registry is frozen.
  template <typename F>
  absl::Status ChangeProvider(std::string_view provider, F change) {
    std::lock_guard lock(mutex_);
    if (frozen_) return util::FailedPrecondition("the registry is frozen: a scheduler has been built already");
    bool found = false;
    for (auto& [release, registry] : registries_) {
      Registry::Provider* p = registry.MutableProvider(provider);
      if (p == nullptr) continue;
      found = true;
      change(*p);
    }
    if (found) return absl::OkStatus();
    return util::NotFound(absl::StrCat("plugin ", util::ToAbsl(provider), " has not been registered"));
  }

 private:
  // Each release registers its own algorithms first, so that plugins can replace them.
  Registrations() {
    for (const Release* r : algorithmprovider::Releases()) r->register_algorithms(&registries_[r]);
  }
  std::mutex mutex_;
  std::map<const Release*, Registry> registries_;
  bool frozen_ = false;
};

}  // namespace

Registry FrozenRegistry(const Release& release) {
  return Registrations::Get().Freeze(release);
}
const Registry& RegisteredAlgorithms(const Release& release) {
  return Registrations::Get().Of(release);
}

std::string RegisterFitPredicate(std::string_view name, PerNodePredicate predicate, Traits traits) {
  return RegisterFitPredicate(name, FromPerNode(std::string(name), std::move(predicate)), traits);
}
std::string RegisterFitPredicate(std::string_view name, FitPredicate predicate, Traits traits) {
  Registrations::Get().Change(name, [n = std::string(name), predicate, traits](Registry& r) {
    return r.AddPredicate(
        n, [predicate](const PluginFactoryArgs&) { return predicate; }, traits);
  });
  return std::string(name);
}
std::string RegisterFitPredicateFactory(std::string_view name, FitPredicateFactory factory, Traits traits) {
  Registrations::Get().Change(name, [n = std::string(name), factory, traits](Registry& r) {
    BERTH_RETURN_IF_ERROR(r.AddPredicate(n, factory, traits));
    r.LetPredicateTakeArguments(n);
    return absl::OkStatus();
  });
  return std::string(name);
}
std::string RegisterMandatoryFitPredicate(std::string_view name, FitPredicate predicate, Traits traits) {
  Registrations::Get().Change(name, [n = std::string(name), predicate, traits](Registry& r) {
    return r.AddPredicate(
        n, [predicate](const PluginFactoryArgs&) { return predicate; }, traits, /*mandatory=*/true);
  });
  return std::string(name);
}
void RemoveFitPredicate(std::string_view name) {
  Registrations::Get().Change(name, [n = std::string(name)](Registry& r) {
    r.RemovePredicate(n);
    return absl::OkStatus();
  });
}
std::string RegisterPriorityFunction(std::string_view name, PriorityFunction function, int64_t weight, Traits traits) {
  Registrations::Get().Change(name, [n = std::string(name), function, weight, traits](Registry& r) {
    return r.AddPriority(
        n, [function](const PluginFactoryArgs&) { return function; }, weight, traits);
  });
  return std::string(name);
}
std::string RegisterPriorityFunction2(std::string_view name, PriorityMapFunction map, PriorityReduceFunction reduce,
                                      int64_t weight, Traits traits) {
  return RegisterPriorityFunction(name, FromMapReduce(std::move(map), std::move(reduce)), weight, traits);
}
std::string RegisterPriorityConfigFactory(std::string_view name, PriorityFunctionFactory factory, int64_t weight,
                                          Traits traits) {
  Registrations::Get().Change(name, [n = std::string(name), factory, weight, traits](Registry& r) {
    BERTH_RETURN_IF_ERROR(r.AddPriority(n, factory, weight, traits));
    r.LetPriorityTakeArguments(n);
    return absl::OkStatus();
  });
  return std::string(name);
}
std::string RegisterAlgorithmProvider(std::string_view name, std::set<std::string> predicate_keys,
                                      std::set<std::string> priority_keys) {
  Registrations::Get().Change(name, [n = std::string(name), predicate_keys, priority_keys](Registry& r) {
    return r.AddProvider(n, {predicate_keys, priority_keys});
  });
  return std::string(name);
}

absl::Status InsertPredicateKeyToAlgoProvider(std::string_view provider, std::string_view key) {
  return Registrations::Get().ChangeProvider(
      provider, [k = std::string(key)](Registry::Provider& p) { p.predicates.emplace(k); });
}
absl::Status RemovePredicateKeyFromAlgoProvider(std::string_view provider, std::string_view key) {
  return Registrations::Get().ChangeProvider(provider,
                                             [k = std::string(key)](Registry::Provider& p) { p.predicates.erase(k); });
}
absl::Status InsertPriorityKeyToAlgoProvider(std::string_view provider, std::string_view key) {
  return Registrations::Get().ChangeProvider(
      provider, [k = std::string(key)](Registry::Provider& p) { p.priorities.emplace(k); });
}
void InsertPredicateKeyToAlgorithmProviderMap(std::string_view key) {
  Registrations::Get().Change(key, [k = std::string(key)](Registry& r) {
    r.InsertPredicateKeyEverywhere(k);
    return absl::OkStatus();
  });
}
void RemovePredicateKeyFromAlgorithmProviderMap(std::string_view key) {
  Registrations::Get().Change(key, [k = std::string(key)](Registry& r) {
    r.RemovePredicateKeyEverywhere(k);
    return absl::OkStatus();
  });
}

bool IsFitPredicateRegistered(std::string_view name) {
  return RegisteredAlgorithms().predicates().contains(name);
}
bool IsPriorityFunctionRegistered(std::string_view name) {
  return RegisteredAlgorithms().priorities().contains(name);
}
std::vector<std::string> ListRegisteredFitPredicates() {
  std::vector<std::string> out;
  for (const auto& [name, factory] : RegisteredAlgorithms().predicates()) out.push_back(name);
  return out;
}
std::vector<std::string> ListRegisteredPriorityFunctions() {
  std::vector<std::string> out;
  for (const auto& [name, priority] : RegisteredAlgorithms().priorities()) out.push_back(name);
  return out;
}
std::string ListAlgorithmProviders() {
  std::vector<std::string> names;
  for (const auto& [name, provider] : RegisteredAlgorithms().providers()) names.push_back(name);
  return absl::StrJoin(names, " | ");
}

}  // namespace berth::scheduler
