#include "pkg/scheduler/factory/from_profile.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "pkg/api/decode.h"
#include "pkg/http/url.h"
#include "pkg/release/history.h"
#include "pkg/scheduler/registry/unprepared_plugins.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using configuration::ExtensionPoint;
using configuration::ResolvedProfile;

constexpr int64_t kMaxExtenderScore = 10;

// Finds a rule by name among those of the release and then among those of plugin/.
template <typename Map>
const typename Map::mapped_type* FindRule(const Map& in_tree, const Map& others, std::string_view name) {
  if (auto it = in_tree.find(name); it != in_tree.end()) return &it->second;
  auto it = others.find(name);
  return it == others.end() ? nullptr : &it->second;
}

// Returns whether a plugin of the profile may read the objects that own pods: SelectorSpread, PodTopologySpread with
// default constraints, and one that is not the release's own. A release with the first has no default constraints but
// those of its arguments.
bool ReadsOwners(const Release& release, const ResolvedProfile& profile) {
  bool spreads = false;
  for (const auto point :
       {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kPreScore, ExtensionPoint::kScore}) {
    for (const auto& plugin : profile.at(point)) {
      if (plugin.name == "SelectorSpread" || !release.plugins().Has(plugin.name)) return true;
      spreads |= plugin.name == "PodTopologySpread";
    }
  }
  if (!spreads) return false;
  const auto args = profile.Args<configuration::PodTopologySpreadArgs>("PodTopologySpread");
  const bool has_system = !release.plugins().Has("SelectorSpread") && args.defaulting_type == "System";
  return has_system || !args.default_constraints.empty();
}

// Returns what pods of the profile must share to be placed in one batch, or nullopt if none of them may be: a plugin
// that is not the release's own cannot say what it reads, and default constraints depend on other objects.
std::optional<BatchParts> BatchPartsOf(const Release& release, const ResolvedProfile& profile) {
  BatchParts parts;
  for (const auto point :
       {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kPreScore, ExtensionPoint::kScore}) {
    for (const auto& [name, weight] : profile.at(point)) {
      if (!release.plugins().Has(name)) return std::nullopt;
      parts.tolerations |= name == "TaintToleration" || name == "NodeUnschedulable";
      parts.node_name |= name == "NodeName";
      parts.node_affinity |= name == "NodeAffinity";
      parts.host_ports |= name == "NodePorts";
      parts.requests |= name == "NodeResourcesFit" || name == "NodeResourcesBalancedAllocation";
      parts.volumes |=
          name == "VolumeRestrictions" || name == "NodeVolumeLimits" || name == "VolumeBinding" || name == "VolumeZone";
      parts.images |= name == "ImageLocality";
      parts.features |= name == "NodeDeclaredFeatures";
      parts.no_claims |= name == "DynamicResources";
      if (name == "PodTopologySpread") {
        const auto spread = profile.Args<configuration::PodTopologySpreadArgs>(name);
        if (spread.defaulting_type == "System" || !spread.default_constraints.empty()) return std::nullopt;
        parts.no_spread = true;
      }
      if (name == "InterPodAffinity") {
        parts.no_pod_affinity = true;
        parts.labels |=
            !profile.Args<configuration::InterPodAffinityArgs>(name).ignore_preferred_terms_of_existing_pods;
      }
    }
  }
  return parts;
}

absl::Status NotRegistered(std::string_view plugin) {
  return util::NotFound(absl::StrCat("plugin ", api::GoQuoted(plugin), " is not registered"));
}

// Kubernetes 1.29 scheduler.go New: if extenders have resources that the scheduler is to ignore, these, and no others,
// are the ones that NodeResourcesFit ignores in every profile.
void IgnoreResourcesOf(const std::vector<ExtenderConfig>& extenders, ResolvedProfile* profile) {
  std::vector<std::string> ignored;
  for (const ExtenderConfig& e : extenders) {
    for (const ExtenderManagedResource& m : e.managed_resources) {
      if (m.ignored_by_scheduler) ignored.push_back(m.name);
    }
  }
  if (ignored.empty()) return;
  auto fit = profile->Args<configuration::NodeResourcesFitArgs>("NodeResourcesFit");
  fit.ignored_resources = std::move(ignored);
  profile->args["NodeResourcesFit"].typed = std::move(fit);
}

// Makes the rules of a profile. In-tree rules have their arguments already; a rule of plugin/ reads the JSON of its
// own, and what it finds wrong is appended to `problems`.
class RuleMaker {
 public:
  RuleMaker(const ResolvedProfile& profile, const PluginFactoryArgs& args, const Registry& in_tree,
            std::vector<ArgumentProblem>* problems)
      : profile_(profile), args_(args), in_tree_(in_tree), problems_(problems) {}

