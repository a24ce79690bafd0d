#include "pkg/convert/to_configuration.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "pkg/convert/encode.h"
#include "pkg/convert/to_profile.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/plugin_sets.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using configuration::DefaultPlugin;
using configuration::ExtensionPoint;
using configuration::KubeSchedulerConfiguration;
using configuration::PluginCatalogue;
using configuration::PluginSet;
using util::ToAbsl;

bool StaysOn(std::string_view plugin) {
  return std::find(std::begin(kForNewFields), std::end(kForNewFields), plugin) != std::end(kForNewFields);
}
bool IsOneOf(std::span<const ExtensionPoint> points, ExtensionPoint p) {
  return std::find(points.begin(), points.end(), p) != points.end();
}

PluginSet* MutableSet(configuration::Plugins* plugins, ExtensionPoint p) {
  return const_cast<PluginSet*>(&configuration::SetOf(*plugins, p));
}

// Makes the lists of one profile: what is to run, said as changes to what runs by default.
class ListWriter {
 public:
  ListWriter(const Meaning& meaning, const ProfileMeaning& profile, const Wanted& wanted,
             const PluginCatalogue& catalogue, const configuration::Gates& gates, std::string path, Notes* notes)
      : meaning_(meaning),
        profile_(profile),
        wanted_(wanted),
        catalogue_(catalogue),
        gates_(gates),
        path_(std::move(path)),
        notes_(notes) {
    if (catalogue_.has_multi_point()) multi_ = catalogue_.DefaultPlugins(gates_);
  }

  void Write(configuration::Plugins* out) {
    std::vector<std::string> off;
    for (const DefaultPlugin& d : multi_) {
      if (NowhereWanted(d.name)) off.emplace_back(d.name);
    }
    for (const std::string& name : off) {
      out->multi_point.disabled.push_back({name, 0});
      NoteNew(name, "off");
    }
    for (ExtensionPoint p : configuration::ExtensionPoints()) Point(p, off, out);
  }

 private:
  std::vector<DefaultPlugin> DefaultsAt(ExtensionPoint p) const {
    if (!catalogue_.has_multi_point()) return catalogue_.DefaultsAt(p);
    std::vector<DefaultPlugin> out;
    for (const DefaultPlugin& d : multi_) {
      if (catalogue_.Implements(d.name, p)) out.push_back(d);
    }
    return out;
  }
  // Returns whether a default plugin is to run at the extension point.
  bool Wants(std::string_view plugin, ExtensionPoint p) const {
    if (StaysOn(plugin) && !meaning_.known.contains(plugin)) return true;
    if (IsOneOf(kFilterPoints, p)) return wanted_.Filters(plugin);
    if (p == ExtensionPoint::kScore && plugin == kVolumeBinding) return wanted_.Filters(plugin);
    if (IsOneOf(kScorePoints, p))
      return wanted_.Scores(plugin) || (plugin == kVolumeBinding && wanted_.Filters(plugin));
    auto it = profile_.changes.find(p);
    if (it == profile_.changes.end()) return true;
    return std::find(it->second.removed.begin(), it->second.removed.end(), plugin) == it->second.removed.end();
  }
  bool NowhereWanted(std::string_view plugin) const {
    for (ExtensionPoint p : configuration::ExtensionPoints()) {
      if (catalogue_.Implements(plugin, p) && Wants(plugin, p)) return false;
    }
    return true;
  }
  // Returns whether the source itself turns the plugin off where plugins neither filter nor score.
  bool IsOffInSource(std::string_view plugin) const {
    return std::any_of(profile_.changes.begin(), profile_.changes.end(), [&](const auto& change) {
      const auto& removed = change.second.removed;
      return std::find(removed.begin(), removed.end(), plugin) != removed.end();
    });
  }
  // Says why a default plugin is off, or off at one extension point, that the source's release did not have.
  void NoteNew(std::string_view plugin, const std::string& off) {
    if (IsOffInSource(plugin)) return;
    if (meaning_.known.contains(plugin) || plugin == kFit || !noted_.emplace(plugin).second) return;
    notes_->push_back(
        {absl::StrCat(path_, ToAbsl(plugin)),
         absl::StrCat(off,
                      ", because the release of the source has no such rule; enable it to have pods' and nodes' "
                      "newer fields count")});
  }

