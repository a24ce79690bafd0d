#include "pkg/scheduler/factory/read_policy.h"

#include <absl/strings/strip.h>

#include <memory>

#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/extender/http_extender.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// Removes the entries without a readable name; their mistakes have been reported already.
template <typename Entry>
void RemoveNameless(std::optional<std::vector<Entry>>* entries) {
  if (*entries) std::erase_if(**entries, [](const Entry& e) { return e.name.empty(); });
}

// Several errors come as "[a, b]"; the brackets are removed because the text becomes part of another list.
std::string Bare(std::string text) {
  absl::string_view bare = text;
  if (absl::ConsumePrefix(&bare, "[") && absl::ConsumeSuffix(&bare, "]")) return std::string(bare);
  return text;
}

// Returns the errors of building a scheduler from the Policy, or an empty text.
std::string FactoryErrors(Policy policy, const Release& release, const SchedulerGates& gates) {
  RemoveNameless(&policy.predicates);
  RemoveNameless(&policy.priorities);
  if (release.policy_names != nullptr) {
    const auto made =
        configuration::ProfileOfPolicy(policy, release.policy_names(), PluginsToConfigure(release), release.plugins());
    return Bare(util::Message(made.status()));
  }
  Cache cache;
  FactoryArgs args;
  args.cache = &cache;
  args.release = &release;
  args.gates = gates;
  args.make_extender = [](const ExtenderConfig& c) { return NewHttpExtender(c); };
  return Bare(util::Message(CreateFromConfig(policy, std::move(args)).status()));
}

// Only a Policy that cannot be read is also checked by the factory.
absl::StatusOr<Policy> Checked(DecodedPolicy decoded, const Release& release, const SchedulerGates& gates,
                               std::vector<std::string>* warnings) {
  if (warnings != nullptr) *warnings = std::move(decoded.warnings);
  if (decoded.errors.empty()) return std::move(decoded.policy);
  std::string rest = FactoryErrors(std::move(decoded.policy), release, gates);
  if (!rest.empty()) decoded.errors.push_back(std::move(rest));
  return util::InvalidArgument(JoinedErrors(decoded.errors));
}

}  // namespace

absl::StatusOr<Policy> ReadPolicy(std::string_view text, const Release& release, const SchedulerGates& gates,
                                  std::vector<std::string>* warnings) {
  return Checked(DecodeWholePolicy(text, release.version), release, gates, warnings);
}

absl::StatusOr<Policy> ReadPolicy(api::Json value, const Release& release, const SchedulerGates& gates,
                                  std::vector<std::string>* warnings) {
  return Checked(DecodeWholePolicy(value, release.version), release, gates, warnings);
}

}  // namespace berth::scheduler
