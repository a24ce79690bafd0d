// The predicates and priorities that Policies name, the releases whose Policies may, and what they stand for; and the
// releases whose Policies and configurations can say what else there is.
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

// The releases in which extenders may do these.
inline constexpr release::Span kManagedResources = release::Since(10), kPreemptVerb = release::Since(11),
                               kIgnorable = release::Since(12);
// The releases whose configurations may turn preemption off. Before, it was off by default.
inline constexpr release::Span kDisablesPreemption = release::Since(11);
// The releases whose nodes have taints in place of conditions, so that tolerations decide.
inline constexpr release::Span kConditionTaints = release::Since(12);

const PolicyRule* FindRule(std::span<const PolicyRule> rules, std::string_view name);
// Returns the entry by which a Policy of the release names the rule, or null if it has none.
const PolicyRule* NamedIn(std::span<const PolicyRule> rules, std::string_view rule, release::Version release);

}  // namespace berth::convert
