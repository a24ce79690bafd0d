// Registers algorithms by name and builds schedulers from them (pkg/scheduler/factory of Kubernetes 1.10).
//
// The global registries contain what is compiled into the program. Register from static initialisers, as plugin/ does,
// or from a function that runs before the first scheduler is built: building it freezes the registries, and registering
// after that ends the process with an error. Each scheduler works on its own copy, which Policy arguments and feature
// gates change without affecting others.
//
// Names match ^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$. Thread-safety: registration is guarded by a mutex.
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
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/policy/policy.h"
#include "pkg/scheduler/registry/registry.h"

namespace berth::scheduler {

// The functions that register return the name, so that a set of keys can be written with these calls in it, as
// Kubernetes does. Registering a name again replaces what it stood for. An invalid name or a frozen registry ends the
// process with an error message.
//
// Traits declare what the rule reads (algorithm/traits.h). A rule without traits is evaluated exactly, but it is called
// for every candidate node of every pod.
//
// A rule that is registered by its factory can take arguments. The factory receives the `argument` of its Policy entry
// (PluginFactoryArgs::arguments) and reports what is wrong with it (PluginFactoryArgs::problems).
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
// These change the key set of one provider in every release that has it. They return the error `plugin <provider> has
// not been registered` if no release has such a provider.
absl::Status InsertPredicateKeyToAlgoProvider(std::string_view provider, std::string_view key);
absl::Status RemovePredicateKeyFromAlgoProvider(std::string_view provider, std::string_view key);
absl::Status InsertPriorityKeyToAlgoProvider(std::string_view provider, std::string_view key);
// These change the key sets of all providers.
void InsertPredicateKeyToAlgorithmProviderMap(std::string_view key);
void RemovePredicateKeyFromAlgorithmProviderMap(std::string_view key);

// These tell what a release has, including what plugin/ registers.
bool IsFitPredicateRegistered(const Release& release, std::string_view name);
bool IsPriorityFunctionRegistered(const Release& release, std::string_view name);
std::vector<std::string> ListRegisteredFitPredicates(const Release& release);      // sorted
std::vector<std::string> ListRegisteredPriorityFunctions(const Release& release);  // sorted
std::string ListAlgorithmProviders(const Release& release);  // "ClusterAutoscalerProvider | DefaultProvider"

// Returns a copy of the release's algorithms, including those of plugin/, and freezes registration.
Registry FrozenRegistry(const Release& release);
// Returns the same without freezing.
Registry RegisteredAlgorithms(const Release& release);
// Returns what plugin/ registers, without any release.
Registry PluginAlgorithms();

// Creates the client of an extender, or returns an error that says what is wrong with its configuration.
using ExtenderFactory = std::function<absl::StatusOr<std::unique_ptr<Extender>>(const ExtenderConfig&)>;

// What a scheduler is built from, besides the names of its algorithms.
struct FactoryArgs {
  Cache* cache = nullptr;                    // must outlive the scheduler
  const NominatedPods* nominated = nullptr;  // null without the gate PodPriority
  VolumeBinder* volume_binder = nullptr;     // null without the gate VolumeScheduling
  ClaimBinder* claim_binder = nullptr;  // for releases with profiles, shared by all of them; null if nothing is assumed
  const util::Clock* clock = nullptr;   // must outlive the scheduler; if null, decisions are not timed
  SchedulerGates gates;
  int hard_pod_affinity_symmetric_weight = 1;  // 1..100; a Policy's own value takes precedence unless it is 0
  ExtenderFactory make_extender;               // if null, a Policy with extenders is an error
  NodeSampler* sampler = nullptr;  // shared by all schedulers of a process; null: decisions look at all nodes
  // The same for profiles in which nothing scores nodes, in releases whose search then ends at the first one.
  NodeSampler* sampler_without_scores = nullptr;
  const Release* release = nullptr;  // REQUIRES: not null
  // If not null, the algorithms are copied from here instead of from the release and plugin/ (for tests).
  const Registry* registry = nullptr;
  // If not null, the mistakes of an error are also appended here, one at a time.
  std::vector<std::string>* problems = nullptr;
};

// What a built scheduler evaluates, for logs, check-policy and explain.
struct EffectiveAlgorithm {
  std::vector<std::string> predicates;                      // in the order of evaluation
  std::vector<std::pair<std::string, int64_t>> priorities;  // sorted by name, with their weights
  std::vector<std::string> mandatory;  // predicates that were added only because they are mandatory
  // Rules whose traits do not allow caching, which are called for every candidate node of every pod.
  std::vector<std::string> not_incremental;
};

// Each builds a scheduler. Errors are worded as in 1.10; several mistakes are reported together as "[a, b]". If
// `effective` is not null, it receives what the scheduler evaluates.
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProvider(std::string_view provider, FactoryArgs args,
                                                                     EffectiveAlgorithm* effective = nullptr);
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromConfig(const Policy& policy, FactoryArgs args,
                                                                   EffectiveAlgorithm* effective = nullptr);
absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromKeys(const std::set<std::string>& predicate_keys,
                                                                 const std::set<std::string>& priority_keys,
                                                                 FactoryArgs args,
                                                                 EffectiveAlgorithm* effective = nullptr);

}  // namespace berth::scheduler
