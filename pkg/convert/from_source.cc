#include "pkg/convert/from_source.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "pkg/convert/policy_rules.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::convert {
namespace {

using configuration::ExtensionPoint;
using configuration::ResolvedProfile;
using scheduler::Policy;
using scheduler::PredicatePolicy;
using scheduler::PriorityPolicy;
using scheduler::Registry;

// ---- Policies of releases in which predicates and priorities are not plugins ----

class PolicyReader {
 public:
  PolicyReader(const Policy& policy, const Registry& registry, Notes* notes)
      : policy_(policy), registry_(registry), notes_(notes) {}

  // `provider` says what a Policy without one of the lists means.
  absl::StatusOr<ResolvedProfile> Read(const Registry::Provider& provider) {
    profile_.always_check_all_filters = policy_.always_check_all_predicates;
    if (policy_.predicates) {
      for (const PredicatePolicy& p : *policy_.predicates) Predicate(p);
    } else {
      for (const std::string& name : provider.predicates) Predicate({name, {}});
    }
    for (const std::string& name : registry_.mandatory()) Predicate({name, {}});
    if (policy_.priorities) {
      for (const PriorityPolicy& p : *policy_.priorities) Priority(p);
    } else {
      for (const std::string& name : provider.priorities) Priority({name, WeightOf(name), {}});
    }
    if (!errors_.empty()) return util::InvalidArgument(scheduler::JoinedErrors(errors_));
    FinishScores();
    if (profile_.Has(ExtensionPoint::kFilter, kNodeLabel) || profile_.Has(ExtensionPoint::kScore, kNodeLabel)) {
      profile_.args[std::string(kNodeLabel)].typed = labels_;
    }
    if (profile_.Has(ExtensionPoint::kFilter, kServiceAffinity) ||
        profile_.Has(ExtensionPoint::kScore, kServiceAffinity)) {
      profile_.args[std::string(kServiceAffinity)].typed = services_;
    }
    return std::move(profile_);
  }

 private:
  struct LabelScore {
    std::string label;
    bool presence;
    int64_t weight;
  };

  int64_t WeightOf(const std::string& name) const {
    auto it = registry_.priorities().find(name);
    return it == registry_.priorities().end() ? 1 : it->second.weight;
  }
  void Unknown(const char* kind, const std::string& name, std::span<const PolicyRule> rules) {
    std::vector<std::string> names;
    for (const PolicyRule& r : rules) names.emplace_back(r.name);
    errors_.push_back(absl::StrCat("Invalid configuration: ", kind, " type not found for ", util::GoQuoted(name),
                                   util::SuggestionFor(name, names)));
  }
  void Filter(std::string_view rule) {
    if (!profile_.Has(ExtensionPoint::kFilter, rule))
      profile_.at(ExtensionPoint::kFilter).push_back({std::string(rule)});
  }
  static void Append(const std::vector<std::string>& from, std::vector<std::string>* to) {
    for (const std::string& s : from) {
      if (std::find(to->begin(), to->end(), s) == to->end()) to->push_back(s);
    }
  }

  void Predicate(const PredicatePolicy& p) {
    if (p.argument && p.argument->labels_presence) {
      const auto& a = *p.argument->labels_presence;
      Append(a.labels, a.presence ? &labels_.present_labels : &labels_.absent_labels);
      return Filter(kNodeLabel);
    }
    if (p.argument && p.argument->service_affinity) {
      Append(p.argument->service_affinity->labels, &services_.affinity_labels);
      return Filter(kServiceAffinity);
    }
    if (p.name == kGeneralPredicates) {
      for (std::string_view part : GeneralParts()) Filter(part);
    } else if (const PolicyRule* rule = FindRule(Predicates(), p.name); rule != nullptr) {
      Filter(rule->rule);
    } else if (registry_.predicates().contains(p.name)) {
      Filter(p.name);
      if (p.argument) profile_.args[p.name].json = p.argument->json;
    } else {
      Unknown("Predicate", p.name, Predicates());
    }
  }

