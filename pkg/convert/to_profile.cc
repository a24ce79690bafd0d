#include "pkg/convert/to_profile.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <limits>
#include <set>
#include <variant>

#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using configuration::ExtensionPoint;
using configuration::NodeAffinityArgs;
using configuration::NodeLabelArgs;
using configuration::PluginCatalogue;
using configuration::PodTopologySpreadArgs;
using configuration::ResolvedProfile;
using configuration::ServiceAffinityArgs;
using util::ToAbsl;

constexpr std::string_view kCsiLimits = "NodeVolumeLimits";

// Why a rule has no successor.
struct Ended {
  std::string_view rule, why;
};
constexpr Ended kEnded[] = {
    {"CheckNodeMemoryPressure", "the pressure became a taint of the node, and TaintToleration decides in its place"},
    {"CheckNodeDiskPressure", "the pressure became a taint of the node, and TaintToleration decides in its place"},
    {"CheckNodePIDPressure", "the pressure became a taint of the node, and TaintToleration decides in its place"},
    {"NodePreferAvoidPods",
     "it was removed: the annotation scheduler.alpha.kubernetes.io/preferAvoidPods has no effect; "
     "a taint with effect PreferNoSchedule keeps pods away"},
    {"ResourceLimitsPriority", "it was removed, and no plugin looks at limits"},
    {"ServiceAffinity",
     "it was removed: pods of a service go where they go; a required affinity of the pods themselves "
     "keeps them together"},
};

class Profiler {
 public:
  Profiler(const ProfileMeaning& profile, const PluginCatalogue& catalogue, std::string path, Notes* notes)
      : rules_(profile.rules), catalogue_(catalogue), path_(std::move(path)), notes_(notes) {}

  Wanted Run() {
    TakeArgs();
    for (const auto& p : rules_.at(ExtensionPoint::kFilter)) Filter(p.name);
    if (!catalogue_.Has(kLeast)) Allocation();
    for (const auto& p : rules_.at(ExtensionPoint::kScore)) Score(p.name, p.weight);
    if (label_weight_ != 0) SetScore(kNodeAffinity, label_weight_);
    Spread();
    AddedAffinity();
    FitWeights();
    return std::move(out_);
  }

 private:
  void Note(std::string_view subject, std::string text) {
    notes_->push_back({absl::StrCat(path_, ToAbsl(subject)), std::move(text)});
  }
  template <typename T>
  T& Args(std::string_view plugin) {
    configuration::PluginArgs& args = out_.args[std::string(plugin)];
    if (!std::holds_alternative<T>(args.typed)) args.typed = T();
    return std::get<T>(args.typed);
  }
  void Enable(std::string_view plugin) {
    if (!out_.Filters(plugin)) out_.filters.emplace_back(plugin);
  }
  void EnableScore(std::string_view plugin, int64_t weight) { out_.scores.emplace_back(plugin, weight); }

  // The arguments of plugins that the release has; others are translated with their rules.
  void TakeArgs() {
    for (const auto& [name, args] : rules_.args) {
      if (catalogue_.Has(name)) out_.args[name] = args;
    }
  }

  // ---- filters ----

  void Filter(const std::string& rule) {
    if (catalogue_.Implements(rule, ExtensionPoint::kFilter)) return Enable(rule);
    if (rule == kNodeLabel) return RequiredLabels();
    if (rule == "CheckNodeCondition") {
      Enable("NodeUnschedulable");
      return Note(
          "predicates: CheckNodeCondition",
          "conditions of nodes became taints: nodes that are not ready are left out by TaintToleration, if they "
          "have the taints; cordoned nodes are by NodeUnschedulable");
    }
    if (rule.ends_with("Limits") && catalogue_.Has(kCsiLimits)) {
      Enable(kCsiLimits);
      return Note(absl::StrCat("filter: ", rule),
                  "in-tree volumes became CSI volumes: NodeVolumeLimits counts them, by the limits of CSINode objects");
    }
    for (const Ended& e : kEnded) {
      if (e.rule == rule) return Note(absl::StrCat("filter: ", rule), std::string(e.why));
    }
    Note(absl::StrCat("filter: ", rule), "there is no such plugin, so pods may go where it would reject them");
  }