  template <typename Rule>
  auto Make(const Rule& rule, const std::string& name) const {
    const bool in_tree = in_tree_.predicates().contains(name) || in_tree_.priorities().contains(name);
    PluginFactoryArgs own = args_;
    std::vector<std::string> found;
    own.problems = &found;
    const auto given = profile_.args.find(name);
    if (!in_tree && given != profile_.args.end()) own.arguments = given->second.json;
    if (!own.arguments.empty() && !rule.takes_arguments) found.push_back("the plugin takes no arguments");
    auto made = rule.factory(own);
    for (std::string& text : found) {
      const auto same = [&](const ArgumentProblem& p) { return p.plugin == name && p.text == text; };
      if (std::none_of(problems_->begin(), problems_->end(), same)) problems_->push_back({name, std::move(text)});
    }
    return made;
  }

 private:
  const ResolvedProfile& profile_;
  const PluginFactoryArgs& args_;
  const Registry& in_tree_;
  std::vector<ArgumentProblem>* problems_;
};

// Returns the rules of a profile with its weights and arguments. `others` contains the rules of plugin/. Returns an
// error if a plugin is not registered. If problems are found, the result may not be used.
absl::StatusOr<AlgorithmConfig> AlgorithmOf(const Release& release, const ResolvedProfile& profile,
                                            PluginFactoryArgs args, const Registry& others,
                                            std::vector<ArgumentProblem>* problems) {
  Registry registry;
  release.register_plugins(profile, &registry);
  AlgorithmConfig config;
  config.release = &release;
  config.args = std::move(args);
  config.args.max_score = release.max_score;
  config.always_check_all_predicates = profile.always_check_all_filters;
  const UnpreparedPlugins& unprepared = *release.unprepared;
  const RuleMaker maker(profile, config.args, registry, problems);
  // Adds one plugin: with or without its PreFilter (`prepared`), and with or without its Filter (`filters`).
  auto add = [&](std::string_view name, bool prepared, bool filters) {
    const Registry::Predicate* rule = FindRule(registry.predicates(), others.predicates(), name);
    if (rule == nullptr) return NotRegistered(name);
    FitPredicate predicate = maker.Make(*rule, std::string(name));
    if (!prepared) {
      predicate = unprepared.WithoutPreFilter(name, std::move(predicate));
      config.always_in_order = config.always_in_order || unprepared.FilterFails(name);
    }
    if (!filters) predicate = PreFilterAlone(std::move(predicate));
    config.predicates.push_back({std::string(name), std::move(predicate), rule->traits, {}});
    return absl::OkStatus();
  };
  for (const auto& [name, hint] : registry.hints()) config.hints.emplace(name, hint);
  const bool any_prepared = !profile.at(ExtensionPoint::kPreFilter).empty();
  for (const auto& plugin : profile.at(ExtensionPoint::kFilter)) {
    const bool prepares = unprepared.PreparesFilter(plugin.name);
    BERTH_RETURN_IF_ERROR(
        add(plugin.name, !prepares || (any_prepared && profile.Has(ExtensionPoint::kPreFilter, plugin.name)), true));
  }
  // A plugin with only a PreFilter can still reject a pod.
  for (const auto& plugin : profile.at(ExtensionPoint::kPreFilter)) {
    config.pre_filters.push_back(plugin.name);
    if (!profile.Has(ExtensionPoint::kFilter, plugin.name) && unprepared.PreparesFilter(plugin.name)) {
      BERTH_RETURN_IF_ERROR(add(plugin.name, true, false));
    }
    auto it = std::find_if(config.predicates.begin(), config.predicates.end(),
                           [&](const ConfiguredPredicate& p) { return p.name == plugin.name; });
    if (it != config.predicates.end()) {
      config.preparation_order.push_back(static_cast<size_t>(it - config.predicates.begin()));
    }
  }
  config.preempts = false;
  for (const auto& plugin : profile.at(ExtensionPoint::kPostFilter)) {
    config.post_filters.push_back(plugin.name);
    config.preempts |= plugin.name == "DefaultPreemption" || plugin.name == release.claims_plugin;
  }
  // A release that is older than gates waits for them as well.
  constexpr std::string_view kGates = "SchedulingGates";
  config.passes_gates = release.plugins().Has(kGates) && !profile.Has(ExtensionPoint::kPreEnqueue, kGates);
  config.reads_owners = ReadsOwners(release, profile);
  config.counts_batches = release.batches && profile.gates.opportunistic_batching;
  if (config.counts_batches) config.batch = BatchPartsOf(release, profile);
  for (const auto& plugin : profile.at(ExtensionPoint::kPreScore)) {
    // Without any Score plugin, every node has the total 1; a priority would change that.
    if (profile.at(ExtensionPoint::kScore).empty()) break;
    if (profile.Has(ExtensionPoint::kScore, plugin.name) || !unprepared.PreScoreMayFail(plugin.name)) continue;
    const Registry::Priority& rule = registry.priorities().find(plugin.name)->second;
    config.priorities.push_back({plugin.name, PreScoreAlone(rule.factory(config.args)), 1, rule.traits});
  }
  for (const auto& plugin : profile.at(ExtensionPoint::kScore)) {
    const Registry::Priority* rule = FindRule(registry.priorities(), others.priorities(), plugin.name);
    if (rule == nullptr) {
      // A plugin of the release that scores every node 0 is no priority.
      if (release.plugins().Implements(plugin.name, ExtensionPoint::kScore)) continue;
      return NotRegistered(plugin.name);
    }
    PriorityFunction function = maker.Make(*rule, plugin.name);
    if (!profile.Has(ExtensionPoint::kPreScore, plugin.name))
      function = unprepared.WithoutPreScore(plugin.name, function);
    config.priorities.push_back({plugin.name, std::move(function), plugin.weight, rule->traits});
  }
  return config;
}

}  // namespace