  void Score(std::string_view rule, int64_t weight) {
    auto& scores = profile_.at(ExtensionPoint::kScore);
    for (auto& s : scores) {
      if (s.name == rule) return (void)(s.weight += weight);
    }
    scores.push_back({std::string(rule), weight});
  }
  void Priority(const PriorityPolicy& p) {
    const auto* a = p.argument ? &*p.argument : nullptr;
    if (a != nullptr && a->label_preference) {
      label_scores_.push_back({a->label_preference->label, a->label_preference->presence, p.weight});
    } else if (a != nullptr && a->service_anti_affinity) {
      service_scores_.push_back({a->service_anti_affinity->label, true, p.weight});
    } else if (a != nullptr && a->requested_to_capacity_ratio) {
      Ratio(p.name, *a->requested_to_capacity_ratio, p.weight);
    } else if (const PolicyRule* rule = FindRule(Priorities(), p.name); rule != nullptr) {
      if (rule->rule == kRatio) return Ratio(p.name, {{{0, 10}, {100, 0}}, {}}, p.weight);
      if (!rule->rule.empty()) Score(rule->rule, p.weight);
    } else if (registry_.priorities().contains(p.name)) {
      Score(p.name, p.weight);
      if (a != nullptr) profile_.args[p.name].json = a->json;
    } else {
      Unknown("Priority", p.name, Priorities());
    }
  }

  // Later releases have one such score in a profile. The one with the largest weight stays.
  void Ratio(const std::string& name, const PriorityPolicy::Argument::RequestedToCapacityRatio& given, int64_t weight) {
    if (ratio_) {
      const bool better = weight > ratio_->second;
      notes_->push_back({absl::StrCat("priorities: ", better ? ratio_->first : name),
                         absl::StrCat("only one RequestedToCapacityRatio is possible, and ",
                                      better ? name : ratio_->first, " has the larger weight")});
      if (!better) return;
    }
    ratio_ = {name, weight};
    configuration::RequestedToCapacityRatioArgs args{{}, {}};
    for (const auto& p : given.shape) {
      args.shape.push_back({static_cast<int32_t>(p.utilization), static_cast<int32_t>(p.score)});
    }
    for (const auto& r : given.resources) args.resources.push_back({r.name, r.weight});
    if (args.resources.empty()) args.resources = {{"cpu", 1}, {"memory", 1}};
    profile_.args[std::string(kRatio)].typed = std::move(args);
  }

  // A score of several labels is the mean of theirs, so one that counts more is repeated.
  std::vector<LabelScore> Repeated(const std::vector<LabelScore>& scores, const char* what) {
    constexpr int64_t kMost = 64;
    int64_t unit = 0, total = 0;
    for (const LabelScore& s : scores) {
      unit = std::gcd(unit, s.weight);
      total += s.weight;
    }
    if (unit == 0 || total / unit <= kMost) unit = std::max<int64_t>(unit, 1);
    if (total / unit > kMost) {
      unit = total / kMost + 1;
      notes_->push_back({absl::StrCat("priorities: ", what), "their weights are rounded to shares of one weight"});
    }
    std::vector<LabelScore> out;
    for (const LabelScore& s : scores) {
      for (int64_t i = std::max<int64_t>(1, s.weight / unit); i > 0; --i) out.push_back(s);
    }
    return out;
  }
  void FinishScores() {
    int64_t total = 0;
    for (const LabelScore& s : label_scores_) total += s.weight;
    if (total > 0) Score(kNodeLabel, total);
    for (const LabelScore& s : Repeated(label_scores_, "those with labelPreference")) {
      (s.presence ? labels_.present_labels_preference : labels_.absent_labels_preference).push_back(s.label);
    }
    total = 0;
    for (const LabelScore& s : service_scores_) total += s.weight;
    if (total > 0) Score(kServiceAffinity, total);
    for (const LabelScore& s : Repeated(service_scores_, "those with serviceAntiAffinity")) {
      services_.anti_affinity_labels_preference.push_back(s.label);
    }
    if (ratio_) Score(kRatio, ratio_->second);
  }