  void Point(ExtensionPoint p, const std::vector<std::string>& off, configuration::Plugins* plugins) {
    PluginSet* out = MutableSet(plugins, p);
    const bool scores = p == ExtensionPoint::kScore;
    const std::vector<DefaultPlugin> defaults = DefaultsAt(p);
    for (const DefaultPlugin& d : defaults) {
      if (std::find(off.begin(), off.end(), d.name) != off.end()) continue;
      const int64_t weight = scores ? WeightOf(d.name) : 0;
      const bool changed = weight != 0 && weight != std::max(d.weight, 1);
      if (Wants(d.name, p) && !changed) continue;
      out->disabled.push_back({std::string(d.name), 0});
      if (changed) out->enabled.push_back({std::string(d.name), static_cast<int32_t>(weight)});
      if (!changed && p != ExtensionPoint::kPreFilter && p != ExtensionPoint::kPreScore) {
        NoteNew(d.name, NowhereWanted(d.name) ? "off" : absl::StrCat("off at ", std::string(FieldName(p))));
      }
    }
    auto add = [&](const std::string& name, int64_t weight) {
      const bool is_default =
          std::any_of(defaults.begin(), defaults.end(), [&](const DefaultPlugin& d) { return d.name == name; });
      if (!is_default && catalogue_.Implements(name, p)) out->enabled.push_back({name, static_cast<int32_t>(weight)});
    };
    if (IsOneOf(kFilterPoints, p)) {
      for (const std::string& name : wanted_.filters) {
        if (!StaysOn(name)) add(name, 0);
      }
    } else if (IsOneOf(kScorePoints, p)) {
      for (const auto& [name, weight] : wanted_.scores) add(name, scores ? weight : 0);
    } else if (auto it = profile_.changes.find(p); it != profile_.changes.end()) {
      for (const std::string& name : it->second.added) {
        add(name, 0);
        if (catalogue_.Implements(name, p)) continue;
        notes_->push_back({absl::StrCat(path_, std::string(FieldName(p)), ": ", name), "there is no such plugin"});
      }
    }
  }
  int64_t WeightOf(std::string_view plugin) const {
    for (const auto& [name, weight] : wanted_.scores) {
      if (name == plugin) return weight;
    }
    return 0;
  }

  const Meaning& meaning_;
  const ProfileMeaning& profile_;
  const Wanted& wanted_;
  const PluginCatalogue& catalogue_;
  const configuration::Gates& gates_;
  const std::string path_;
  Notes* notes_;
  std::vector<DefaultPlugin> multi_;
  std::set<std::string, std::less<>> noted_;
};

// The arguments that only one kind of releases has.
constexpr std::string_view kArgsByPoint[] = {kLeast, kMost, kRatio, kNodeLabel, kServiceAffinity};
constexpr std::string_view kArgsWithMultiPoint[] = {kPreemption, kNodeAffinity, kBalanced};

void WriteArgs(const Wanted& wanted, const PluginCatalogue& catalogue, configuration::Version version,
               const std::string& path, configuration::Profile* out, Notes* notes) {
  auto contains = [](std::span<const std::string_view> list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const auto& [name, args] : wanted.args) {
    const bool runs = wanted.Filters(name) || wanted.Scores(name) || name == kPreemption || args.typed.index() == 0;
    const std::string text = EncodeArgs(args, version);
    if (!runs || text == "{}" || text == "null") continue;
    const bool known =
        catalogue.has_multi_point() ? !contains(kArgsByPoint, name) : !contains(kArgsWithMultiPoint, name);
    if (!known) {
      notes->push_back({absl::StrCat(path, name, " arguments"), "the release has none for this plugin"});
      continue;
    }
    out->plugin_config.push_back({name, args});
  }
}

