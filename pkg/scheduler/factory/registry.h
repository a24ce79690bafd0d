// What can be configured: fit predicates, priority functions and providers by name. The free functions of factory.h
// work on the global one; every scheduler works on a copy of its own.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

class Registry {
 public:
  struct Priority {
    PriorityFunctionFactory factory;
    int64_t weight = 1;
  };
  struct Provider {
    std::set<std::string> predicates, priorities;
  };

  // "Algorithm name <name> does not match the name validation regexp ..." when it does not.
  static absl::Status CheckName(std::string_view name);

  absl::Status AddPredicate(std::string_view name, FitPredicateFactory factory, bool mandatory = false);
  void RemovePredicate(std::string_view name);  // also from the mandatory ones
  void MakeMandatory(std::string_view name) { mandatory_.emplace(name); }
  absl::Status AddPriority(std::string_view name, PriorityFunctionFactory factory, int64_t weight);
  absl::Status AddProvider(std::string_view name, Provider provider);

  const std::map<std::string, FitPredicateFactory, std::less<>>& predicates() const { return predicates_; }
  const std::set<std::string, std::less<>>& mandatory() const { return mandatory_; }
  const std::map<std::string, Priority, std::less<>>& priorities() const { return priorities_; }
  const std::map<std::string, Provider, std::less<>>& providers() const { return providers_; }
  Provider* MutableProvider(std::string_view name);  // null when there is none
  void InsertPredicateKeyEverywhere(std::string_view key);
  void RemovePredicateKeyEverywhere(std::string_view key);
  std::map<std::string, Priority, std::less<>>& mutable_priorities() { return priorities_; }

  // A copy of the global registry, with the default algorithms and those of plugin/. Freezes it.
  static Registry FrozenCopy();
  // The global registry itself, for reading.
  static const Registry& Global();

 private:
  std::map<std::string, FitPredicateFactory, std::less<>> predicates_;
  std::set<std::string, std::less<>> mandatory_;
  std::map<std::string, Priority, std::less<>> priorities_;
  std::map<std::string, Provider, std::less<>> providers_;
};

}  // namespace berth::scheduler