  const Policy& policy_;
  const Registry& registry_;
  Notes* notes_;
  ResolvedProfile profile_;
  configuration::NodeLabelArgs labels_;
  configuration::ServiceAffinityArgs services_;
  std::vector<LabelScore> label_scores_, service_scores_;
  std::optional<std::pair<std::string, int64_t>> ratio_;  // the name and the weight of the one that counts
  std::vector<std::string> errors_;
};

absl::StatusOr<ResolvedProfile> RulesByNames(const Source& source, const std::map<std::string, bool>& gates,
                                             Meaning* meaning, Notes* notes) {
  const scheduler::Release& decides = releases::Of(*source.release).decides;
  Registry registry = scheduler::RegisteredAlgorithms(decides);
  if (decides.apply_gates != nullptr) decides.apply_gates(GatesOf(decides, gates), &registry);
  auto provider = registry.providers().find(source.provider.value_or(std::string(scheduler::kDefaultProvider)));
  if (provider == registry.providers().end()) {
    return util::InvalidArgument(
        absl::StrCat("algorithmSource.provider: ", util::GoQuoted(*source.provider), ": there is no such provider"));
  }
  for (const PolicyRule& r : Predicates()) {
    if (r.in.Has(source.release->version)) meaning->known.emplace(r.rule);
  }
  for (const PolicyRule& r : Priorities()) {
    if (r.in.Has(source.release->version)) meaning->known.emplace(r.rule);
  }
  Registry::Provider lists = provider->second;
  if (source.policy && decides.absent_lists_are_empty) lists = {};
  auto rules = PolicyReader(source.policy.value_or(Policy()), registry, notes).Read(lists);
  if (!rules.ok()) return rules.status();
  const int64_t own = source.policy ? source.policy->hard_pod_affinity_symmetric_weight : 0;
  const int32_t weight = own != 0 ? static_cast<int32_t>(own) : source.hard_pod_affinity_weight;
  rules->args[std::string(kInterPodAffinity)].typed = configuration::InterPodAffinityArgs{weight};
  return rules;
}

// ---- profiles of plugins ----

// Splits NodeResourcesFit into what filters and what scores, as releases did before it took over the scores.
void SplitFit(ResolvedProfile* rules) {
  auto it = rules->args.find(kFit);
  if (it == rules->args.end()) return;
  auto* fit = std::get_if<configuration::NodeResourcesFitArgs>(&it->second.typed);
  auto& scores = rules->at(ExtensionPoint::kScore);
  auto score = std::find_if(scores.begin(), scores.end(), [](const auto& p) { return p.name == kFit; });
  if (fit == nullptr || score == scores.end() || !fit->scoring_strategy) return;
  const configuration::ScoringStrategy strategy = *fit->scoring_strategy;
  if (strategy.type == "RequestedToCapacityRatio") {
    score->name = kRatio;
    configuration::RequestedToCapacityRatioArgs args{{}, strategy.resources};
    if (strategy.requested_to_capacity_ratio) args.shape = strategy.requested_to_capacity_ratio->shape;
    rules->args[score->name].typed = std::move(args);
  } else if (strategy.type == "MostAllocated") {
    score->name = kMost;
    rules->args[score->name].typed = configuration::NodeResourcesMostAllocatedArgs{strategy.resources};
  } else {
    score->name = kLeast;
    rules->args[score->name].typed = configuration::NodeResourcesLeastAllocatedArgs{strategy.resources};
  }
  fit->scoring_strategy = configuration::NodeResourcesFitArgs().scoring_strategy;
}

// A Policy's score by capacity without resources gives every node 0 where it is a plugin, and the defaults elsewhere.
void DropEmptyRatio(const release::Id& release, ResolvedProfile* rules, Notes* notes) {
  auto& scores = rules->at(ExtensionPoint::kScore);
  const bool empty = rules->Args<configuration::RequestedToCapacityRatioArgs>(kRatio).resources.empty();
  if (!empty || std::erase_if(scores, [](const auto& p) { return p.name == kRatio; }) == 0) return;
  notes->push_back({absl::StrCat("score: ", std::string(kRatio)),
                    absl::StrCat("without resources it scores every node 0 in release ", std::string(release.name),
                                 ", so it is left out; name cpu and memory as its resources to have it count")});
}

// Finds how a profile differs from the default one where plugins neither filter nor score.
void FindChanges(const ResolvedProfile& profile, const ResolvedProfile& plain, ProfileMeaning* out) {
  for (ExtensionPoint p : configuration::ExtensionPoints()) {
    if (std::find(std::begin(kFilterPoints), std::end(kFilterPoints), p) != std::end(kFilterPoints)) continue;
    if (std::find(std::begin(kScorePoints), std::end(kScorePoints), p) != std::end(kScorePoints)) continue;
    PointChange change;
    for (const auto& d : plain.at(p)) {
      if (!profile.Has(p, d.name)) change.removed.push_back(d.name);
    }
    for (const auto& h : profile.at(p)) {
      if (!plain.Has(p, h.name)) change.added.push_back(h.name);
    }
    if (!change.removed.empty() || !change.added.empty()) out->changes[p] = std::move(change);
  }
}

}  // namespace

