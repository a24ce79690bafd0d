#include "pkg/scheduler/configuration/profile.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>

#include "pkg/scheduler/configuration/completed.h"
#include "pkg/scheduler/configuration/plugin_sets.h"
#include "pkg/scheduler/configuration/profile_by_point.h"
#include "pkg/scheduler/configuration/validation.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler::configuration {
namespace {

using util::GoQuoted;

bool Contains(const std::vector<Plugin>& plugins, std::string_view name) {
  return std::any_of(plugins.begin(), plugins.end(), [&](const Plugin& p) { return p.name == name; });
}

// Resolves one profile.
class Resolver {
 public:
  Resolver(const Profile& profile, std::string path, const PluginCatalogue& catalogue, const Gates& gates,
           std::vector<Problem>* problems, std::vector<std::string>* notices)
      : profile_(profile),
        path_(std::move(path)),
        catalogue_(catalogue),
        gates_(gates),
        problems_(problems),
        notices_(notices) {
    prefix_ = absl::StrCat("initializing profiles: creating profile for scheduler name ",
                           profile.scheduler_name.value_or(""), ": ");
  }

  // The order of the steps is the order in which 1.29 finds and reports errors.
  ResolvedProfile Resolve() {
    ResolvedProfile out;
    out.scheduler_name = profile_.scheduler_name.value_or("");
    multi_point_ = MergedMultiPoint(profile_.plugins.multi_point, catalogue_, gates_);
    CheckNames();
    for (ExtensionPoint p : ExtensionPoints()) out.at(p) = Expand(p);
    SetWeights(&out.at(ExtensionPoint::kScore));
    CheckSortAndBind(out);
    SetArgs(&out);
    out.gates = gates_;
    return out;
  }

 private:
  void Fail(const std::string& path, const std::string& text, std::string hint = {}) {
    problems_->push_back(
        {Problem::Kind::kProfile, absl::StrCat(path_, ".", path), absl::StrCat(prefix_, text), std::move(hint)});
  }

  // Returns a hint with the existing names: those of an extension point, or all of them if `point` is null.
  std::string NamesHint(const std::string& name, const ExtensionPoint* point) const {
    std::vector<std::string> names = point != nullptr ? catalogue_.Names(*point) : catalogue_.Names();
    std::string near = util::DidYouMean(name, names);
    if (near.empty() && !catalogue_.Has(name)) near = util::DidYouMean(name, catalogue_.Names());
    return absl::StrCat(near, near.empty() ? "" : " ",
                        names.empty() ? "there are none" : "there are: ", absl::StrJoin(names, ", "));
  }

  // Reports enabled plugins that do not exist or do not implement the extension point.
  void CheckNames() {
    for (ExtensionPoint p : ExtensionPoints()) {
      const PluginSet& set = SetOf(profile_.plugins, p);
      const std::string field = absl::StrCat("plugins.", util::ToAbsl(FieldName(p)));
      for (size_t i = 0; i < set.enabled.size(); ++i) CheckEnabled(p, set.enabled, i, field);
      NoteDisabled(set.disabled, field);
    }
    // Nothing here extends these points.
    CheckNone(profile_.plugins.placement_generate, "placementGenerate", "PlacementGeneratePlugin");
    CheckNone(profile_.plugins.placement_score, "placementScore", "PlacementScorePlugin");
    const std::vector<Plugin>& multi = profile_.plugins.multi_point.enabled;
    for (size_t i = 0; i < multi.size(); ++i) {
      const std::string at = absl::StrCat("plugins.multiPoint.enabled[", i, "].name");
      if (!catalogue_.Has(multi[i].name)) {
        Fail(at, absl::StrCat("PreFilterPlugin ", GoQuoted(multi[i].name), " does not exist"),
             NamesHint(multi[i].name, nullptr));
      }
    }
    NoteDisabled(profile_.plugins.multi_point.disabled, "plugins.multiPoint");
  }

  // Reports all plugins of an extension point that none extends.
  void CheckNone(const PluginSet& set, const std::string& field, const std::string& type) {
    for (size_t i = 0; i < set.enabled.size(); ++i) {
      const std::string& name = set.enabled[i].name;
      Fail(absl::StrCat("plugins.", field, ".enabled[", i, "].name"),
           catalogue_.Has(name) ? absl::StrCat("plugin ", GoQuoted(name), " does not extend ", type, " plugin")
                                : absl::StrCat(type, " ", GoQuoted(name), " does not exist"));
    }
  }

