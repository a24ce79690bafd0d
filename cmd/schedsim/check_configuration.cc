// The part of the command check for a KubeSchedulerConfiguration: what is wrong with it, and which plugins it runs.
#include "cmd/schedsim/check_configuration.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include "cmd/schedsim/check_component.h"
#include "cmd/schedsim/check_policy.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/line_column.h"
#include "pkg/api/stream.h"
#include "pkg/explain/output.h"
#include "pkg/http/url.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/from_profile.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"
#include "pkg/util/wrap.h"

namespace berth::schedsim {
namespace {

using api::JsonWriter;
using explain::Table;
using scheduler::configuration::ExtensionPoint;
using scheduler::configuration::FieldName;
using scheduler::configuration::Problem;
using scheduler::configuration::ResolvedProfile;

// Appends what the rules of plugin/ find wrong with their arguments. The member that is wrong comes first in a text.
void FindArgumentProblems(const scheduler::Release& release,
                          const scheduler::configuration::LoadedConfiguration& loaded, std::vector<Problem>* problems) {
  const auto& profiles = loaded.configuration.profiles;
  for (size_t i = 0; i < loaded.profiles.size() && i < profiles.size(); ++i) {
    for (const auto& [plugin, text] : scheduler::ArgumentProblemsOf(release, loaded.profiles[i])) {
      size_t j = 0;
      while (j < profiles[i].plugin_config.size() && profiles[i].plugin_config[j].name != plugin) ++j;
      Problem& p = problems->emplace_back();
      p.path = absl::StrCat("profiles[", i, "].pluginConfig[", j, "].args");
      const size_t colon = text.find(": ");
      const bool names_member = colon != std::string::npos && text.find(' ') > colon;
      p.text = absl::StrCat(p.path, names_member ? "." : ": ", text);
      if (names_member) absl::StrAppend(&p.path, ".", text.substr(0, colon));
    }
  }
}

std::string NamesOf(const std::vector<ResolvedProfile::Plugin>& plugins) {
  return absl::StrJoin(plugins, ", ", [](std::string* out, const ResolvedProfile::Plugin& p) {
    absl::StrAppend(out, p.name, p.weight != 0 ? absl::StrCat(" x", p.weight) : "");
  });
}

constexpr size_t kWidth = 80;

// The extension points in the order in which a pod passes them.
constexpr ExtensionPoint kInOrder[] = {
    ExtensionPoint::kPreEnqueue, ExtensionPoint::kQueueSort, ExtensionPoint::kPreFilter, ExtensionPoint::kFilter,
    ExtensionPoint::kPostFilter, ExtensionPoint::kPreScore,  ExtensionPoint::kScore,     ExtensionPoint::kReserve,
    ExtensionPoint::kPermit,     ExtensionPoint::kPreBind,   ExtensionPoint::kBind,      ExtensionPoint::kPostBind};
static_assert(std::size(kInOrder) == scheduler::configuration::kExtensionPointCount);

}  // namespace

std::string WhereIn(std::string_view text, api::Json value) {
  const size_t at = value.begin_offset();
  if (at > text.size()) return {};
  return absl::StrCat(api::LineAndColumn(text, at), ": ");
}

ConfigurationReport ExamineConfiguration(const std::string& file, std::string_view text,
                                         const lab::Algorithm& algorithm, bool strictly) {
  ConfigurationReport r;
  r.file = file;
  auto document = api::ReadDocument(text);
  if (!document.ok()) {
    r.errors.push_back(util::Message(document.status()));
    return r;
  }
  api::Json root = document->root();
  if (strictly && root.FindExact("kind").Text() == "KubeSchedulerConfiguration") {
    const std::string unread =
        scheduler::configuration::WhyNotRead(*algorithm.release, root.FindExact("apiVersion").Text());
    if (!unread.empty()) {
      r.errors.push_back(unread);
      return r;
    }
  }
  const std::string_view version = root.FindExact("apiVersion").Text();
  const bool before_groups = version == scheduler::configuration::kComponentConfig;
  if (!before_groups && !scheduler::configuration::IsConfigurationVersion(version)) {
    r.errors.push_back(absl::StrCat("apiVersion ", root.FindExact("apiVersion").Brief(), " is neither one of ",
                                    "kubescheduler.config.k8s.io nor ",
                                    util::ToAbsl(scheduler::configuration::kComponentConfig)));
    return r;
  }
  if (before_groups || !scheduler::configuration::ReadsProfiles(version)) {
    if (root.FindExact("kind").Text() != "KubeSchedulerConfiguration") {
      r.errors.push_back(absl::StrCat("kind ", root.FindExact("kind").Brief(), " is not KubeSchedulerConfiguration"));
      return r;
    }
    const release::Id* first =
        before_groups ? &release::Default() : scheduler::configuration::ReaderOf(version, algorithm.release);
    ExamineComponent(root, text, strictly ? *algorithm.release : *first, algorithm, &r);
    return r;
  }
  // Where no release reads the version, the newest one says which there are.
  const release::Id* reader = scheduler::configuration::ReaderOf(version, algorithm.release);
  const release::Id& id = strictly ? *algorithm.release : reader != nullptr ? *reader : release::All().back();
  r.release = std::string(id.name);
  const scheduler::Release& release = releases::Of(id).decides;
  if (release.plugins == nullptr) {
    r.errors.push_back(absl::StrCat(
        "release ", r.release, " is not configured by profiles; ",
        reader == nullptr ? scheduler::configuration::WhoReads(version)
                          : absl::StrCat("release ", std::string(reader->name), " is the first that reads ",
                                         root.FindExact("apiVersion").Brief())));
    return r;
  }
  r.loaded = scheduler::configuration::Load(root, scheduler::PluginsToConfigure(release),
                                            algorithm.ConfigurationGates(), text);
  if (r.loaded.problems.empty()) FindArgumentProblems(release, r.loaded, &r.loaded.problems);
  api::LineColumns places(text);
  for (const Problem& p : r.loaded.problems) {
    const size_t at = scheduler::configuration::Locate(root, p.path).begin_offset();
    r.errors.push_back(absl::StrCat(at > text.size() ? "" : absl::StrCat(places.At(at), ": "), ToString(p)));
  }
  r.warnings = r.loaded.notices;
  return r;
}

std::string ConfigurationTable(const ConfigurationReport& r) {
  BERTH_REQUIRES(r.errors.empty());
  const auto& c = r.loaded.configuration;
  std::string out = absl::StrCat(r.file, ": a valid KubeSchedulerConfiguration, for release ", r.release, "\n");
  for (const ResolvedProfile& profile : r.loaded.profiles) {
    absl::StrAppend(&out, "\nProfile ", profile.scheduler_name, ", its plugins in the order they are called:\n");
    constexpr size_t kIndent = 14;
    for (ExtensionPoint p : kInOrder) {
      std::string name = absl::StrCat("  ", util::ToAbsl(FieldName(p)));
      name.resize(kIndent, ' ');
      const std::string plugins = profile.at(p).empty() ? "none" : NamesOf(profile.at(p));
      for (const std::string_view line : util::Wrap(plugins, {kWidth - kIndent, kWidth - kIndent, true})) {
        absl::StrAppend(&out, name, util::ToAbsl(line), "\n");
        name.assign(kIndent, ' ');
      }
    }
  }
  for (const RunningAlgorithm& a : r.algorithms) {
    absl::StrAppend(&out, "\nScheduler ", a.scheduler_name, ", by ", a.source, ":\n");
    if (!a.effective.predicates.empty()) out += AlgorithmTable(a.effective, a.checks_all_predicates);
  }
  if (!c.extenders.empty()) out += "\nExtenders, in the order they are called:\n";
  for (const auto& e : c.extenders) absl::StrAppend(&out, "  ", http::RedactUrl(e.url_prefix), "\n");
  if (!r.warnings.empty()) out += "\nWorth knowing:\n";
  for (const std::string& w : r.warnings) absl::StrAppend(&out, "  ", w, "\n");
  return out;
}

namespace {

void WriteAlgorithms(const std::vector<RunningAlgorithm>& algorithms, JsonWriter* out) {
  out->Key("schedulers").Array();
  for (const RunningAlgorithm& a : algorithms) {
    out->Object().Member("schedulerName", a.scheduler_name).Member("source", a.source);
    out->Key("predicates").Texts(a.effective.predicates).Key("priorities").Object();
    for (const auto& [name, weight] : a.effective.priorities) out->Member(name, weight);
    out->End().End();
  }
  out->End();
}

}  // namespace

void WriteConfigurationReport(const ConfigurationReport& r, JsonWriter* out) {
  out->Object().Member("apiVersion", "schedsim/v1").Member("kind", "ConfigurationReport").Member("file", r.file);
  out->Member("good", r.errors.empty()).Key("errors").Texts(r.errors).Key("warnings").Texts(r.warnings);
  if (r.errors.empty()) {
    out->Member("emulatedVersion", r.release);
    if (!r.algorithms.empty()) WriteAlgorithms(r.algorithms, out);
    out->Key("profiles").Array();
    for (const ResolvedProfile& profile : r.loaded.profiles) {
      out->Object().Member("schedulerName", profile.scheduler_name).Key("plugins").Object();
      for (ExtensionPoint p : kInOrder) {
        out->Key(FieldName(p)).Array();
        for (const ResolvedProfile::Plugin& plugin : profile.at(p)) {
          out->Object().Member("name", plugin.name);
          if (plugin.weight != 0) out->Member("weight", plugin.weight);
          out->End();
        }
        out->End();
      }
      out->End().End();
    }
    out->End();
  }
  out->End();
}

}  // namespace berth::schedsim