  void RequiredLabels() {
    const auto labels = rules_.Args<NodeLabelArgs>(kNodeLabel);
    configuration::NodeSelectorTerm term;
    for (const std::string& l : labels.present_labels) term.match_expressions.push_back({l, "Exists", {}});
    for (const std::string& l : labels.absent_labels) term.match_expressions.push_back({l, "DoesNotExist", {}});
    if (term.match_expressions.empty()) return;
    auto& added = Args<NodeAffinityArgs>(kNodeAffinity).added_affinity;
    if (!added) added.emplace();
    added->required = configuration::NodeSelector{{term}};
    if (rules_.Has(ExtensionPoint::kFilter, kNodeAffinity)) return;
    Enable(kNodeAffinity);
    Note("filter: NodeLabel",
         "NodeAffinity does it by addedAffinity, but then the pods' own node selectors count, too");
  }

  // ---- scores ----

  void Score(const std::string& rule, int64_t weight) {
    if (rule == kLeast || rule == kMost || rule == kRatio) {
      if (catalogue_.Has(rule)) EnableScore(rule, weight);
      return;
    }
    if (rule == kVolumeBinding) return VolumeScore(weight);
    if (catalogue_.Implements(rule, ExtensionPoint::kScore)) return EnableScore(rule, weight);
    if (rule == kNodeLabel) return PreferredLabels(weight);
    if (rule == kServiceAffinity || rule == kSelectorSpread || rule == "DynamicResources") return;
    for (const Ended& e : kEnded) {
      if (e.rule == rule)
        return Note(absl::StrCat("score: ", rule), absl::StrCat(ToAbsl(e.why), "; its weight was ", weight));
    }
    Note(absl::StrCat("score: ", rule), absl::StrCat("there is no such plugin; its weight was ", weight));
  }

  // It scores only with a shape, which a release without the score does not have.
  void VolumeScore(int64_t weight) {
    if (catalogue_.Implements(kVolumeBinding, ExtensionPoint::kScore)) return EnableScore(kVolumeBinding, weight);
    auto& args = Args<configuration::VolumeBindingArgs>(kVolumeBinding);
    if (!args.shape.empty()) Note("score: VolumeBinding", "the release does not score volumes");
    args.shape.clear();
  }

  // NodeResourcesFit has one scoring strategy, so one of the scores by allocation stays. LeastAllocated and
  // MostAllocated of the same resources add up to the difference of their weights and a constant.
  void Allocation() {
    int64_t least = 0, most = 0, ratio = 0;
    for (const auto& p : rules_.at(ExtensionPoint::kScore)) {
      if (p.name == kLeast) least = p.weight;
      if (p.name == kMost) most = p.weight;
      if (p.name == kRatio) ratio = p.weight;
    }
    const auto least_args = rules_.Args<configuration::NodeResourcesLeastAllocatedArgs>(kLeast);
    const auto most_args = rules_.Args<configuration::NodeResourcesMostAllocatedArgs>(kMost);
    if (least > 0 && most > 0 && least_args.resources == most_args.resources) {
      Note("score: NodeResourcesLeastAllocated and NodeResourcesMostAllocated",
           least == most ? "NodeResourcesFit has one strategy; the two cancel out but for rounding, so neither stays"
                         : absl::StrCat("NodeResourcesFit has one strategy; they differ from one with the weight ",
                                        least > most ? least - most : most - least, " only by rounding"));
      const int64_t both = std::min(least, most);
      least -= both;
      most -= both;
    }
    const int64_t best = std::max({least, most, ratio});
    if (best <= 0) return;
    const bool by_ratio = ratio == best, by_most = !by_ratio && most == best;
    const std::pair<std::string_view, int64_t> all[] = {
        {kRatio, by_ratio ? 0 : ratio}, {kMost, by_most ? 0 : most}, {kLeast, by_ratio || by_most ? least : 0}};
    for (const auto& [name, weight] : all) {
      if (weight > 0) {
        Note(absl::StrCat("score: ", ToAbsl(name)),
             absl::StrCat("NodeResourcesFit has one strategy, and another score had the larger weight; its weight was ",
                          weight));
      }
    }
    configuration::ScoringStrategy strategy;
    if (by_ratio) {
      const auto args = rules_.Args<configuration::RequestedToCapacityRatioArgs>(kRatio);
      strategy = {"RequestedToCapacityRatio", args.resources, configuration::RequestedToCapacityRatioParam{args.shape}};
    } else if (by_most) {
      strategy = {"MostAllocated", most_args.resources, {}};
    } else {
      strategy = {"LeastAllocated", least_args.resources, {}};
    }
    FitResourceWeights(&strategy.resources);
    Args<configuration::NodeResourcesFitArgs>(kFit).scoring_strategy = strategy;
    EnableScore(kFit, best);
  }

