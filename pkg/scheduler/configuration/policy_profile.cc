#include "pkg/scheduler/configuration/policy_profile.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "pkg/scheduler/configuration/profile_by_point.h"
#include "pkg/scheduler/configuration/validation.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler::configuration {
namespace {

using util::GoQuoted;

constexpr std::string_view kInterPodAffinity = "InterPodAffinity";

template <typename Rows>
auto FindRow(const Rows& rows, std::string_view name) {
  return std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
}

// Translates one Policy.
class Translator {
 public:
  Translator(const Policy& policy, const PolicyNames& names, const PluginCatalogue& catalogue,
             const PluginCatalogue& in_tree)
      : policy_(policy), names_(names), catalogue_(catalogue), in_tree_(in_tree) {}

  absl::StatusOr<ResolvedProfile> Run() {
    out_.scheduler_name = "default-scheduler";
    out_.always_check_all_filters = policy_.always_check_all_predicates;
    for (const auto& [point, plugin] : names_.always) out_.at(point).push_back({std::string(plugin), 0});
    AddPredicates();
    AddPriorities();
    if (policy_.hard_pod_affinity_symmetric_weight < 0 || policy_.hard_pod_affinity_symmetric_weight > 100) {
      errors_.push_back(absl::StrCat("hardPodAffinitySymmetricWeight: Invalid value: ",
                                     policy_.hard_pod_affinity_symmetric_weight, ": not in valid range [0-100]"));
    }
    std::vector<Problem> of_extenders;
    ValidateExtenders(policy_.extenders, &of_extenders);
    for (const Problem& p : of_extenders) errors_.push_back(p.text);
    SetArgs();
    // Mistakes in names would cause others here.
    if (errors_.empty()) {
      std::vector<Problem> problems;
      CheckByPoint(out_, "profiles[0]", catalogue_, &problems);
      for (const Problem& p : problems) errors_.push_back(p.text);
    }
    if (errors_.empty()) return std::move(out_);
    return util::InvalidArgument(errors_.size() == 1 ? errors_[0]
                                                     : absl::StrCat("[", absl::StrJoin(errors_, ", "), "]"));
  }

 private:
  std::string Canonical(const std::string& name) const {
    for (const PolicyNames::Alias& a : names_.aliases) {
      if (a.alias == name) return std::string(a.name);
    }
    return name;
  }
  bool IsOwnPlugin(const std::string& name, ExtensionPoint p) const {
    return !in_tree_.Has(name) && catalogue_.Implements(name, p);
  }
  // Adds the plugin at those of the extension points that it implements.
  void Enable(std::string_view plugin, std::initializer_list<ExtensionPoint> points, int64_t weight = 0) {
    for (ExtensionPoint p : points) {
      if (!catalogue_.Implements(plugin, p)) continue;
      out_.at(p).push_back({std::string(plugin), p == ExtensionPoint::kScore ? weight : 0});
    }
  }
  void EnableFilter(std::string_view plugin) {
    using enum ExtensionPoint;
    Enable(plugin, {kPreFilter, kFilter, kReserve, kPreBind});
  }
  template <typename Rows>
  std::string Suggestion(const std::string& name, const Rows& rows) const {
    std::vector<std::string> known;
    for (const auto& row : rows) known.emplace_back(row.name);
    return util::SuggestionFor(name, known);
  }

  // Returns the name under which an entry is known, and collects its arguments. Empty for a mistake. The argument of an
  // entry whose name is known already has no effect (kept).
  std::string NameOf(const PredicatePolicy& p) {
    const int given =
        p.argument ? p.argument->service_affinity.has_value() + p.argument->labels_presence.has_value() : 1;
    if (given != 1) {
      errors_.push_back(
          absl::StrCat("Exactly 1 predicate argument is required, numArgs: ", given, ", Predicate: ", p.name));
      return {};
    }
    const std::string name = Canonical(p.name);
    if (FindRow(names_.predicates, name) != names_.predicates.end() || IsOwnPlugin(name, ExtensionPoint::kFilter)) {
      return name;
    }
    if (!p.argument) {
      errors_.push_back(absl::StrCat("Invalid configuration: Predicate type not found for ", GoQuoted(p.name),
                                     Suggestion(p.name, names_.predicates)));
      return {};
    }
    auto append = [](const std::vector<std::string>& labels, std::vector<std::string>* to) {
      to->insert(to->end(), labels.begin(), labels.end());
    };
    if (const auto& a = p.argument->service_affinity) {
      append(a->labels, &services_.affinity_labels);
      return std::string(names_.service_affinity);
    }
    const auto& a = *p.argument->labels_presence;
    append(a.labels, a.presence ? &labels_.present_labels : &labels_.absent_labels);
    return std::string(names_.labels_presence);
  }

