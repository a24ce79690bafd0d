// The predicates and priorities that Policies name, the releases whose Policies may, and what they stand for.
#pragma once
#include <span>
#include <string_view>

#include "pkg/release/release.h"

namespace berth::convert {

struct PolicyRule {
  std::string_view name;
  release::Span in;       // the releases that have it
  std::string_view rule;  // meaning.h; empty: it has no effect
  bool alias = false;     // another name of a rule that the table has before
};
// Returns the predicates without GeneralPredicates, which stands for the rules of GeneralParts.
std::span<const PolicyRule> Predicates();
std::span<const PolicyRule> Priorities();
std::span<const std::string_view> GeneralParts();
inline constexpr std::string_view kGeneralPredicates = "GeneralPredicates";

const PolicyRule* FindRule(std::span<const PolicyRule> rules, std::string_view name);
// Returns the entry by which a Policy of the release names the rule, or null if it has none.
const PolicyRule* NamedIn(std::span<const PolicyRule> rules, std::string_view rule, release::Version release);

}  // namespace berth::convert
