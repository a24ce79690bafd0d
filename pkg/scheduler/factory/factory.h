// Registries of algorithms, and schedulers built from them (Kubernetes 1.10 pkg/scheduler/factory).
//
// The global registries hold what is compiled in. Register from static initialisers (plugin/) or from an Init function;
// the first scheduler built freezes them, and registering after that is an error that ends the process. Each scheduler
// works on its own copy: policy arguments and feature gates change that copy alone.
//
// Names: ^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$. Threading: registration is guarded by a mutex.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/per_node.h"
#include "pkg/scheduler/algorithmprovider/releases.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/policy/policy.h"
#include "pkg/scheduler/registry/registry.h"

namespace berth::scheduler {

// Each returns the name, so that a key set can be written with the calls in it, as Kubernetes does. Registering a name
// again replaces it. A bad name or a frozen registry ends the process with a message.
//
// Traits say what the rule reads (algorithm/traits.h). A rule registered without them is decided exactly, but it is
// called for every candidate node of every pod.
//
// A rule registered by its factory takes arguments: the factory gets the `argument` of its Policy entry as it stands in
// the file (PluginFactoryArgs::arguments) and says what is wrong with it (PluginFactoryArgs::problems).
std::string RegisterFitPredicate(std::string_view name, PerNodePredicate predicate, Traits traits = {});
std::string RegisterFitPredicate(std::string_view name, FitPredicate predicate, Traits traits = {});
std::string RegisterFitPredicateFactory(std::string_view name, FitPredicateFactory factory, Traits traits = {});
std::string RegisterMandatoryFitPredicate(std::string_view name, FitPredicate predicate, Traits traits = {});
void RemoveFitPredicate(std::string_view name);
std::string RegisterPriorityFunction(std::string_view name, PriorityFunction function, int64_t weight,
                                     Traits traits = {});
std::string RegisterPriorityFunction2(std::string_view name, PriorityMapFunction map, PriorityReduceFunction reduce,
                                      int64_t weight, Traits traits = {});
std::string RegisterPriorityConfigFactory(std::string_view name, PriorityFunctionFactory factory, int64_t weight,
                                          Traits traits = {});
std::string RegisterAlgorithmProvider(std::string_view name, std::set<std::string> predicate_keys,
                                      std::set<std::string> priority_keys);
// Adds a key to one provider: `plugin <provider> has not been registered` when there is none.
absl::Status InsertPredicateKeyToAlgoProvider(std::string_view provider, std::string_view key);
absl::Status RemovePredicateKeyFromAlgoProvider(std::string_view provider, std::string_view key);
absl::Status InsertPriorityKeyToAlgoProvider(std::string_view provider, std::string_view key);
void InsertPredicateKeyToAlgorithmProviderMap(std::string_view key);
void RemovePredicateKeyFromAlgorithmProviderMap(std::string_view key);

bool IsFitPredicateRegistered(std::string_view name);
bool IsPriorityFunctionRegistered(std::string_view name);
std::vector<std::string> ListRegisteredFitPredicates();      // sorted
std::vector<std::string> ListRegisteredPriorityFunctions();  // sorted
std::string ListAlgorithmProviders();                        // "ClusterAutoscalerProvider | DefaultProvider"

// Returns a copy of the release's algorithms together with those of plugin/, and freezes the registration.
Registry FrozenRegistry(const Release& release = algorithmprovider::DefaultRelease());
// The same for reading, without freezing. The reference stays valid until the next registration.
const Registry& RegisteredAlgorithms(const Release& release = algorithmprovider::DefaultRelease());

// Feature gates that change what is registered, and those that rules read.
struct SchedulerGates {
  AlgorithmGates algorithm;
  bool taint_nodes_by_condition = false;
  bool resource_limits_priority_function = false;
};

using ExtenderFactory = std::function<absl::StatusOr<std::unique_ptr<Extender>>(const ExtenderConfig&)>;

// What a scheduler is built for.
struct FactoryArgs {
  Cache* cache = nullptr;                    // outlives the scheduler
  const NominatedPods* nominated = nullptr;  // null without PodPriority
  VolumeBinder* volume_binder = nullptr;     // null without VolumeScheduling
  ClaimBinder* claim_binder = nullptr;       // of release 1.29, shared by all profiles; null where nothing is assumed
  const util::Clock* clock = nullptr;        // outlives the scheduler; null: decisions are not timed
  SchedulerGates gates;
  int hard_pod_affinity_symmetric_weight = 1;  // a Policy's own value other than 0 beats it
  ExtenderFactory make_extender;               // null: a Policy with extenders is an error
  const Release* release = &algorithmprovider::DefaultRelease();
  // What to copy from instead of the release's algorithms with those of plugin/ (tests).
  const Registry* registry = nullptr;
  // Where not null, an error's mistakes are also appended here, one by one.
  std::vector<std::string>* problems = nullptr;
};

// The key sets that will run, as names: for logs, check-policy and explain.
struct EffectiveAlgorithm {
  std::vector<std::string> predicates;                      // in the order of evaluation
  std::vector<std::pair<std::string, int64_t>> priorities;  // by name, with weights
  std::vector<std::string> mandatory;                       // predicates that were added because they are mandatory
  // Rules that were registered without traits, so that they are called for every candidate node of every pod.
  std::vector<std::string> not_incremental;
};

// Errors are 1.10's texts; several mistakes of a Policy are reported together, "[a, b]".
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProvider(std::string_view provider, FactoryArgs args,
                                                                     EffectiveAlgorithm* effective = nullptr);
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromConfig(const Policy& policy, FactoryArgs args,
                                                                   EffectiveAlgorithm* effective = nullptr);
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromKeys(const std::set<std::string>& predicate_keys,
                                                                 const std::set<std::string>& priority_keys,
                                                                 FactoryArgs args,
                                                                 EffectiveAlgorithm* effective = nullptr);

}  // namespace berth::scheduler
