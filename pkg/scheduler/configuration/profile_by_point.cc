#include "pkg/scheduler/configuration/profile_by_point.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <set>

#include "pkg/scheduler/configuration/args_by_point.h"
#include "pkg/scheduler/configuration/plugin_sets.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::scheduler::configuration {
namespace {

bool Lists(const std::vector<Plugin>& plugins, std::string_view name) {
  return std::any_of(plugins.begin(), plugins.end(), [&](const Plugin& p) { return p.name == name; });
}

// Returns the default plugins that the profile leaves, followed by those that it enables. A plugin that is in both is
// listed twice, which is an error.
std::vector<Plugin> Applied(const PluginSet& custom, const std::vector<DefaultPlugin>& defaults) {
  std::vector<Plugin> out;
  if (!Lists(custom.disabled, "*")) {
    for (const DefaultPlugin& d : defaults) {
      if (!Lists(custom.disabled, d.name)) out.push_back({std::string(d.name), d.weight});
    }
  }
  out.insert(out.end(), custom.enabled.begin(), custom.enabled.end());
  return out;
}

// Sets the weights of the score plugins: each has that of the last extension point that lists it, as a rule its own.
void SetWeightsByPoint(const std::array<std::vector<Plugin>, kExtensionPointCount>& lists, ResolvedProfile* profile) {
  std::map<std::string_view, int32_t> weights;
  for (const auto& list : lists) {
    for (const Plugin& p : list) weights[p.name] = p.weight;
  }
  for (ResolvedProfile::Plugin& p : profile->at(ExtensionPoint::kScore)) {
    p.weight = weights[p.name] == 0 ? 1 : weights[p.name];
  }
}

}  // namespace

void CheckByPoint(const ResolvedProfile& profile, const std::string& path, const PluginCatalogue& catalogue,
                  std::vector<Problem>* problems) {
  const std::string prefix = absl::StrCat("initializing profiles: ");
  const std::string creating =
      absl::StrCat(prefix, "creating profile for scheduler name ", profile.scheduler_name, ": ");
  auto fail = [&](const std::string& at, const std::string& text, std::string hint = {}) {
    problems->push_back({Problem::Kind::kProfile, absl::StrCat(path, ".", at), text, std::move(hint)});
  };
  for (ExtensionPoint p : ExtensionPoints()) {
    const std::string at = absl::StrCat("plugins.", util::ToAbsl(FieldName(p))), type(InterfaceName(p));
    std::set<std::string_view> seen;
    for (const ResolvedProfile::Plugin& plugin : profile.at(p)) {
      const std::string quoted = util::GoQuoted(plugin.name);
      auto names = [&] {
        const std::vector<std::string> known = catalogue.Names(p);
        const std::string near = util::DidYouMean(plugin.name, known);
        return absl::StrCat(near, near.empty() ? "" : " ",
                            known.empty() ? "there are none" : "there are: ", absl::StrJoin(known, ", "));
      };
      if (!catalogue.Has(plugin.name)) {
        fail(at, absl::StrCat(creating, type, " ", quoted, " does not exist"), names());
      } else if (!catalogue.Implements(plugin.name, p)) {
        fail(at, absl::StrCat(creating, "plugin ", quoted, " does not extend ", type, " plugin"), names());
      } else if (!seen.insert(plugin.name).second) {
        fail(at, absl::StrCat(creating, "plugin ", quoted, " already registered as ", util::GoQuoted(type)),
             "a default plugin that is enabled again must also be disabled");
      }
    }
  }
  constexpr int64_t kMaxNodeScore = 100;
  int64_t total = 0;
  for (const ResolvedProfile::Plugin& p : profile.at(ExtensionPoint::kScore)) {
    // Negative weights overflow as upstream sees it, because it compares with what is left.
    if (p.weight >= 0 && !__builtin_add_overflow(total, p.weight * kMaxNodeScore, &total)) continue;
    fail("plugins.score", creating + "total score of Score plugins could overflow");
    break;
  }
  if (profile.at(ExtensionPoint::kQueueSort).size() != 1) {
    fail("plugins.queueSort", absl::StrCat(prefix, "one queue sort plugin required for profile with scheduler name ",
                                           util::GoQuoted(profile.scheduler_name)));
  }
  if (profile.at(ExtensionPoint::kBind).empty()) fail("plugins.bind", creating + "at least one bind plugin is needed");
  CheckArgsByPoint(profile, path, creating, problems);
}

ResolvedProfile ResolveByPoint(const Profile& profile, const std::string& path, const PluginCatalogue& catalogue,
                               std::vector<Problem>* problems, std::vector<std::string>* notices) {
  BERTH_REQUIRES(!catalogue.has_multi_point());
  ResolvedProfile out;
  out.scheduler_name = profile.scheduler_name.value_or("");
  std::array<std::vector<Plugin>, kExtensionPointCount> lists;  // by extension point
  std::set<std::string> enabled;
  for (ExtensionPoint p : ExtensionPoints()) {
    const PluginSet& custom = SetOf(profile.plugins, p);
    std::vector<Plugin>& list = lists[static_cast<size_t>(p)] = Applied(custom, catalogue.DefaultsAt(p));
    for (const Plugin& plugin : list) {
      out.at(p).push_back({plugin.name, 0});
      enabled.insert(plugin.name);
    }
    for (size_t i = 0; notices != nullptr && i < custom.disabled.size(); ++i) {
      const std::string& name = custom.disabled[i].name;
      if (name == "*" || catalogue.Has(name)) continue;
      notices->push_back(absl::StrCat(path, ".plugins.", util::ToAbsl(FieldName(p)), ".disabled[", i,
                                      "].name: there is no plugin ", util::GoQuoted(name), " to disable",
                                      util::SuggestionFor(name, catalogue.Names())));
    }
  }
  SetWeightsByPoint(lists, &out);
  std::set<std::string> configured;
  for (size_t i = 0; i < profile.plugin_config.size(); ++i) {
    const PluginConfig& config = profile.plugin_config[i];
    const std::string at = absl::StrCat(path, ".pluginConfig[", i, "]");
    if (!configured.insert(config.name).second) {
      problems->push_back({Problem::Kind::kProfile,
                           at,
                           absl::StrCat("initializing profiles: creating profile for scheduler name ",
                                        out.scheduler_name, ": repeated config for plugin ", config.name),
                           {}});
      continue;
    }
    if (notices != nullptr && !catalogue.Has(config.name)) {
      notices->push_back(absl::StrCat(at, ".name: there is no plugin ", util::GoQuoted(config.name),
                                      ", so its arguments have no effect",
                                      util::SuggestionFor(config.name, catalogue.Names())));
    }
    if (enabled.contains(config.name)) out.args[config.name] = config.args;
  }
  CheckByPoint(out, path, catalogue, problems);
  return out;
}

}  // namespace berth::scheduler::configuration
