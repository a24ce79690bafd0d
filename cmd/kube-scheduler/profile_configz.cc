// Writes the body of /configz: the configuration as a release completes it. In release 1.29 it has the names of Go's
// fields, and in 1.36 it is a document of v1. The order of the members is that of the structures, which both forms
// share. Release 1.19 shows the plugins that are called, and neither arguments nor extenders.
#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/http/url.h"
#include "pkg/scheduler/configuration/completed.h"
#include "pkg/scheduler/configuration/decode.h"
#include "pkg/scheduler/configuration/fields.h"
#include "pkg/scheduler/configuration/plugin_sets.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"

namespace berth::kube_scheduler {
namespace {

namespace configuration = scheduler::configuration;
using configuration::ExtensionPoint;

const char* BoolText(bool b) {
  return b ? "true" : "false";
}

// Names members as Go does or, for a document, as it is written: they differ in the first letter, or in more of them if
// there is an abbreviation.
class MemberNames {
 public:
  explicit MemberNames(bool as_document) : as_document_(as_document) {}
  bool as_document() const { return as_document_; }
  // Returns the name in quotes, followed by a colon. `go` is the name in Go.
  std::string operator()(std::string_view go) const {
    std::string name(go);
    if (as_document_) {
      const bool abbreviation = name == "QPS";
      for (size_t i = 0; i < (abbreviation ? name.size() : 1); ++i) {
        name[i] = absl::ascii_tolower(static_cast<unsigned char>(name[i]));
      }
    }
    return absl::StrCat("\"", name, "\":");
  }
  // The same for the name in a document.
  std::string OfDocument(std::string_view written) const {
    std::string name(written);
    if (!as_document_) name = absl::StrCat(GoBegin(written), name.substr(GoBegin(written).size()));
    return absl::StrCat("\"", name, "\":");
  }

 private:
  static std::string GoBegin(std::string_view written) {
    for (const std::string_view abbreviation : {"url", "tls", "http", "ca"}) {
      const size_t n = abbreviation.size();
      if (written.size() > n && written.starts_with(abbreviation) && absl::ascii_isupper(written[n])) {
        return absl::AsciiStrToUpper(std::string(abbreviation));
      }
    }
    return std::string(1, absl::ascii_toupper(static_cast<unsigned char>(written[0])));
  }

  const bool as_document_;
};

// Types of the API proper, which have the names of documents in every form.
template <typename T>
constexpr bool kOfApi =
    std::is_same_v<T, configuration::NodeAffinity> || std::is_same_v<T, configuration::NodeSelector> ||
    std::is_same_v<T, configuration::NodeSelectorTerm> || std::is_same_v<T, configuration::NodeSelectorRequirement> ||
    std::is_same_v<T, configuration::PreferredSchedulingTerm> ||
    std::is_same_v<T, configuration::TopologySpreadConstraint>;
// Types whose documents do not have members that are 0 or false.
template <typename T>
constexpr bool kSparse = std::is_same_v<T, scheduler::ExtenderConfig> || std::is_same_v<T, scheduler::ExtenderTls> ||
                         std::is_same_v<T, scheduler::ExtenderManagedResource>;

// Writes values as one of the two forms has them. No secret of an extender is written.
class Shown {
 public:
  Shown(const MemberNames& names, const Configuration& c) : names_(names), version_(c.release->version) {}

  std::string PluginsOf(const configuration::Plugins& plugins) const {
    constexpr ExtensionPoint kInOrder[] = {
        ExtensionPoint::kPreEnqueue, ExtensionPoint::kQueueSort, ExtensionPoint::kPreFilter, ExtensionPoint::kFilter,
        ExtensionPoint::kPostFilter, ExtensionPoint::kPreScore,  ExtensionPoint::kScore,     ExtensionPoint::kReserve,
        ExtensionPoint::kPermit,     ExtensionPoint::kPreBind,   ExtensionPoint::kBind,      ExtensionPoint::kPostBind};
    static_assert(std::size(kInOrder) == configuration::kExtensionPointCount);
    std::string out = "{";
    for (const ExtensionPoint p : kInOrder) {
      absl::StrAppend(&out, names_.OfDocument(configuration::FieldName(p)), Object(configuration::SetOf(plugins, p)),
                      ",");
    }
    absl::StrAppend(&out, names_.OfDocument("multiPoint"), Object(plugins.multi_point));
    if (configuration::HasMember(version_, "placementGenerate")) {
      absl::StrAppend(&out, ",", names_.OfDocument("placementGenerate"), Object(plugins.placement_generate), ",",
                      names_.OfDocument("placementScore"), Object(plugins.placement_score));
    }
    return out + "}";
  }