  void AddPredicates() {
    std::set<std::string, std::less<>> wanted;
    if (policy_.predicates) {
      for (const PredicatePolicy& p : *policy_.predicates) wanted.insert(NameOf(p));
    }
    for (const PolicyNames::Predicate& row : names_.predicates) {
      if (!row.mandatory && !(policy_.predicates ? wanted.contains(row.name) : row.by_default)) continue;
      for (std::string_view plugin : row.plugins) EnableFilter(plugin);
    }
    for (const std::string& name : wanted) {
      if (IsOwnPlugin(name, ExtensionPoint::kFilter)) EnableFilter(name);
    }
  }

  // Does the same for priorities. Entries with arguments of one kind become one plugin.
  std::string NameOf(const PriorityPolicy& p) {
    const auto* a = p.argument ? &*p.argument : nullptr;
    const int given = a == nullptr ? 1
                                   : a->service_anti_affinity.has_value() + a->label_preference.has_value() +
                                         a->requested_to_capacity_ratio.has_value();
    if (given != 1) {
      errors_.push_back(given == 0 ? absl::StrCat("No priority arguments set for priority ", p.name)
                                   : absl::StrCat("Exactly 1 priority argument is required, numArgs: ", given,
                                                  ", Priority: ", p.name));
      return {};
    }
    const std::string name = Canonical(p.name);
    if (FindRow(names_.priorities, name) != names_.priorities.end() || IsOwnPlugin(name, ExtensionPoint::kScore)) {
      // These take everything from arguments, and upstream crashes without any.
      if (name != names_.label_preference && name != names_.service_anti_affinity) return name;
      errors_.push_back(absl::StrCat("Priority ", GoQuoted(name), " needs another name to have an argument"));
      return {};
    }
    if (a == nullptr) {
      errors_.push_back(absl::StrCat("Invalid configuration: Priority type not found for ", GoQuoted(p.name),
                                     Suggestion(p.name, names_.priorities)));
      return {};
    }
    if (const auto& service = a->service_anti_affinity) {
      SameWeight("ServiceAntiAffinity", p, &first_service_);
      services_.anti_affinity_labels_preference.push_back(service->label);
      return std::string(names_.service_anti_affinity);
    }
    if (const auto& label = a->label_preference) {
      SameWeight("LabelPreference", p, &first_label_);
      (label->presence ? labels_.present_labels_preference : labels_.absent_labels_preference).push_back(label->label);
      return std::string(names_.label_preference);
    }
    if (first_ratio_ != nullptr) {
      errors_.push_back(absl::StrCat("Priority ", GoQuoted(p.name), " redeclares custom priority ",
                                     GoQuoted(names_.ratio), ", from:", GoQuoted(first_ratio_->name)));
    }
    first_ratio_ = &p;
    return std::string(names_.ratio);
  }
  void SameWeight(std::string_view kind, const PriorityPolicy& p, const PriorityPolicy** first) {
    if (*first == nullptr) {
      *first = &p;
    } else if ((*first)->weight != p.weight) {
      errors_.push_back(absl::StrCat(util::ToAbsl(kind), "  priority ", GoQuoted(p.name),
                                     " has a different weight with ", GoQuoted((*first)->name)));
    }
  }

  // As upstream, a weight is cut to 32 bits (kept).
  static int64_t Cut(int64_t weight) { return static_cast<int32_t>(static_cast<uint32_t>(weight)); }

