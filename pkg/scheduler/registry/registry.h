// What can be configured: fit predicates, priority functions and providers by name, each rule with its traits. The free
// functions of factory/factory.h register algorithms for every release; a scheduler works on a copy of its own.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

class Registry {
 public:
  struct Predicate {
    FitPredicateFactory factory;
    Traits traits;
    // Names of the predicates that must all hold for this one to hold; empty for a predicate that stands alone. The
    // incremental scheduler keeps the answers of the parts.
    std::vector<std::string> made_of;
    bool takes_arguments = false;  // the factory reads PluginFactoryArgs::arguments
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

  // Returns "Algorithm name <name> does not match the name validation regexp ..." when it does not.
  static absl::Status CheckName(std::string_view name);

  // Registering a name again replaces it.
  absl::Status AddPredicate(std::string_view name, FitPredicateFactory factory, Traits traits = {},
                            bool mandatory = false);
  // REQUIRES: the predicates in `made_of` are registered before a scheduler is built.
  absl::Status AddCompositePredicate(std::string_view name, FitPredicateFactory factory,
                                     std::vector<std::string> made_of);
  // Marks a registered rule as one that takes arguments.
  void LetPredicateTakeArguments(std::string_view name);
  void LetPriorityTakeArguments(std::string_view name);
  // Gives a rule its arguments, as JSON. Returns false when no rule of this name takes any.
  bool GivePredicateArguments(std::string_view name, std::string_view json);
  bool GivePriorityArguments(std::string_view name, std::string_view json);
  void RemovePredicate(std::string_view name);  // also from the mandatory ones
  void MakeMandatory(std::string_view name) { mandatory_.emplace(name); }
  absl::Status AddPriority(std::string_view name, PriorityFunctionFactory factory, int64_t weight, Traits traits = {});
  absl::Status AddProvider(std::string_view name, Provider provider);

  const std::map<std::string, Predicate, std::less<>>& predicates() const { return predicates_; }
  const std::set<std::string, std::less<>>& mandatory() const { return mandatory_; }
  const std::map<std::string, Priority, std::less<>>& priorities() const { return priorities_; }
  const std::map<std::string, Provider, std::less<>>& providers() const { return providers_; }
  Provider* MutableProvider(std::string_view name);  // null when there is none
  void InsertPredicateKeyEverywhere(std::string_view key);
  void RemovePredicateKeyEverywhere(std::string_view key);
  std::map<std::string, Priority, std::less<>>& mutable_priorities() { return priorities_; }

 private:
  std::map<std::string, Predicate, std::less<>> predicates_;
  std::set<std::string, std::less<>> mandatory_;
  std::map<std::string, Priority, std::less<>> priorities_;
  std::map<std::string, Provider, std::less<>> providers_;
};

}  // namespace berth::scheduler