  // A strategy weighs resources from 1 to 100, and a score of its own does so without a limit.
  void FitResourceWeights(std::vector<configuration::ResourceSpec>* resources) {
    constexpr int64_t kMost = 100;
    int64_t largest = 0;
    for (const auto& r : *resources) largest = std::max(largest, r.weight);
    if (largest <= kMost) return;
    for (auto& r : *resources) {
      const double share = static_cast<double>(r.weight) / static_cast<double>(largest);
      r.weight = std::max<int64_t>(1, static_cast<int64_t>(share * kMost + 0.5));
    }
    Note("score: NodeResourcesFit resources",
         absl::StrCat("their weights go up to ", kMost, ", so those of up to ", largest, " are scaled"));
  }

  // Where NodeAffinity scores anyway, its weight becomes that of the labels, so that pods without preferences of their
  // own go where they went.
  void PreferredLabels(int64_t weight) {
    const auto labels = rules_.Args<NodeLabelArgs>(kNodeLabel);
    auto& added = Args<NodeAffinityArgs>(kNodeAffinity).added_affinity;
    if (!added) added.emplace();
    auto prefer = [&](const std::vector<std::string>& list, const char* op) {
      for (const std::string& label : list) {
        configuration::NodeSelectorTerm term;
        term.match_expressions.push_back({label, op, {}});
        added->preferred.push_back({1, std::move(term)});
      }
    };
    prefer(labels.present_labels_preference, "Exists");
    prefer(labels.absent_labels_preference, "DoesNotExist");
    const int64_t own = WeightOf(kNodeAffinity);
    label_weight_ = weight;
    if (own == 0) EnableScore(kNodeAffinity, weight);
    Note(
        "score: NodeLabel",
        absl::StrCat("NodeAffinity does it by addedAffinity: the best node gets the full score, also if it has only "
                     "some of the labels, and the pods' own preferences count, too",
                     own == 0 || own == weight ? "" : absl::StrCat(", with the weight ", weight, " instead of ", own)));
  }

  int64_t WeightOf(std::string_view rule) const {
    for (const auto& p : rules_.at(ExtensionPoint::kScore)) {
      if (p.name == rule) return p.weight;
    }
    return 0;
  }
  void SetScore(std::string_view plugin, int64_t weight) {
    for (auto& [name, old] : out_.scores) {
      if (name == plugin) return (void)(old = weight);
    }
    EnableScore(plugin, weight);
  }

  // ---- spreading ----

  using Constraints = std::vector<configuration::TopologySpreadConstraint>;
  static void Append(Constraints* list, const std::string& key, int32_t skew) {
    if (std::any_of(list->begin(), list->end(), [&](const auto& c) { return c.topology_key == key; })) return;
    configuration::TopologySpreadConstraint& c = list->emplace_back();
    c.max_skew = skew;
    c.topology_key = key;
    c.when_unsatisfiable = "ScheduleAnyway";
  }
  // Writes out what defaultingType System means.
  static void AppendSystem(Constraints* list) {
    Append(list, "kubernetes.io/hostname", 3);
    Append(list, "topology.kubernetes.io/zone", 5);
  }

  // Spreading over labels and SelectorSpread became default constraints of PodTopologySpread. It has one weight, which
  // is that of all together. A list of constraints counts only nodes that have all of its labels.
  void Spread() {
    const auto labels = rules_.Args<ServiceAffinityArgs>(kServiceAffinity).anti_affinity_labels_preference;
    const int64_t over_labels = catalogue_.Has(kServiceAffinity) || labels.empty() ? 0 : WeightOf(kServiceAffinity);
    const int64_t selector = catalogue_.Has(kSelectorSpread) ? 0 : WeightOf(kSelectorSpread);
    if (over_labels == 0 && selector == 0) return WriteOutSystem();
    PodTopologySpreadArgs args = rules_.Args<PodTopologySpreadArgs>(kTopologySpread);
    const int64_t own = WeightOf(kTopologySpread);
    if (own == 0) args = {{}, "List"};
    const bool system = own != 0 && args.defaulting_type != "List";
    const std::string has_others =
        own == 0 && (over_labels == 0 || selector == 0) ? "" : "; one weight stands for all of its constraints";
    if (over_labels == 0 && (system || args.default_constraints.empty())) {
      args = {{}, "System"};
    } else {
      if (system) args = {{}, "List"};
      if (system || selector != 0) AppendSystem(&args.default_constraints);
    }
    if (over_labels != 0) {
      for (const std::string& label : labels) Append(&args.default_constraints, label, 1);
      Note("score: ServiceAffinity",
           absl::StrCat("PodTopologySpread does it by default constraints: with another formula, and for pods of "
                        "controllers, too",
                        has_others));
    }
    if (selector != 0) {
      Note("score: SelectorSpread", absl::StrCat("PodTopologySpread does it by its default constraints",
                                                 over_labels == 0 ? " (defaultingType System)" : "",
                                                 ": by node and zone, too, with another formula", has_others));
    }
    Args<PodTopologySpreadArgs>(kTopologySpread) = std::move(args);
    SetScore(kTopologySpread, own + over_labels + selector);
  }

