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
  predicates_.insert_or_assign(std::string(name), Predicate{std::move(factory), traits, {}});
  if (mandatory) MakeMandatory(name);
  return absl::OkStatus();
}

absl::Status Registry::AddCompositePredicate(std::string_view name, FitPredicateFactory factory,
                                             std::vector<std::string> made_of) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  predicates_.insert_or_assign(std::string(name), Predicate{std::move(factory), {}, std::move(made_of)});
  return absl::OkStatus();
}

void Registry::RemovePredicate(std::string_view name) {
  if (auto it = predicates_.find(name); it != predicates_.end()) predicates_.erase(it);
  if (auto it = mandatory_.find(name); it != mandatory_.end()) mandatory_.erase(it);
}

absl::Status Registry::AddPriority(std::string_view name, PriorityFunctionFactory factory, int64_t weight,
                                   Traits traits) {
  BERTH_RETURN_IF_ERROR(CheckName(name));
  priorities_.insert_or_assign(std::string(name), Priority{std::move(factory), weight, traits});
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

}  // namespace berth::scheduler