  std::string ProfileOf(const configuration::Profile& p) const {
    std::string percentage;
    if (p.percentage_of_nodes_to_score || !names_.as_document()) {
      percentage = absl::StrCat(names_("PercentageOfNodesToScore"), Value(p.percentage_of_nodes_to_score), ",");
    }
    return absl::StrCat("{", names_("SchedulerName"), api::JsonString(p.scheduler_name.value_or("")), ",", percentage,
                        names_("Plugins"), PluginsOf(p.plugins), ",", names_("PluginConfig"), Value(p.plugin_config),
                        "}");
  }

  template <typename T>
  std::string Value(const std::vector<T>& list) const {
    if (list.empty()) return "null";
    std::string out = "[";
    for (const T& v : list) absl::StrAppend(&out, out.size() == 1 ? "" : ",", Value(v));
    return out + "]";
  }

 private:
  // Calls of VisitFields end here.
  struct Collector {
    const Shown* shown;
    const MemberNames names;
    bool sparse;
    std::string out;
    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const api::MemberFacts& = {}) {
      const bool nothing = name == "keyData" || Nothing(value) || (sparse && IsZero(value));
      if (nothing && names.as_document()) return;
      std::string text = name == "keyData" ? "null" : shown->Value(value);
      if constexpr (std::is_same_v<T, std::string>) {
        if (name == "urlPrefix") text = api::JsonString(http::RedactUrl(value));
      }
      absl::StrAppend(&out, out.empty() ? "" : ",", names.OfDocument(name), text);
    }
  };

  // Returns whether a document does not have the member.
  template <typename T>
  static bool Nothing(const T& value) {
    if constexpr (requires { value.empty(); }) return value.empty();
    if constexpr (requires { value.has_value(); }) return !value.has_value();
    if constexpr (std::is_same_v<T, configuration::AnyObject>) return !*value.present;
    if constexpr (std::is_same_v<T, configuration::Base64>) return value.bytes->empty();
    return false;
  }
  template <typename T>
  static bool IsZero(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) return value == 0;
    if constexpr (std::is_same_v<T, configuration::Nanoseconds>) return *value.nanos == 0;
    return false;
  }

  std::string Value(const std::string& v) const { return api::JsonString(v); }
  std::string Value(bool v) const { return BoolText(v); }
  std::string Value(int32_t v) const { return absl::StrCat(v); }
  std::string Value(int64_t v) const { return absl::StrCat(v); }
  std::string Value(absl::Duration v) const { return api::JsonString(FormatGoDuration(v)); }
  std::string Value(const configuration::Nanoseconds& v) const { return Value(absl::Nanoseconds(*v.nanos)); }
  std::string Value(const configuration::Base64& v) const {
    return v.bytes->empty() ? "null" : api::JsonString(absl::Base64Escape(*v.bytes));
  }
  std::string Value(const configuration::AnyObject& v) const { return *v.present ? "{}" : "null"; }
  std::string Value(const configuration::ArgsOf& v) const { return ArgsOfPlugin(v.config->name, v.config->args); }
  template <typename T>
  std::string Value(const std::optional<T>& v) const {
    return v ? Value(*v) : "null";
  }
  template <typename T>
  requires std::is_class_v<T> std::string Value(const T& v)
  const { return Object(v); }

  std::string ArgsOfPlugin(const std::string& plugin, const configuration::PluginArgs& args) const {
    std::string first;
    if (names_.as_document()) {
      first = absl::StrCat("\"kind\":", api::JsonString(plugin + "Args"),
                           ",\"apiVersion\":", api::JsonString(configuration::ApiVersion(configuration::Version::kV1)));
    }
    return std::visit(
        [&](const auto& typed) -> std::string {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(typed)>, std::monostate>) {
            return args.json.empty() ? "null" : args.json;
          } else {
            return Object(typed, first);
          }
        },
        args.typed);
  }

  template <typename T>
  std::string Object(T value, std::string first = {}) const {
    Collector collector{this, MemberNames(names_.as_document() || kOfApi<T>), kSparse<T>, std::move(first)};
    if constexpr (requires { configuration::VisitFields(collector, value, configuration::Version::kV1); }) {
      configuration::VisitFields(collector, value, configuration::Version::kV1);
    } else {
      configuration::VisitFields(collector, value);
    }
    return absl::StrCat("{", collector.out, "}");
  }

  const MemberNames& names_;
  const release::Version version_;
};

// Returns the profiles as the release completes them: those of the file, or the default one.
std::vector<configuration::Profile> CompletedProfiles(const Configuration& c) {
  const configuration::PluginCatalogue catalogue = scheduler::PluginsToConfigure(ReleaseToRun(c));
  configuration::KubeSchedulerConfiguration from;
  if (const auto document = api::ReadDocument(c.configuration_text); document.ok() && document->root().IsObject()) {
    std::vector<configuration::Problem> problems;  // were said at the start
    from = configuration::Decode(document->root(), c.release->version, c.plugin_profiles[0].gates, &problems);
  }
  if (from.profiles.empty()) from.profiles.emplace_back().scheduler_name = c.scheduler_name;
  for (configuration::Profile& p : from.profiles)
    p = configuration::Completed(std::move(p), catalogue, c.plugin_profiles[0].gates);
  return std::move(from.profiles);
}