  // Only the first error of a plugin is reported.
  void CheckEnabled(ExtensionPoint p, const std::vector<Plugin>& enabled, size_t i, const std::string& field) {
    const std::string& name = enabled[i].name;
    const std::string at = absl::StrCat(field, ".enabled[", i, "].name");
    const std::string type(InterfaceName(p));
    if (!catalogue_.Has(name)) {
      return Fail(at, absl::StrCat(type, " ", GoQuoted(name), " does not exist"), NamesHint(name, &p));
    }
    if (!catalogue_.Implements(name, p)) {
      return Fail(at, absl::StrCat("plugin ", GoQuoted(name), " does not extend ", type, " plugin"),
                  NamesHint(name, &p));
    }
    for (size_t j = 0; j < i; ++j) {
      if (enabled[j].name != name) continue;
      return Fail(at, absl::StrCat("plugin ", GoQuoted(name), " already registered as ", GoQuoted(type)));
    }
  }

  void NoteDisabled(const std::vector<Plugin>& disabled, const std::string& field) {
    for (size_t i = 0; i < disabled.size(); ++i) {
      const std::string& name = disabled[i].name;
      if (name == "*" || catalogue_.Has(name) || notices_ == nullptr) continue;
      notices_->push_back(absl::StrCat(path_, ".", field, ".disabled[", i, "].name: there is no plugin ",
                                       GoQuoted(name), " to disable", util::SuggestionFor(name, catalogue_.Names())));
    }
  }

  // Returns the plugins of an extension point in calling order: first those that both the point and multiPoint name, in
  // the point's order; then the other plugins of multiPoint; then the other plugins of the point. Source:
  // expandMultiPointPlugins in pkg/scheduler/framework/runtime/framework.go.
  std::vector<ResolvedProfile::Plugin> Expand(ExtensionPoint p) {
    const PluginSet& own = SetOf(profile_.plugins, p);
    std::set<std::string> overridden, from_multi;
    std::vector<std::string> multi;
    bool all_disabled = Contains(own.disabled, "*");
    for (const Plugin& m : multi_point_) {
      if (all_disabled || !catalogue_.Implements(m.name, p) || Contains(own.disabled, m.name)) continue;
      if (Contains(own.enabled, m.name)) {
        overridden.insert(m.name);
      } else if (from_multi.insert(m.name).second) {
        multi.push_back(m.name);
      } else if (doubled_.insert(m.name).second) {
        Fail("plugins.multiPoint",
             absl::StrCat("plugin ", GoQuoted(m.name), " already registered as ", GoQuoted(InterfaceName(p))));
      }
    }
    std::vector<ResolvedProfile::Plugin> out;
    std::set<std::string> taken;
    auto take = [&](const std::string& name) {
      if (catalogue_.Implements(name, p) && taken.insert(name).second) out.push_back({name, 0});
    };
    for (const Plugin& e : own.enabled) {
      if (overridden.contains(e.name)) take(e.name);
    }
    for (const std::string& name : multi) take(name);
    for (const Plugin& e : own.enabled) take(e.name);
    return out;
  }

  // Sets the weights. The first mention counts: that in the score list, then that in multiPoint.
  void SetWeights(std::vector<ResolvedProfile::Plugin>* scores) {
    constexpr int64_t kMaxNodeScore = 100;
    const std::array<const std::vector<Plugin>*, 2> lists = {&profile_.plugins.score.enabled, &multi_point_};
    int64_t total = 0;
    for (ResolvedProfile::Plugin& s : *scores) {
      for (const std::vector<Plugin>* list : lists) {
        auto it = std::find_if(list->begin(), list->end(), [&](const Plugin& p) { return p.name == s.name; });
        if (it == list->end()) continue;
        s.weight = it->weight;
        break;
      }
      if (s.weight == 0) s.weight = 1;
      // Weights have 32 bits and may be negative.
      if (__builtin_add_overflow(total, s.weight * kMaxNodeScore, &total)) {
        return Fail("plugins.score", "total score of Score plugins could overflow");
      }
    }
  }

  void CheckSortAndBind(const ResolvedProfile& out) {
    size_t sorts = out.at(ExtensionPoint::kQueueSort).size();
    if (sorts != 1) {
      Fail("plugins.queueSort",
           absl::StrCat("only one queue sort plugin required for profile with scheduler name ",
                        GoQuoted(out.scheduler_name), ", but got ", sorts),
           NamesHint("", &kQueueSort));
    }
    if (out.at(ExtensionPoint::kBind).empty()) {
      Fail("plugins.bind",
           absl::StrCat("at least one bind plugin is needed for profile with scheduler name ",
                        GoQuoted(out.scheduler_name)),
           NamesHint("", &kBind));
    }
  }

