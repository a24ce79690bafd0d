// How to schedule: the release, and the algorithm that is configured, from flags or from a Scenario.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/lab/ties.h"
#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::lab {

// How to schedule. The values come from flags or from a Scenario, whose fields take precedence; but a Policy, a
// provider or a configuration of a flag takes the place of the Scenario's own.
struct Algorithm {
  const release::Id* release = &release::Default();  // emulatedVersion
  // For a release with profiles: those of its configuration. Without them, the default profile runs.
  std::optional<std::vector<scheduler::configuration::ResolvedProfile>> profiles;
  std::vector<scheduler::ExtenderConfig> extenders;  // those of the configuration
  std::optional<std::string> provider;
  std::optional<scheduler::Policy> policy;
  std::map<std::string, bool> gates;  // only those that are named
  int hard_pod_affinity_symmetric_weight = 1;
  bool preempt = false;
  // percentageOfNodesToScore as the engine gets it, after defaulting.
  std::optional<int64_t> percentage_of_nodes_to_score;
  // If true, and without the above: what the release would do, by the percentage of the configuration or else its
  // default. If false, all nodes are looked at.
  bool samples_as_release = false;
  int64_t configured_percentage = 0;   // percentageOfNodesToScore of the configuration; 0: it has none
  Ties ties;                           // never a Scenario's
  bool ignore_unknown_fields = false;  // if true, release 1.10 ignores the fields of pods that it does not understand

  // Returns what decides in the release.
  const scheduler::Release& Decides() const { return releases::Of(*release).decides; }
  // Returns whether profiles decide: in a release with plugins, where a Policy and a provider stand for a profile.
  bool ByProfiles() const { return Decides().plugins != nullptr; }
  // Returns the profiles that run: those of the configuration, or the one that the Policy or the provider stands for.
  // REQUIRES: ByProfiles().
  absl::StatusOr<std::vector<scheduler::configuration::ResolvedProfile>> Profiles() const;
  bool chosen() const { return provider.has_value() || policy.has_value(); }
  // Returns an error if the release has no Policies and a Policy or an unknown provider is set. The only provider of
  // such a release stands for what it does without a configuration.
  absl::Status CheckSource() const;
  // True if the Policy or the configuration comes from a flag. Only then may it have extenders: a Scenario is read too
  // late to keep objects whole, as extenders need them.
  bool policy_from_flag = false;
  bool call_extenders() const {
    return policy_from_flag && (!extenders.empty() || (policy && !policy->extenders.empty()));
  }
  // Returns an error if the percentage is set for a release that always looks at all nodes.
  absl::Status CheckPercentage() const;
  // Returns the percentage to give to a sampler, or nothing if all nodes are to be looked at.
  std::optional<int64_t> SamplePercentage() const;
  // Returns the feature gates. Gates that are not named have the defaults of the release; those that it does not have
  // are off.
  scheduler::SchedulerGates Gates() const;
  // Returns an error if a gate is on that needs another, which is off.
  absl::Status CheckGatesNeeded() const;
  // Returns the gates that change the meaning of a 1.29 configuration. Gates that are not named have the defaults of
  // 1.29.
  scheduler::configuration::Gates ConfigurationGates() const;

  // Reads the members of a Scenario that say how to schedule. Returns an error that names the member.
  absl::Status ReadMembers(api::Json scenario);
  // Whether the Scenario has named an algorithm of its own: a configuration, a provider or a Policy.
  bool of_scenario = false;
  // What the Scenario has named and the flag has replaced: "policy"; empty if nothing was replaced.
  std::string replaced;

 private:
  // Returns whether flags have chosen the algorithm, so that the Scenario's own `what` counts as replaced.
  bool Replaces(const std::string& what);
  absl::Status ReadRelease(api::Json scenario);
  absl::Status ReadGates(api::Json gates);
};

}  // namespace berth::lab
