#include "pkg/scheduler/registry/registry.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::scheduler {

absl::Status Registry::CheckName(std::string_view name) {
  auto inner = [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-'; };
  if (name.size() >= 2 && name.front() != '-' && name.back() != '-' && std::all_of(name.begin(), name.end(), inner)) {
    return absl::OkStatus();
  }
  return util::InvalidArgument(
      absl::StrCat("Algorithm name ", util::ToAbsl(name),
                   " does not match the name validation regexp \"^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])$\"."));
}

absl::Status Registry::AddPredicate(std::string_view name, FitPredicateFactory factory, Traits traits, bool mandatory) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  predicates_.insert_or_assign(std::string(name), Predicate{std::move(factory), traits, {}, false});
  if (mandatory) MakeMandatory(name);
  return absl::OkStatus();
}

absl::Status Registry::AddCompositePredicate(std::string_view name, FitPredicateFactory factory,
                                             std::vector<std::string> made_of) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  predicates_.insert_or_assign(std::string(name), Predicate{std::move(factory), {}, std::move(made_of), false});
  return absl::OkStatus();
}

void Registry::RemovePredicate(std::string_view name, std::string_view why) {
  if (auto it = predicates_.find(name); it != predicates_.end()) predicates_.erase(it);
  if (auto it = mandatory_.find(name); it != mandatory_.end()) mandatory_.erase(it);
  why_removed_.insert_or_assign(std::string(name), std::string(why));
}
std::string Registry::WhyRemoved(std::string_view name) const {
  auto it = why_removed_.find(name);
  return it == why_removed_.end() ? std::string() : it->second;
}

absl::Status Registry::AddPriority(std::string_view name, PriorityFunctionFactory factory, int64_t weight,
                                   Traits traits) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  priorities_.insert_or_assign(std::string(name), Priority{std::move(factory), weight, traits, false});
  return absl::OkStatus();
}

void Registry::LetPredicateTakeArguments(std::string_view name) {
  if (auto it = predicates_.find(name); it != predicates_.end()) it->second.takes_arguments = true;
}
void Registry::LetPriorityTakeArguments(std::string_view name) {
  if (auto it = priorities_.find(name); it != priorities_.end()) it->second.takes_arguments = true;
}

namespace {

// Replaces the factory of a rule by one that calls it with these arguments.
template <typename Rules>
bool GiveArguments(Rules* rules, std::string_view name, std::string_view json) {
  auto it = rules->find(name);
  if (it == rules->end() || !it->second.takes_arguments) return false;
  it->second.factory = [factory = it->second.factory, json = std::string(json)](PluginFactoryArgs args) {
    args.arguments = json;
    return factory(args);
  };
  return true;
}

}  // namespace

bool Registry::GivePredicateArguments(std::string_view name, std::string_view json) {
  return GiveArguments(&predicates_, name, json);
}
bool Registry::GivePriorityArguments(std::string_view name, std::string_view json) {
  return GiveArguments(&priorities_, name, json);
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
void Registry::InsertPriorityKeyEverywhere(std::string_view key) {
  for (auto& [name, provider] : providers_) provider.priorities.emplace(key);
}

}  // namespace berth::scheduler