  // Releases without multiPoint have no defaultingType System, and constraints have fewer fields.
  void WriteOutSystem() {
    if (catalogue_.has_multi_point() || !out_.args.contains(kTopologySpread)) return;
    auto args = rules_.Args<PodTopologySpreadArgs>(kTopologySpread);
    if (args.defaulting_type == "System") {
      args = {{}, "List"};
      AppendSystem(&args.default_constraints);
      if (rules_.Has(ExtensionPoint::kScore, kTopologySpread)) {
        Note("PodTopologySpread defaultingType System",
             "its two constraints are written out; without System, they count only nodes that have both labels");
      }
    }
    for (auto& c : args.default_constraints) {
      if (c.min_domains || c.node_affinity_policy || c.node_taints_policy || !c.match_label_keys.empty()) {
        Note(absl::StrCat("PodTopologySpread defaultConstraints ", c.topology_key),
             "minDomains, policies and matchLabelKeys came later and are lost");
      }
    }
    Args<PodTopologySpreadArgs>(kTopologySpread) = args;
  }

  // Releases without multiPoint have no added affinity; NodeLabel does a part of it.
  void AddedAffinity() {
    if (catalogue_.has_multi_point()) return;
    const auto added = rules_.Args<NodeAffinityArgs>(kNodeAffinity).added_affinity;
    out_.args.erase(std::string(kNodeAffinity));
    if (!added) return;
    NodeLabelArgs labels;
    bool simple = added->required && added->required->node_selector_terms.size() == 1;
    if (simple) {
      const auto& term = added->required->node_selector_terms[0];
      simple = term.match_fields.empty();
      for (const auto& r : term.match_expressions) {
        if (r.op == "Exists") labels.present_labels.push_back(r.key);
        if (r.op == "DoesNotExist") labels.absent_labels.push_back(r.key);
        simple = simple && (r.op == "Exists" || r.op == "DoesNotExist");
      }
    }
    if (simple) {
      Enable(kNodeLabel);
      Args<NodeLabelArgs>(kNodeLabel) = labels;
    }
    if (added->required && !simple) {
      Note("NodeAffinity addedAffinity required", "only whether labels exist could be said (NodeLabel), so it is lost");
    }
    if (!added->preferred.empty()) Note("NodeAffinity addedAffinity preferred", "the release has none");
  }

  // Weights of a configuration have 32 bits.
  void FitWeights() {
    constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
    int64_t largest = 0;
    for (const auto& [name, weight] : out_.scores) largest = std::max(largest, weight);
    if (largest <= kMost32) return;
    const int64_t by = largest / kMost32 + 1;
    for (auto& [name, weight] : out_.scores) weight = std::max<int64_t>(1, weight / by);
    Note("weights", absl::StrCat("they have 32 bits, so all are divided by ", by));
  }

  const ResolvedProfile& rules_;
  const PluginCatalogue& catalogue_;
  const std::string path_;
  Notes* notes_;
  int64_t label_weight_ = 0;  // of preferences for labels that NodeAffinity takes over
  Wanted out_;
};

}  // namespace

bool Wanted::Filters(std::string_view name) const {
  return std::find(filters.begin(), filters.end(), name) != filters.end();
}
bool Wanted::Scores(std::string_view name) const {
  return std::any_of(scores.begin(), scores.end(), [&](const auto& s) { return s.first == name; });
}

Wanted WantedIn(const ProfileMeaning& profile, const PluginCatalogue& catalogue, const std::string& path,
                Notes* notes) {
  return Profiler(profile, catalogue, path, notes).Run();
}

}  // namespace berth::convert
