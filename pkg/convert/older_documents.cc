#include "pkg/convert/older_documents.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <span>

#include "pkg/api/json_writer.h"
#include "pkg/util/status.h"

namespace berth::convert {
namespace {

using api::Json;
using api::JsonWriter;
using configuration::DefaultPlugin;
using configuration::ExtensionPoint;
using configuration::PluginCatalogue;

constexpr std::string_view kPostFilter = "postFilter";
constexpr std::string_view kGroupPrefix = "kubescheduler.config.k8s.io/";

// v1beta2 had these weights by default, and plugins at each extension point, in the order of the multiPoint list.
std::vector<DefaultPlugin> DefaultsOfV1Beta2(const configuration::Gates&) {
  return {{"PrioritySort", 0},     {"NodeUnschedulable", 0},  {"NodeName", 0},
          {"TaintToleration", 1},  {"NodeAffinity", 1},       {"NodePorts", 0},
          {"NodeResourcesFit", 1}, {"VolumeRestrictions", 0}, {"EBSLimits", 0},
          {"GCEPDLimits", 0},      {"NodeVolumeLimits", 0},   {"AzureDiskLimits", 0},
          {"VolumeBinding", 0},    {"VolumeZone", 0},         {"PodTopologySpread", 2},
          {"InterPodAffinity", 1}, {"DefaultPreemption", 0},  {"NodeResourcesBalancedAllocation", 1},
          {"ImageLocality", 1},    {"DefaultBinder", 0},      {"SchedulingGates", 0}};
}

// Members of the document that moved or went.
struct Moved {
  std::string_view member, note;
};
constexpr Moved kOfV1Beta2[] = {
    {"healthzBindAddress", "the next version has none: health is served on the secure port alone (--secure-port)"},
    {"metricsBindAddress", "the next version has none: metrics are served on the secure port alone (--secure-port)"},
};
struct Renamed {
  std::string_view from, to;
};
constexpr Renamed kOfV1Alpha2[] = {{"DefaultPodTopologySpread", "SelectorSpread"}};

struct Gone {
  std::string_view plugin;
  std::initializer_list<ExtensionPoint> points;
};
const Gone kGoneOfV1Beta2[] = {
    {"NodePreferAvoidPods", {ExtensionPoint::kScore}},
    {"SelectorSpread", {ExtensionPoint::kPreScore, ExtensionPoint::kScore}},
    {"NodeLabel", {ExtensionPoint::kFilter, ExtensionPoint::kScore}},
    {"ServiceAffinity", {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kScore}},
};

}  // namespace

struct OlderDocument {
  std::string_view version, next;
  std::span<const Moved> moved = {};
  std::span<const Renamed> renamed = {};
  PluginCatalogue::Defaults defaults = nullptr;  // null: those of the release that reads `next`
  std::span<const Gone> gone = {};
  bool fields_became_arguments = false;  // bindTimeoutSeconds and disablePreemption
};

namespace {

const OlderDocument kOlder[] = {
    {.version = "v1alpha2", .next = "v1beta1", .renamed = kOfV1Alpha2, .fields_became_arguments = true},
    {.version = "v1beta2",
     .next = "v1beta3",
     .moved = kOfV1Beta2,
     .defaults = DefaultsOfV1Beta2,
     .gone = kGoneOfV1Beta2},
};

class Rewriter {
 public:
  Rewriter(const OlderDocument& older, Notes* notes) : older_(older), notes_(notes) {}

  std::string Document(Json j) {
    if (older_.fields_became_arguments) {
      bind_timeout_ = j.FindExact("bindTimeoutSeconds").Int();
      no_preemption_ = j.FindExact("disablePreemption").Bool();
    }
    out_.Object();
    for (auto [key, value] : j.Children()) {
      if (older_.fields_became_arguments && (key == "bindTimeoutSeconds" || key == "disablePreemption")) continue;
      const auto moved = std::find_if(older_.moved.begin(), older_.moved.end(),
                                      [&key = key](const Moved& m) { return m.member == key; });
      if (moved != older_.moved.end()) {
        if (!value.IsNull()) notes_->push_back({std::string(key), std::string(moved->note)});
        continue;
      }
      out_.Key(key);
      if (key == "profiles" && value.IsArray() && Adds()) {
        Profiles(value);
      } else {
        Copy(value);
      }
    }
    if (Adds() && !j.FindExact("profiles").IsArray()) {
      out_.Key("profiles").Array();
      Profile(Json());
      out_.End();
    }
    out_.End();
    return out_.Finish("json");
  }

 private:
  bool Adds() const { return bind_timeout_ > 0 || no_preemption_; }