  // Sets the arguments of enabled plugins: those in the file, or the defaults.
  void SetArgs(ResolvedProfile* out) {
    std::set<std::string> enabled;
    for (const auto& plugins : out->points) {
      for (const auto& p : plugins) enabled.insert(p.name);
    }
    for (const PluginConfig& config : DefaultPluginConfig(gates_)) {
      if (enabled.contains(config.name)) out->args[config.name] = config.args;
    }
    for (size_t i = 0; i < profile_.plugin_config.size(); ++i) {
      const PluginConfig& config = profile_.plugin_config[i];
      const std::string at = absl::StrCat("pluginConfig[", i, "]");
      if (!catalogue_.Has(config.name) && notices_ != nullptr) {
        notices_->push_back(absl::StrCat(path_, ".", at, ".name: there is no plugin ", GoQuoted(config.name),
                                         ", so its arguments have no effect",
                                         util::SuggestionFor(config.name, catalogue_.Names())));
      }
      if (!enabled.contains(config.name)) continue;
      out->args[config.name] = config.args;
      if (auto* fit = std::get_if<NodeResourcesFitArgs>(&config.args.typed)) {
        ValidateNodeResourcesFit(*fit, catalogue_.release(), absl::StrCat(path_, ".", at, ".args"),
                                 absl::StrCat(prefix_, "initializing plugin \"NodeResourcesFit\": "), problems_);
      }
    }
  }

  static constexpr ExtensionPoint kQueueSort = ExtensionPoint::kQueueSort;
  static constexpr ExtensionPoint kBind = ExtensionPoint::kBind;
  const Profile& profile_;
  const std::string path_;
  const PluginCatalogue& catalogue_;
  const Gates& gates_;
  std::vector<Problem>* problems_;
  std::vector<std::string>* notices_;
  std::string prefix_;
  std::vector<Plugin> multi_point_;
  std::set<std::string> doubled_;  // plugins that multiPoint names twice and that have been reported
};

}  // namespace

const PluginSet& SetOf(const Plugins& p, ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kPreFilter:
      return p.pre_filter;
    case ExtensionPoint::kFilter:
      return p.filter;
    case ExtensionPoint::kPostFilter:
      return p.post_filter;
    case ExtensionPoint::kReserve:
      return p.reserve;
    case ExtensionPoint::kPreScore:
      return p.pre_score;
    case ExtensionPoint::kScore:
      return p.score;
    case ExtensionPoint::kPreBind:
      return p.pre_bind;
    case ExtensionPoint::kBind:
      return p.bind;
    case ExtensionPoint::kPostBind:
      return p.post_bind;
    case ExtensionPoint::kPermit:
      return p.permit;
    case ExtensionPoint::kPreEnqueue:
      return p.pre_enqueue;
    case ExtensionPoint::kQueueSort:
      return p.queue_sort;
  }
  return p.multi_point;
}

bool ResolvedProfile::Has(ExtensionPoint p, std::string_view plugin) const {
  return std::any_of(at(p).begin(), at(p).end(), [&](const Plugin& x) { return x.name == plugin; });
}

std::vector<UtilizationShapePoint> DefaultVolumeShape(const Gates& gates) {
  if (gates.storage_capacity_scoring) return {{0, 10}, {100, 0}};
  if (gates.volume_capacity_priority) return {{0, 0}, {100, 10}};
  return {};
}

std::vector<ResolvedProfile> ResolveProfiles(const KubeSchedulerConfiguration& c, const PluginCatalogue& catalogue,
                                             const Gates& gates, std::vector<Problem>* problems,
                                             std::vector<std::string>* notices) {
  std::vector<ResolvedProfile> out;
  for (size_t i = 0; i < c.profiles.size(); ++i) {
    Profile profile = c.profiles[i];
    if (!catalogue.has_multi_point()) {
      out.push_back(ResolveByPoint(profile, absl::StrCat("profiles[", i, "]"), catalogue, problems, notices));
      continue;
    }
    // v1beta3 does not know this extension point and drops what the file contains for it.
    if (c.version == Version::kV1Beta3) profile.plugins.pre_enqueue = {};
    Resolver resolver(profile, absl::StrCat("profiles[", i, "]"), catalogue, gates, problems, notices);
    out.push_back(resolver.Resolve());
  }
  return out;
}

// Problems are ignored, because the default profile has none.
ResolvedProfile DefaultProfile(const PluginCatalogue& catalogue, const Gates& gates) {
  Profile profile;
  profile.scheduler_name = "default-scheduler";
  std::vector<Problem> problems;
  if (!catalogue.has_multi_point()) return ResolveByPoint(profile, "profiles[0]", catalogue, &problems, nullptr);
  return Resolver(profile, "profiles[0]", catalogue, gates, &problems, nullptr).Resolve();
}

}  // namespace berth::scheduler::configuration