  void AddPriorities() {
    constexpr int64_t kMaxWeight = std::numeric_limits<int64_t>::max() / 10;
    std::map<std::string, int64_t, std::less<>> weights;  // by name
    if (policy_.priorities) {
      for (const PriorityPolicy& p : *policy_.priorities) {
        if (p.weight <= 0 || p.weight >= kMaxWeight) {
          errors_.push_back(
              absl::StrCat("Priority ", p.name, " should have a positive weight applied to it or it has overflown"));
        }
        if (const std::string name = NameOf(p); !name.empty()) weights[name] = p.weight;
      }
    } else {
      for (const PolicyNames::Priority& row : names_.priorities) {
        if (row.default_weight != 0) weights[std::string(row.name)] = row.default_weight;
      }
    }
    // The weight of several entries is that of one of them for each.
    auto multiply = [&](std::string_view name, size_t entries) {
      if (auto it = weights.find(name); it != weights.end())
        it->second = Cut(it->second) * static_cast<int64_t>(entries);
    };
    multiply(names_.label_preference,
             labels_.present_labels_preference.size() + labels_.absent_labels_preference.size());
    multiply(names_.service_anti_affinity, services_.anti_affinity_labels_preference.size());
    for (const auto& [name, weight] : weights) {
      const auto row = FindRow(names_.priorities, name);
      const std::string_view plugin = row == names_.priorities.end() ? std::string_view(name) : row->plugin;
      const int64_t cut = Cut(weight);
      using enum ExtensionPoint;
      if (!plugin.empty()) Enable(plugin, {kPreScore, kScore}, cut == 0 ? 1 : cut);
    }
    prefers_affinity_ = weights.contains(names_.affinity);
  }

  void SetArgs() {
    if (policy_.hard_pod_affinity_symmetric_weight != 0 && prefers_affinity_) {
      out_.args[std::string(kInterPodAffinity)].typed =
          InterPodAffinityArgs{static_cast<int32_t>(policy_.hard_pod_affinity_symmetric_weight)};
    }
    out_.args["NodeLabel"].typed = labels_;
    out_.args["ServiceAffinity"].typed = services_;
    if (first_ratio_ == nullptr) return;
    const auto& given = *first_ratio_->argument->requested_to_capacity_ratio;
    RequestedToCapacityRatioArgs ratio{{}, {}};
    for (const auto& p : given.shape) {
      ratio.shape.push_back({static_cast<int32_t>(p.utilization), static_cast<int32_t>(p.score)});
    }
    for (const auto& r : given.resources) ratio.resources.push_back({r.name, r.weight});
    out_.args["RequestedToCapacityRatio"].typed = std::move(ratio);
  }

  const Policy& policy_;
  const PolicyNames& names_;
  const PluginCatalogue& catalogue_;
  const PluginCatalogue& in_tree_;
  ResolvedProfile out_;
  std::vector<std::string> errors_;
  NodeLabelArgs labels_;
  ServiceAffinityArgs services_;
  const PriorityPolicy *first_label_ = nullptr, *first_service_ = nullptr, *first_ratio_ = nullptr;
  bool prefers_affinity_ = false;
};

}  // namespace

absl::StatusOr<ResolvedProfile> ProfileOfPolicy(const Policy& policy, const PolicyNames& names,
                                                const PluginCatalogue& catalogue, const PluginCatalogue& in_tree) {
  return Translator(policy, names, catalogue, in_tree).Run();
}

absl::StatusOr<ResolvedProfile> ProfileOfProvider(std::string_view provider, int hard_pod_affinity_weight,
                                                  PluginCatalogue catalogue) {
  if (!catalogue.UseProvider(provider)) {
    return util::NotFound(absl::StrCat("algorithm provider ", GoQuoted(provider), " is not registered",
                                       util::SuggestionFor(std::string(provider), catalogue.ProviderNames())));
  }
  ResolvedProfile profile = DefaultProfile(catalogue);
  if (hard_pod_affinity_weight < 0 || hard_pod_affinity_weight > 100) {
    return util::InvalidArgument(absl::StrCat("initializing profiles: creating profile for scheduler name ",
                                              profile.scheduler_name,
                                              ": error initializing plugin \"InterPodAffinity\": "
                                              "hardPodAffinityWeight: Invalid value: ",
                                              hard_pod_affinity_weight, ": not in valid range [0-100]"));
  }
  profile.args[std::string(kInterPodAffinity)].typed = InterPodAffinityArgs{hard_pod_affinity_weight};
  return profile;
}

}  // namespace berth::scheduler::configuration
