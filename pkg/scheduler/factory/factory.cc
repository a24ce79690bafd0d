#include "pkg/scheduler/factory/factory.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>
#include <limits>

#include "pkg/http/url.h"
#include "pkg/release/history.h"
#include "pkg/scheduler/algorithm/nodelabel/nodelabel.h"
#include "pkg/scheduler/algorithm/noderesources/requested_to_capacity_ratio.h"
#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"
#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/validation.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler {
namespace {

absl::Status Joined(const std::vector<std::string>& errors) {
  if (errors.empty()) return absl::OkStatus();
  return util::InvalidArgument(errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]"));
}

// Formats a set as Go prints a map, as the log lines of 1.10 do.
std::string SetText(const std::set<std::string>& keys) {
  return absl::StrCat("map[", absl::StrJoin(keys, ":{} "), ":{}]");
}

// Returns the registry that this scheduler may change, with the feature gates applied.
Registry RegistryFor(const FactoryArgs& args) {
  BERTH_REQUIRES(args.release != nullptr);
  Registry r = args.registry != nullptr ? *args.registry : FrozenRegistry(*args.release);
  if (args.release->apply_gates != nullptr) args.release->apply_gates(args.gates, &r);
  return r;
}

std::vector<Symbol> Symbols(const std::vector<std::string>& texts) {
  return std::vector<Symbol>(texts.begin(), texts.end());
}

// Returns ` (did you mean "X"?)` if a registered name is similar, and otherwise an empty text.
template <typename Map>
std::string NameSuggestion(std::string_view name, const Map& registered) {
  std::vector<std::string_view> names;
  for (const auto& [known, value] : registered) names.push_back(known);
  return util::SuggestionFor(name, names);
}

// Registers a Policy entry with an argument as a predicate of that name. An entry without one must name a registered
// predicate. Source: RegisterCustomFitPredicate in pkg/scheduler/factory/plugins.go (1.10).
absl::Status RegisterCustom(Registry* r, const PredicatePolicy& p) {
  if (!p.argument) {
    if (r->predicates().contains(p.name)) {
      VLOG(2) << "Predicate type " << p.name << " already registered, reusing.";
      return absl::OkStatus();
    }
    return util::InvalidArgument(absl::StrCat("Invalid configuration: Predicate type not found for ", p.name,
                                              r->WhyRemoved(p.name), NameSuggestion(p.name, r->predicates())));
  }
  int given = p.argument->service_affinity.has_value() + p.argument->labels_presence.has_value();
  if (given == 0 && r->GivePredicateArguments(p.name, p.argument->json)) return absl::OkStatus();
  if (given != 1) {
    return util::InvalidArgument(
        absl::StrCat("Exactly 1 predicate argument is required, numArgs: ", given, ", Predicate: ", p.name));
  }
  if (const auto& a = p.argument->service_affinity) {
    return r->AddPredicate(
        p.name,
        [labels = Symbols(a->labels)](const PluginFactoryArgs& args) {
          return serviceaffinity::ServiceAffinity(args, labels);
        },
        PredicateTraits(kPodNamespace | kPodLabels | kPodNodeSelector, ClusterPart::kDomains));
  }
  const auto& a = *p.argument->labels_presence;
  FitPredicate predicate = nodelabel::NodeLabelPresence(Symbols(a.labels), a.presence);
  return r->AddPredicate(
      p.name, [predicate](const PluginFactoryArgs&) { return predicate; },
      PredicateTraits(kPodNothing, ClusterPart::kNode));
}

// The same for priorities; the entry's weight replaces the registered one. Source: RegisterCustomPriorityFunction in
// pkg/scheduler/factory/plugins.go (1.10).
absl::Status RegisterCustom(const Release& release, Registry* r, const PriorityPolicy& p) {
  if (!p.argument) {
    auto known = r->mutable_priorities().find(p.name);
    if (known == r->mutable_priorities().end()) {
      return util::InvalidArgument(absl::StrCat("Invalid configuration: Priority type not found for ", p.name,
                                                NameSuggestion(p.name, r->priorities())));
    }
    VLOG(2) << "Priority type " << p.name << " already registered, reusing.";
    known->second.weight = p.weight;
    return absl::OkStatus();
  }
  int given = p.argument->service_anti_affinity.has_value() + p.argument->label_preference.has_value() +
              p.argument->requested_to_capacity_ratio.has_value();
  if (given == 0 && r->GivePriorityArguments(p.name, p.argument->json)) {
    r->mutable_priorities().find(p.name)->second.weight = p.weight;
    return absl::OkStatus();
  }
  if (given != 1) {
    return util::InvalidArgument(
        absl::StrCat("Exactly 1 priority argument is required, numArgs: ", given, ", Priority: ", p.name));
  }
  if (const auto& a = p.argument->service_anti_affinity) {
    return r->AddPriority(
        p.name,
        [rule = release.service_anti_affinity, label = Symbol(a->label)](const PluginFactoryArgs& args) {
          return rule(args, label);
        },
        p.weight, PriorityTraits(kPodNamespace | kPodLabels, ClusterPart::kDomains, Normalisation::kDomains));
  }
  if (const auto& a = p.argument->requested_to_capacity_ratio) {
    noderesources::ScoringFunction function{{}, {}};
    for (const auto& point : a->shape) function.shape.push_back({point.utilization, point.score});
    for (const auto& resource : a->resources) function.resources.push_back({resource.name, resource.weight});
    return r->AddPriority(
        p.name,
        [function](const PluginFactoryArgs& args) { return noderesources::RequestedToCapacityRatio(args, function); },
        p.weight, PriorityTraits(kPodRequests, ClusterPart::kNodePods, Normalisation::kNone));
  }
  const auto& a = *p.argument->label_preference;
  return r->AddPriority(
      p.name,
      [label = Symbol(a.label), presence = a.presence](const PluginFactoryArgs& args) {
        return nodelabel::LabelPreference(args, label, presence);
      },
      p.weight, PriorityTraits(kPodNothing, ClusterPart::kNode, Normalisation::kNone));
}

// Returns the keys in the order of evaluation: first those in the release's list, then the others by name. Upstream
// never evaluates the latter (bug B-15, fixed).
std::vector<std::string> InOrder(std::span<const std::string_view> ordering, std::set<std::string> keys) {
  std::vector<std::string> out;
  for (std::string_view key : ordering) {
    if (keys.erase(std::string(key)) > 0) out.emplace_back(key);
  }
  out.insert(out.end(), keys.begin(), keys.end());
  return out;
}

// Returns the predicate with that name and, if it is composed of others, these as its parts.
ConfiguredPredicate Configure(const Registry& registry, const std::string& key, const PluginFactoryArgs& args) {
  const Registry::Predicate& p = registry.predicates().find(key)->second;
  ConfiguredPredicate out{key, p.factory(args), p.traits, {}};
  for (const std::string& part : p.made_of) out.parts.push_back(Configure(registry, part, args));
  return out;
}

// What CreateFromConfig has found before the keys are known.
struct Build {
  Registry registry;
  std::vector<std::unique_ptr<Extender>> extenders;
  std::set<Symbol> ignored_resources;
  bool always_check_all_predicates = false;
};

// Builds a scheduler from the keys. `errors` are mistakes that are already known; if there are any, the result is an
// error that contains them and all that are found here.
absl::StatusOr<std::unique_ptr<GenericScheduler>> FromKeys(Build build, std::set<std::string> predicate_keys,
                                                           const std::set<std::string>& priority_keys,
                                                           const FactoryArgs& args, EffectiveAlgorithm* effective,
                                                           std::vector<std::string> errors = {}) {
  VLOG(2) << "Creating scheduler with fit predicates '" << SetText(predicate_keys) << "' and priority functions '"
          << SetText(priority_keys) << "'";
  const bool weights_are_good = errors.empty();  // otherwise a wrong weight may be what makes the total overflow
  int weight = args.hard_pod_affinity_symmetric_weight;
  if (weight < 1 || weight > 100) {
    errors.push_back(absl::StrCat("invalid hardPodAffinitySymmetricWeight: ", weight, ", must be in the range 1-100"));
  }
  AlgorithmConfig config;
  config.extenders = std::move(build.extenders);
  config.always_check_all_predicates = build.always_check_all_predicates || args.release->checks_all_predicates;
  config.args.cache = args.cache;
  config.args.volume_binder = args.volume_binder;
  config.args.gates = args.gates.algorithm;
  config.args.hard_pod_affinity_symmetric_weight = weight;
  config.args.max_score = args.release->max_score;
  config.release = args.release;
  config.sampler = args.sampler;
  config.args.claim_binder = args.claim_binder;
  config.args.ignored_extended_resources = std::move(build.ignored_resources);

  std::vector<std::string> added, problems;
  config.args.problems = &problems;  // filled by factories; report_problems adds the names
  auto report_problems = [&](const char* kind, const std::string& name) {
    for (const std::string& p : problems) errors.push_back(absl::StrCat(kind, " ", name, ": argument: ", p));
    problems.clear();
  };
  for (const std::string& key : predicate_keys) {
    if (!build.registry.predicates().contains(key)) {
      errors.push_back(absl::StrCat("Invalid predicate name \"", key, "\" specified - no corresponding function found",
                                    NameSuggestion(key, build.registry.predicates())));
    }
  }
  for (const std::string& key : build.registry.mandatory()) {
    if (predicate_keys.insert(key).second) added.push_back(key);
  }
  for (const std::string& key : InOrder(args.release->predicate_ordering, predicate_keys)) {
    if (!build.registry.predicates().contains(key)) continue;
    config.predicates.push_back(Configure(build.registry, key, config.args));
    report_problems("Predicate", key);
    const auto hint = build.registry.hints().find(key);
    if (hint != build.registry.hints().end()) config.hints.emplace(key, hint->second);
  }
  for (const ConfiguredPredicate& p : config.predicates) config.args.predicates.push_back(p.name);
  int64_t total = 0;
  bool overflown = false;
  for (const std::string& key : priority_keys) {
    auto it = build.registry.priorities().find(key);
    if (it == build.registry.priorities().end()) {
      errors.push_back(absl::StrCat("Invalid priority name ", key, " specified - no corresponding function found",
                                    NameSuggestion(key, build.registry.priorities())));
      continue;
    }
    int64_t product;
    overflown |= __builtin_mul_overflow(it->second.weight, args.release->max_score, &product) ||
                 __builtin_add_overflow(total, product, &total);
    config.priorities.push_back({key, it->second.factory(config.args), it->second.weight, it->second.traits});
    report_problems("Priority", key);
  }
  if (overflown && weights_are_good) errors.push_back("Total priority of priority functions has overflown");
  config.args.problems = nullptr;
  if (args.problems != nullptr) args.problems->insert(args.problems->end(), errors.begin(), errors.end());
  BERTH_RETURN_IF_ERROR(Joined(errors));
  if (effective != nullptr) {
    *effective = {};
    for (const auto& p : config.predicates) effective->predicates.push_back(p.name);
    for (const auto& p : config.priorities) effective->priorities.emplace_back(p.name, p.weight);
    effective->mandatory = added;
    effective->not_incremental = config.NotIncremental();
  }
  return std::make_unique<GenericScheduler>(args.cache, std::move(config), args.nominated, args.clock);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromKeys(const std::set<std::string>& predicate_keys,
                                                                 const std::set<std::string>& priority_keys,
                                                                 FactoryArgs args, EffectiveAlgorithm* effective) {
  Build build;
  build.registry = RegistryFor(args);
  return FromKeys(std::move(build), predicate_keys, priority_keys, args, effective);
}

absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProvider(std::string_view name, FactoryArgs args,
                                                                     EffectiveAlgorithm* effective) {
  VLOG(2) << "Creating scheduler from algorithm provider '" << name << "'";
  if (args.release->policy_names != nullptr) {
    auto profile = configuration::ProfileOfProvider(name, args.hard_pod_affinity_symmetric_weight,
                                                    PluginsToConfigure(*args.release));
    if (!profile.ok()) return profile.status();
    return CreateFromProfile(*profile, {}, std::move(args), effective);
  }
  Build build;
  build.registry = RegistryFor(args);
  const Registry::Provider* provider = build.registry.MutableProvider(name);
  if (provider == nullptr) {
    return util::NotFound(absl::StrCat("plugin \"", util::ToAbsl(name), "\" has not been registered",
                                       NameSuggestion(name, build.registry.providers())));
  }
  Registry::Provider keys = *provider;
  return FromKeys(std::move(build), keys.predicates, keys.priorities, args, effective);
}

absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromConfig(const Policy& policy, FactoryArgs args,
                                                                   EffectiveAlgorithm* effective) {
  if (args.release->policy_names != nullptr) {
    auto profile = configuration::ProfileOfPolicy(policy, args.release->policy_names(),
                                                  PluginsToConfigure(*args.release), args.release->plugins());
    if (!profile.ok()) return profile.status();
    return CreateFromProfile(*profile, policy.extenders, std::move(args), effective);
  }
  Build build;
  build.registry = RegistryFor(args);
  // All mistakes of the Policy are collected, so that users see them together.
  std::vector<std::string> errors = ValidatePolicy(policy);
  auto note = [&](const absl::Status& s) {
    if (!s.ok()) errors.push_back(util::Message(s));
    return s.ok();
  };

  Registry::Provider defaults = *build.registry.MutableProvider(kDefaultProvider);
  std::set<std::string> predicate_keys, priority_keys;
  if (policy.predicates) {
    for (const PredicatePolicy& p : *policy.predicates) {
      VLOG(2) << "Registering predicate: " << p.name;
      if (note(RegisterCustom(&build.registry, p))) predicate_keys.insert(p.name);
    }
  } else if (!args.release->absent_lists_are_empty) {
    VLOG(2) << "Using predicates from algorithm provider '" << kDefaultProvider << "'";
    predicate_keys = defaults.predicates;
  }
  if (policy.priorities) {
    for (const PriorityPolicy& p : *policy.priorities) {
      VLOG(2) << "Registering priority: " << p.name;
      if (note(RegisterCustom(*args.release, &build.registry, p))) priority_keys.insert(p.name);
    }
  } else if (!args.release->absent_lists_are_empty) {
    VLOG(2) << "Using priorities from algorithm provider '" << kDefaultProvider << "'";
    priority_keys = defaults.priorities;
  }
  for (ExtenderConfig e : policy.extenders) {
    if (!args.release->extenders_manage_resources) e.managed_resources.clear();
    e.names_verb = release::history::kExtenderFailures.Has(args.release->version);
    // That of an extender that scores is checked by ValidatePolicy.
    if (args.release->extenders_need_weight && e.weight <= 0 && e.prioritize_verb.empty()) {
      errors.push_back(absl::StrCat("Priority for extender ", http::RedactUrl(e.url_prefix),
                                    " should have a positive weight applied to it"));
    }
    VLOG(2) << "Creating extender with config " << http::RedactUrl(e.url_prefix);
    if (args.make_extender == nullptr) {
      errors.push_back(
          absl::StrCat("extender ", http::RedactUrl(e.url_prefix), ": extenders cannot be called from here"));
    } else if (auto extender = args.make_extender(e); extender.ok()) {
      build.extenders.push_back(std::move(*extender));
    } else {
      errors.push_back(util::Message(extender.status()));
    }
    // Also when the extender cannot be created, so that its resources cause no further errors.
    for (const ExtenderManagedResource& m : e.managed_resources) {
      if (m.ignored_by_scheduler) build.ignored_resources.insert(Symbol(m.name));
    }
  }
  build.always_check_all_predicates = policy.always_check_all_predicates;
  if (policy.hard_pod_affinity_symmetric_weight != 0) {
    // FromKeys checks the range. A value that an int cannot hold stays out of range.
    args.hard_pod_affinity_symmetric_weight = static_cast<int>(std::clamp<int64_t>(
        policy.hard_pod_affinity_symmetric_weight, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  }
  return FromKeys(std::move(build), predicate_keys, priority_keys, args, effective, std::move(errors));
}

}  // namespace berth::scheduler
