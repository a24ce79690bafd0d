// Registration of the algorithms of plugin/, which takes place before main() and applies to every release.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <functional>
#include <mutex>
#include <vector>

#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// The registrations in their order. Each is applied to a copy of a release's own algorithms, so that it can replace
// them.
class Registrations {
 public:
  static Registrations& Get() {
    static auto* all = new Registrations;  // never destroyed: static objects register with it
    return *all;
  }

  void ApplyTo(Registry* registry, bool freeze) {
    std::lock_guard lock(mutex_);
    frozen_ = frozen_ || freeze;
    for (const auto& change : changes_) CheckOk(change(*registry));
  }
  // Records a registration. A mistake is a programming error and ends the process.
  template <typename F>
  void Change(std::string_view name, F change) {
    std::lock_guard lock(mutex_);
    if (frozen_) {
      LOG(FATAL) << "Algorithm " << name << " is registered too late: register before the first scheduler is built";
    }
    CheckOk(change(own_));
    changes_.push_back(std::move(change));
  }
  // Changes the provider in every release that has it. Returns an error if none has, or if the registry is frozen.
  template <typename F>
  absl::Status ChangeProvider(std::string_view provider, F change) {
    std::lock_guard lock(mutex_);
    if (frozen_) return util::FailedPrecondition("the registry is frozen: a scheduler has been built already");
    if (provider != kDefaultProvider && provider != kClusterAutoscalerProvider &&
        own_.MutableProvider(provider) == nullptr) {
      return util::NotFound(absl::StrCat("plugin ", util::ToAbsl(provider), " has not been registered"));
    }
    changes_.push_back([name = std::string(provider), change](Registry& r) {
      if (Registry::Provider* p = r.MutableProvider(name)) change(*p);
      return absl::OkStatus();
    });
    return absl::OkStatus();
  }

 private:
  static void CheckOk(const absl::Status& s) {
    if (!s.ok()) LOG(FATAL) << util::Message(s);
  }
  std::mutex mutex_;
  std::vector<std::function<absl::Status(Registry&)>> changes_;
  Registry own_;  // what was registered, without any release
  bool frozen_ = false;
};

Registry WithRegistrations(const Release* release, bool freeze) {
  Registry registry;
  if (release != nullptr) release->register_algorithms(&registry);
  Registrations::Get().ApplyTo(&registry, freeze);
  return registry;
}

}  // namespace

Registry FrozenRegistry(const Release& release) {
  return WithRegistrations(&release, true);
}
Registry RegisteredAlgorithms(const Release& release) {
  return WithRegistrations(&release, false);
}
Registry PluginAlgorithms() {
  return WithRegistrations(nullptr, false);
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

bool IsFitPredicateRegistered(const Release& release, std::string_view name) {
  return RegisteredAlgorithms(release).predicates().contains(name);
}
bool IsPriorityFunctionRegistered(const Release& release, std::string_view name) {
  return RegisteredAlgorithms(release).priorities().contains(name);
}
std::vector<std::string> ListRegisteredFitPredicates(const Release& release) {
  std::vector<std::string> out;
  const Registry registry = RegisteredAlgorithms(release);
  for (const auto& [name, factory] : registry.predicates()) out.push_back(name);
  return out;
}
std::vector<std::string> ListRegisteredPriorityFunctions(const Release& release) {
  std::vector<std::string> out;
  const Registry registry = RegisteredAlgorithms(release);
  for (const auto& [name, priority] : registry.priorities()) out.push_back(name);
  return out;
}
std::string ListAlgorithmProviders(const Release& release) {
  std::vector<std::string> names;
  const Registry registry = RegisteredAlgorithms(release);
  for (const auto& [name, provider] : registry.providers()) names.push_back(name);
  return absl::StrJoin(names, " | ");
}

}  // namespace berth::scheduler
