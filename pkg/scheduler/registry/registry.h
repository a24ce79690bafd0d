// A registry holds what can be configured by name: predicates and priorities, each with its traits, and providers.
//
// Each release fills a registry of its own (Release::register_algorithms), and the free functions of factory/factory.h
// add algorithms to those of all releases. A scheduler is built from a copy, so arguments and feature gates that change
// the copy affect no other scheduler.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler {

// The providers that releases have. RegisterAlgorithmProvider (factory/factory.h) adds others to every release.
inline constexpr std::string_view kDefaultProvider = "DefaultProvider";
inline constexpr std::string_view kClusterAutoscalerProvider = "ClusterAutoscalerProvider";

class Registry {
 public:
  struct Predicate {
    FitPredicateFactory factory;
    Traits traits;
    // For a composite predicate, the names of its parts: it holds where all of them hold. The incremental scheduler
    // keeps the answers of the parts.
    std::vector<std::string> made_of;
    bool takes_arguments = false;  // whether the factory reads PluginFactoryArgs::arguments
  };
  struct Priority {
    PriorityFunctionFactory factory;
    int64_t weight = 1;
    Traits traits;
    bool takes_arguments = false;
  };
  struct Provider {
    std::set<std::string> predicates, priorities;
  };

  // Returns the error "Algorithm name <name> does not match the name validation regexp ..." for a name that is not
  // allowed (1.10 validateAlgorithmNameOrDie).
  static absl::Status CheckName(std::string_view name);

  // The Add functions replace what is registered under the name, and fail only if CheckName does. `mandatory`: see
  // MakeMandatory.
  absl::Status AddPredicate(std::string_view name, FitPredicateFactory factory, Traits traits = {},
                            bool mandatory = false);
  // The predicates in `made_of` must be registered before a scheduler is built.
  absl::Status AddCompositePredicate(std::string_view name, FitPredicateFactory factory,
                                     std::vector<std::string> made_of);
  // Mark a registered rule as one that takes arguments. Do nothing for an unknown name.
  void LetPredicateTakeArguments(std::string_view name);
  void LetPriorityTakeArguments(std::string_view name);
  // Set the arguments of a rule, as JSON. Return false when there is no rule of this name that takes arguments.
  bool GivePredicateArguments(std::string_view name, std::string_view json);
  bool GivePriorityArguments(std::string_view name, std::string_view json);
  // Removes the predicate, also from the mandatory ones. `why` follows the message for a Policy that names it all the
  // same: it says what to do, and begins with a space or is empty.
  void RemovePredicate(std::string_view name, std::string_view why = {});
  std::string WhyRemoved(std::string_view name) const;
  // Makes the predicate part of every scheduler, whatever is configured.
  void MakeMandatory(std::string_view name) { mandatory_.emplace(name); }
  // Sets the queueing hint of a predicate, which is asked where the release asks hints. Without one, every event that
  // the release's queue has for the predicate may help.
  void SetHint(std::string_view name, QueueingHint hint) { hints_[std::string(name)] = std::move(hint); }
  absl::Status AddPriority(std::string_view name, PriorityFunctionFactory factory, int64_t weight, Traits traits = {});
  absl::Status AddProvider(std::string_view name, Provider provider);

  const std::map<std::string, Predicate, std::less<>>& predicates() const { return predicates_; }
  const std::set<std::string, std::less<>>& mandatory() const { return mandatory_; }
  const std::map<std::string, Priority, std::less<>>& priorities() const { return priorities_; }
  const std::map<std::string, QueueingHint, std::less<>>& hints() const { return hints_; }
  const std::map<std::string, Provider, std::less<>>& providers() const { return providers_; }
  // Returns the provider, or null when there is none of this name.
  Provider* MutableProvider(std::string_view name);
  // Add or remove a predicate in the sets of all providers (feature gates do so).
  void InsertPredicateKeyEverywhere(std::string_view key);
  void RemovePredicateKeyEverywhere(std::string_view key);
  void InsertPriorityKeyEverywhere(std::string_view key);
  std::map<std::string, Priority, std::less<>>& mutable_priorities() { return priorities_; }

 private:
  std::map<std::string, Predicate, std::less<>> predicates_;
  std::set<std::string, std::less<>> mandatory_;
  std::map<std::string, Priority, std::less<>> priorities_;
  std::map<std::string, Provider, std::less<>> providers_;
  std::map<std::string, QueueingHint, std::less<>> hints_;       // by name of predicate
  std::map<std::string, std::string, std::less<>> why_removed_;  // by name of predicate
};

}  // namespace berth::scheduler
