// The predicates and priorities that Policies name, the releases whose Policies may, and what they stand for; and the
// releases whose Policies and configurations can say what else there is.
#pragma once
#include <span>
#include <string_view>

#include "pkg/release/history.h"

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

// The releases whose extenders and configurations can say what else there is, and whose nodes have taints in place of
// conditions, so that tolerations decide.
using release::history::kConditionTaints, release::history::kDisablesPreemption, release::history::kIgnorable,
    release::history::kManagedResources, release::history::kPreemptVerb;

const PolicyRule* FindRule(std::span<const PolicyRule> rules, std::string_view name);
// Returns the entry by which a Policy of the release names the rule, or null if it has none.
const PolicyRule* NamedIn(std::span<const PolicyRule> rules, std::string_view rule, release::Version release);

}  // namespace berth::convert
