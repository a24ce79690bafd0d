// Policies and algorithm providers in releases that have plugins as well (1.18 to 1.22): what they name becomes the
// plugins, weights and arguments of a profile. Source: pkg/scheduler/framework/plugins/legacy_registry.go and
// pkg/scheduler/factory.go (1.19).
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler::configuration {

// The names that a Policy of one release may use. A plugin that a name stands for is called at every extension point
// that goes with filtering, or with scoring, and that the plugin implements.
struct PolicyNames {
  struct Predicate {
    std::string_view name;
    std::initializer_list<std::string_view> plugins;  // in calling order
    bool by_default = false;                          // part of a Policy without `predicates`
    bool mandatory = false;                           // part of every Policy
  };
  struct Priority {
    std::string_view name;
    std::string_view plugin;     // empty: the priority has no effect
    int64_t default_weight = 0;  // in a Policy without `priorities`; 0: it is not part of it
  };
  struct Alias {
    std::string_view alias, name;
  };
  std::span<const Predicate> predicates;  // in the order of evaluation
  std::span<const Priority> priorities;   // in the order of their names
  std::span<const Alias> aliases;         // of predicates and priorities
  // The entries of the lists above that an entry with an argument stands for, whatever its own name is.
  std::string_view labels_presence, service_affinity;               // predicates
  std::string_view label_preference, service_anti_affinity, ratio;  // priorities
  std::string_view affinity;                                        // the priority of hardPodAffinitySymmetricWeight
  std::span<const std::pair<ExtensionPoint, std::string_view>> always;  // plugins of every Policy
};

// Returns the profile "default-scheduler" that the Policy stands for. `catalogue` has the plugins of the release and of
// plugin/, `in_tree` those of the release alone; plugins of plugin/ may be named by their own names. All mistakes are
// reported together, as "[a, b]", in the words of 1.19 without "couldn't create scheduler from policy: ".
absl::StatusOr<ResolvedProfile> ProfileOfPolicy(const Policy& policy, const PolicyNames& names,
                                                const PluginCatalogue& catalogue, const PluginCatalogue& in_tree);

// Returns the profile "default-scheduler" of an algorithm provider. `hard_pod_affinity_weight` is the flag
// --hard-pod-affinity-symmetric-weight. An unknown provider is an error.
absl::StatusOr<ResolvedProfile> ProfileOfProvider(std::string_view provider, int hard_pod_affinity_weight,
                                                  PluginCatalogue catalogue);

}  // namespace berth::scheduler::configuration