  void Profiles(Json profiles) {
    out_.Array();
    for (auto [key, profile] : profiles.Children()) Profile(profile);
    out_.End();
  }
  // Copies a profile and adds what were fields of the document.
  void Profile(Json profile) {
    out_.Object();
    for (auto [key, value] : profile.Children()) {
      if ((key == "pluginConfig" && bind_timeout_ > 0) || (key == "plugins" && no_preemption_)) continue;
      out_.Key(key);
      Copy(value);
    }
    if (bind_timeout_ > 0) {
      out_.Key("pluginConfig").Array();
      for (auto [key, config] : profile.FindExact("pluginConfig").Children()) Copy(config);
      out_.Object().Member("name", kVolumeBinding).Key("args").Object();
      out_.Member("bindTimeoutSeconds", bind_timeout_).End().End().End();
    }
    if (no_preemption_) {
      out_.Key("plugins").Object();
      for (auto [key, set] : profile.FindExact("plugins").Children()) {
        if (LeavesOut(key) || key == kPostFilter) continue;
        out_.Key(key);
        Copy(set);
      }
      WithoutPreemption(profile.FindExact("plugins").FindExact(kPostFilter));
      out_.End();
    }
    out_.End();
  }

  // Copies the profile's own list of what follows filters, and turns preemption off in it.
  void WithoutPreemption(Json own) {
    auto is_preemption = [](Json plugin) { return plugin.FindExact("name").Text() == kPreemption; };
    bool off = false;
    out_.Key(kPostFilter).Object();
    for (auto [key, set] : own.Children()) {
      if (key == "disabled") continue;
      out_.Key(key);
      if (key != "enabled") {
        Copy(set);
        continue;
      }
      out_.Array();
      for (auto [i, plugin] : set.Children()) {
        if (!is_preemption(plugin)) Copy(plugin);
      }
      out_.End();
    }
    out_.Key("disabled").Array();
    for (auto [i, plugin] : own.FindExact("disabled").Children()) {
      off |= is_preemption(plugin) || plugin.FindExact("name").Text() == "*";
      Copy(plugin);
    }
    if (!off) out_.Object().Member("name", kPreemption).End();
    out_.End().End();
  }

  void Copy(Json v) {
    if (v.IsObject()) {
      out_.Object();
      for (auto [key, value] : v.Children()) {
        if (LeavesOut(key)) continue;
        out_.Key(key);
        Copy(value);
      }
      out_.End();
    } else if (v.IsArray()) {
      out_.Array();
      for (auto [key, value] : v.Children()) Copy(value);
      out_.End();
    } else if (v.IsString()) {
      out_.Text(Translated(v.Text()));
    } else {
      out_.Literal(v.Serialize());
    }
  }

  // Returns whether a member went, and notes it.
  bool LeavesOut(std::string_view key) {
    if (key != "unreserve" || !older_.fields_became_arguments) return false;
    notes_->push_back({"plugins.unreserve", "the extension point became a part of reserve"});
    return true;
  }

  std::string Translated(std::string_view text) const {
    if (text.starts_with(kGroupPrefix) && text.substr(kGroupPrefix.size()) == older_.version) {
      return absl::StrCat(util::ToAbsl(kGroupPrefix), util::ToAbsl(older_.next));
    }
    for (const Renamed& r : older_.renamed) {
      if (r.from == text) return std::string(r.to);
    }
    return std::string(text);
  }

  const OlderDocument& older_;
  Notes* notes_;
  JsonWriter out_;
  int64_t bind_timeout_ = 0;
  bool no_preemption_ = false;
};

}  // namespace

const OlderDocument* FindOlderDocument(std::string_view api_version) {
  for (const OlderDocument& o : kOlder) {
    if (api_version.starts_with(kGroupPrefix) && api_version.substr(kGroupPrefix.size()) == o.version) return &o;
  }
  return nullptr;
}

std::string Rewritten(const OlderDocument& older, Json document, Notes* notes) {
  return Rewriter(older, notes).Document(document);
}

PluginCatalogue CatalogueOf(const OlderDocument& older, PluginCatalogue next) {
  if (older.defaults == nullptr) return next;
  PluginCatalogue out(next.release(), {}, older.defaults);
  for (const std::string& name : next.Names()) {
    configuration::ExtensionPointSet points;
    for (ExtensionPoint p : configuration::ExtensionPoints()) {
      if (next.Implements(name, p)) points.Add(p);
    }
    out.Add(name, points);
  }
  for (const Gone& g : older.gone) out.Add(g.plugin, g.points);
  return out;
}

std::vector<std::string> GonePlugins(const OlderDocument& older, const scheduler::Release& decides) {
  std::vector<std::string> out;
  for (const Gone& g : older.gone) {
    if (!decides.plugins().Has(g.plugin)) out.emplace_back(g.plugin);
  }
  return out;
}

}  // namespace berth::convert