absl::StatusOr<Meaning> MeaningOf(const Source& source, const std::map<std::string, bool>& gates, Notes* notes) {
  const scheduler::Release& decides = releases::Of(*source.release).decides;
  Meaning out;
  out.max_score = decides.max_score;
  out.process = source.process;
  out.has_process = source.has_process;
  out.extenders = source.policy ? source.policy->extenders : source.extenders;
  int32_t& percentage = out.process.percentage_of_nodes_to_score;
  if (decides.sampling == nullptr) {
    percentage = 100;
  } else if (percentage == 0) {
    percentage = static_cast<int32_t>(decides.sampling->default_percentage);
  }
  if (decides.plugins == nullptr) {
    auto rules = RulesByNames(source, gates, &out, notes);
    if (!rules.ok()) return rules.status();
    out.profiles.push_back({std::move(*rules), {}, {}});
  } else {
    const configuration::PluginCatalogue catalogue = scheduler::PluginsToConfigure(decides);
    for (const std::string& name : decides.plugins().Names()) out.known.insert(name);
    out.known.insert(source.gone.begin(), source.gone.end());
    for (std::string_view split : {kLeast, kMost, kRatio}) out.known.emplace(split);
    const ResolvedProfile plain = configuration::DefaultProfile(catalogue);
    for (std::string_view name : kForNewFields) {
      const auto points = configuration::ExtensionPoints();
      if (std::none_of(points.begin(), points.end(), [&](ExtensionPoint p) { return plain.Has(p, name); })) {
        out.known.erase(std::string(name));
      }
    }
    if (source.profiles.empty()) {
      auto profile =
          source.policy
              ? configuration::ProfileOfPolicy(*source.policy, decides.policy_names(), catalogue, decides.plugins())
              : configuration::ProfileOfProvider(*source.provider, source.hard_pod_affinity_weight, catalogue);
      if (!profile.ok()) return profile.status();
      if (source.policy) DropEmptyRatio(*source.release, &*profile, notes);
      out.profiles.push_back({std::move(*profile), {}, {}});
    }
    for (const ResolvedProfile& p : source.profiles) {
      ProfileMeaning& meaning = out.profiles.emplace_back(ProfileMeaning{p, {}, {}});
      if (out.profiles.size() <= source.percentages.size()) {
        meaning.percentage = source.percentages[out.profiles.size() - 1];
      }
      FindChanges(p, configuration::DefaultProfile(catalogue, p.gates), &meaning);
    }
    for (ProfileMeaning& p : out.profiles) {
      SplitFit(&p.rules);
      // Without multiPoint, a release has no constraints by default.
      if (!catalogue.has_multi_point() && !p.rules.args.contains(kTopologySpread)) {
        p.rules.args[std::string(kTopologySpread)].typed = configuration::PodTopologySpreadArgs{{}, "List"};
      }
    }
  }
  if (!source.profiles.empty()) return out;
  ProfileMeaning& only = out.profiles[0];
  only.rules.scheduler_name = source.scheduler_name;
  if (!source.preempts) only.changes[ExtensionPoint::kPostFilter].removed.emplace_back(kPreemption);
  if (source.bind_timeout_seconds) {
    only.rules.args[std::string(kVolumeBinding)].typed =
        configuration::VolumeBindingArgs{*source.bind_timeout_seconds, {}};
  }
  return out;
}

}  // namespace berth::convert