std::vector<ArgumentProblem> ArgumentProblemsOf(const Release& release, const ResolvedProfile& profile) {
  Cache cache(release.describe_template);
  PluginFactoryArgs args;
  args.cache = &cache;
  std::vector<ArgumentProblem> problems;
  AlgorithmOf(release, profile, std::move(args), FrozenRegistry(release), &problems).status().IgnoreError();
  return problems;
}

absl::StatusOr<std::unique_ptr<GenericScheduler>> CreateFromProfile(const configuration::ResolvedProfile& given,
                                                                    const std::vector<ExtenderConfig>& extenders,
                                                                    FactoryArgs args, EffectiveAlgorithm* effective) {
  BERTH_REQUIRES(args.cache != nullptr && args.release != nullptr && args.release->plugins != nullptr);
  PluginFactoryArgs rules;
  rules.cache = args.cache;
  rules.claim_binder = args.claim_binder;
  ResolvedProfile profile = given;
  IgnoreResourcesOf(extenders, &profile);
  std::vector<ArgumentProblem> problems;
  auto config = AlgorithmOf(*args.release, profile, std::move(rules), FrozenRegistry(*args.release), &problems);
  if (!config.ok()) {
    return util::InvalidArgument(
        absl::StrCat("profile ", util::GoQuoted(profile.scheduler_name), ": ", config.status().message()));
  }
  config->sampler = args.sampler;
  const bool asked_to_score = std::any_of(extenders.begin(), extenders.end(), [](const ExtenderConfig& e) {
    return !e.filter_verb.empty() || !e.prioritize_verb.empty();
  });
  const SamplingRules* sampling = args.release->sampling;
  if (sampling != nullptr && sampling->one_without_scores && args.sampler_without_scores != nullptr &&
      profile.at(ExtensionPoint::kScore).empty() && !asked_to_score) {
    config->sampler = args.sampler_without_scores;
    config->enough_nodes = 1;
  }
  std::vector<std::string> errors;
  for (const auto& [plugin, text] : problems) {
    errors.push_back(
        absl::StrCat("profile ", util::GoQuoted(profile.scheduler_name), ": plugin ", plugin, ": args: ", text));
  }
  // As in 1.29, extenders that are ignorable are called last, and the scores of extenders, which go from 0 to 10, are
  // scaled to those of plugins.
  std::vector<ExtenderConfig> asked = extenders;
  std::stable_partition(asked.begin(), asked.end(), [](const ExtenderConfig& e) { return !e.ignorable; });
  for (ExtenderConfig& e : asked) {
    e.weight *= config->release->max_score / kMaxExtenderScore;
    e.strict_answers = release::history::kAnswersUnresolvable.Has(args.release->version);
    e.refuses_unknown_nodes = e.names_verb = true;
    if (args.make_extender == nullptr) {
      errors.push_back(
          absl::StrCat("extender ", http::RedactUrl(e.url_prefix), ": extenders cannot be called from here"));
    } else if (auto extender = args.make_extender(e); extender.ok()) {
      config->extenders.push_back(std::move(*extender));
    } else {
      errors.push_back(util::Message(extender.status()));
    }
  }
  if (!errors.empty()) return util::InvalidArgument(absl::StrJoin(errors, "; "));
  if (!config->extenders.empty()) config->batch.reset();
  if (effective != nullptr) {
    *effective = {};
    for (const auto& p : config->predicates) effective->predicates.push_back(p.name);
    for (const auto& p : config->priorities) effective->priorities.emplace_back(p.name, p.weight);
    effective->not_incremental = config->NotIncremental();
  }
  return std::make_unique<GenericScheduler>(args.cache, std::move(*config), args.nominated, args.clock);
}

}  // namespace berth::scheduler