// Returns the plugins that are called at each extension point, which result from providers and profiles.
std::string PluginsCalled(const configuration::ResolvedProfile& profile, const MemberNames& n) {
  std::string out;
  for (const ExtensionPoint p : configuration::ExtensionPoints()) {
    std::string enabled;
    for (const auto& plugin : profile.at(p)) {
      absl::StrAppend(&enabled, enabled.empty() ? "" : ",", "{", n("Name"), api::JsonString(plugin.name), ",",
                      n("Weight"), plugin.weight, "}");
    }
    absl::StrAppend(&out, out.empty() ? "" : ",", n.OfDocument(configuration::FieldName(p)), "{", n("Enabled"),
                    enabled.empty() ? "null" : absl::StrCat("[", enabled, "]"), ",", n("Disabled"), "null}");
  }
  return out;
}

std::string LeaderElectionOf(const Configuration& c, const MemberNames& n) {
  const auto& le = c.leader_election;
  return absl::StrCat("{", n("LeaderElect"), BoolText(le.leader_elect), ",", n("LeaseDuration"),
                      api::JsonString(FormatGoDuration(le.lease_duration)), ",", n("RenewDeadline"),
                      api::JsonString(FormatGoDuration(le.renew_deadline)), ",", n("RetryPeriod"),
                      api::JsonString(FormatGoDuration(le.retry_period)), ",", n("ResourceLock"),
                      api::JsonString(le.resource_lock), ",", n("ResourceName"), api::JsonString(le.lock_object_name),
                      ",", n("ResourceNamespace"), api::JsonString(le.lock_object_namespace), "}");
}

std::string ClientConnectionOf(const Configuration& c, const MemberNames& n) {
  const auto& cc = c.client_connection;
  return absl::StrCat("{", n("Kubeconfig"), api::JsonString(cc.kubeconfig), ",", n("AcceptContentTypes"),
                      api::JsonString(cc.accept_content_types), ",", n("ContentType"), api::JsonString(cc.content_type),
                      ",", n("QPS"), JsonFloat32(cc.qps), ",", n("Burst"), cc.burst, "}");
}

}  // namespace

std::string ProfilesToConfigz(const Configuration& c) {
  const MemberNames n(c.Form().shows_document);
  const Shown shown(n, c);
  const bool completes = scheduler::PluginsToConfigure(ReleaseToRun(c)).has_multi_point();
  std::string profiles;
  if (completes) {
    for (const configuration::Profile& p : CompletedProfiles(c)) {
      absl::StrAppend(&profiles, profiles.empty() ? "" : ",", shown.ProfileOf(p));
    }
  } else {
    for (const configuration::ResolvedProfile& p : c.plugin_profiles) {
      absl::StrAppend(&profiles, profiles.empty() ? "" : ",", "{", n("SchedulerName"),
                      api::JsonString(p.scheduler_name), ",", n("Plugins"), "{", PluginsCalled(p, n), "}}");
    }
  }
  const configuration::VersionRow* version = configuration::NewestReadBy(c.release->version);
  std::string out =
      absl::StrCat("{\"componentconfig\":{", n.as_document() ? "\"kind\":\"KubeSchedulerConfiguration\"," : "",
                   "\"apiVersion\":", api::JsonString(configuration::NameOf(*version)), ",");
  if (completes) absl::StrAppend(&out, n("Parallelism"), c.parallelism, ",");
  absl::StrAppend(&out, n("LeaderElection"), LeaderElectionOf(c, n), ",", n("ClientConnection"),
                  ClientConnectionOf(c, n));
  if (!n.as_document()) {
    absl::StrAppend(&out, ",", n("HealthzBindAddress"), api::JsonString(c.healthz_bind_address), ",",
                    n("MetricsBindAddress"), api::JsonString(c.metrics_bind_address));
  }
  absl::StrAppend(&out, ",", n("EnableProfiling"), BoolText(c.enable_profiling), ",", n("EnableContentionProfiling"),
                  BoolText(c.enable_contention_profiling), ",", n("PercentageOfNodesToScore"),
                  c.percentage_of_nodes_to_score, ",", n("PodInitialBackoffSeconds"),
                  absl::ToInt64Seconds(c.pod_initial_backoff), ",", n("PodMaxBackoffSeconds"));
  absl::StrAppend(&out, absl::ToInt64Seconds(c.pod_max_backoff), ",", n("Profiles"), "[", profiles, "]");
  if (!n.as_document() || !c.extenders.empty()) {
    absl::StrAppend(&out, ",", n("Extenders"), shown.Value(c.extenders));
  }
  if (completes && (!n.as_document() || c.delay_cache_until_active)) {
    absl::StrAppend(&out, ",", n("DelayCacheUntilActive"), BoolText(c.delay_cache_until_active));
  }
  return absl::StrCat(out, "}}");
}

}  // namespace berth::kube_scheduler