// Adapts what is about the process, and notes what has no place.
void AdaptProcess(const Meaning& meaning, const KubeSchedulerConfiguration& defaults, KubeSchedulerConfiguration* c,
                  Notes* notes) {
  const bool by_point = c->version == configuration::Version::kV1Beta1;
  const std::string lock = c->leader_election.resource_lock;
  if (!by_point && lock != defaults.leader_election.resource_lock) {
    c->leader_election.resource_lock = defaults.leader_election.resource_lock;
    notes->push_back({absl::StrCat("leaderElection.resourceLock ", lock),
                      "only leases are left; let no scheduler with the other lock run at the same time"});
  }
  if (!by_point && meaning.process.version == configuration::Version::kV1Beta1) {
    for (const auto& [name, address, plain] :
         {std::tuple("healthzBindAddress", &c->healthz_bind_address, &defaults.healthz_bind_address),
          std::tuple("metricsBindAddress", &c->metrics_bind_address, &defaults.metrics_bind_address)}) {
      if (*address == *plain || address->empty()) continue;
      notes->push_back(
          {absl::StrCat(name, " ", *address), "served on the secure port alone: use the flag --secure-port"});
    }
  }
  if (by_point && c->parallelism != defaults.parallelism) {
    notes->push_back({"parallelism", "the release has no such field, and always works on 16 nodes at a time"});
  }
  if (by_point && c->delay_cache_until_active)
    notes->push_back({"delayCacheUntilActive", "the release has no such field"});
}

// Notes what is the same, but looks different in the two releases.
void NoteScales(const Meaning& meaning, const scheduler::Release& decides, Notes* notes) {
  if (meaning.max_score == decides.max_score) return;
  notes->push_back(
      {"scores", absl::StrCat("rules score from 0 to ", decides.max_score, " instead of 0 to ", meaning.max_score,
                              ": all weights stay, but nodes that were alike after rounding may differ now")});
  for (const auto& e : meaning.extenders) {
    if (e.prioritize_verb.empty()) continue;
    notes->push_back(
        {absl::StrCat("extender ", e.url_prefix, " weight"),
         absl::StrCat("stays ", e.weight, ": extenders still score from 0 to 10, and the release multiplies that by ",
                      decides.max_score / 10)});
  }
}

}  // namespace

std::string ToConfiguration(const Meaning& meaning, const release::Id& to, const configuration::Gates& gates,
                            Notes* notes) {
  const scheduler::Release& decides = releases::Of(to).decides;
  const PluginCatalogue catalogue = scheduler::PluginsToConfigure(decides);
  const configuration::Version version = NewestVersionOf(to.version);
  const KubeSchedulerConfiguration defaults = DefaultConfiguration(version);
  KubeSchedulerConfiguration c = meaning.has_process ? meaning.process : defaults;
  c.version = version;
  c.percentage_of_nodes_to_score = meaning.process.percentage_of_nodes_to_score;
  NoteScales(meaning, decides, notes);
  if (meaning.has_process) AdaptProcess(meaning, defaults, &c, notes);
  c.extenders = meaning.extenders;
  for (size_t i = 0; i < meaning.profiles.size(); ++i) {
    const ProfileMeaning& from = meaning.profiles[i];
    const std::string path = meaning.profiles.size() > 1 ? absl::StrCat("profiles[", i, "] ") : "";
    configuration::Profile& profile = c.profiles.emplace_back();
    profile.scheduler_name = from.rules.scheduler_name;
    if (from.percentage && version == configuration::Version::kV1) {
      profile.percentage_of_nodes_to_score = from.percentage;
    } else if (from.percentage) {
      notes->push_back({absl::StrCat(path, "percentageOfNodesToScore"), "there is one for all profiles"});
    }
    const Wanted wanted = WantedIn(from, catalogue, path, notes);
    ListWriter(meaning, from, wanted, catalogue, gates, path, notes).Write(&profile.plugins);
    WriteArgs(wanted, catalogue, version, path, &profile, notes);
    if (from.rules.always_check_all_filters) {
      notes->push_back(
          {absl::StrCat(path, "alwaysCheckAllPredicates"),
           "a configuration has no such field: only the first plugin that rejects a node gives its reasons"});
    }
  }
  return Encode(c);
}

}  // namespace berth::convert
