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
using api::JsonWriter;
using configuration::ExtensionPoint;

// Names members as Go does or, for a document, as it is written: they differ in the first letter, or in more of them if
// there is an abbreviation.
class MemberNames {
 public:
  explicit MemberNames(bool as_document) : as_document_(as_document) {}
  bool as_document() const { return as_document_; }
  // Returns the name of the member that has the name `go` in Go.
  std::string operator()(std::string_view go) const {
    std::string name(go);
    if (as_document_) {
      const bool abbreviation = name == "QPS";
      for (size_t i = 0; i < (abbreviation ? name.size() : 1); ++i) {
        name[i] = absl::ascii_tolower(static_cast<unsigned char>(name[i]));
      }
    }
    return name;
  }
  // The same for the name in a document.
  std::string OfDocument(std::string_view written) const {
    std::string name(written);
    if (!as_document_) name = absl::StrCat(GoBegin(written), name.substr(GoBegin(written).size()));
    return name;
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
    JsonWriter out;
    out.Object();
    const auto set = [&](std::string_view name, const auto& plugins_of) {
      out.Key(names_.OfDocument(name)).Literal(Object(plugins_of));
    };
    for (const ExtensionPoint p : kInOrder) set(configuration::FieldName(p), configuration::SetOf(plugins, p));
    set("multiPoint", plugins.multi_point);
    if (configuration::HasMember(version_, "placementGenerate")) {
      set("placementGenerate", plugins.placement_generate);
      set("placementScore", plugins.placement_score);
    }
    return out.End().Take();
  }

  std::string ProfileOf(const configuration::Profile& p) const {
    JsonWriter out;
    out.Object().Member(names_("SchedulerName"), p.scheduler_name.value_or(""));
    if (p.percentage_of_nodes_to_score || !names_.as_document()) {
      out.Key(names_("PercentageOfNodesToScore")).Literal(Value(p.percentage_of_nodes_to_score));
    }
    out.Key(names_("Plugins")).Literal(PluginsOf(p.plugins));
    return out.Key(names_("PluginConfig")).Literal(Value(p.plugin_config)).End().Take();
  }

  template <typename T>
  std::string Value(const std::vector<T>& list) const {
    if (list.empty()) return "null";
    JsonWriter out;
    return out.Each(list, [&](const T& v) { out.Literal(Value(v)); }).Take();
  }

 private:
  // Calls of VisitFields end here.
  struct Collector {
    const Shown* shown;
    const MemberNames names;
    bool sparse;
    JsonWriter out;
    template <typename T>
    void operator()(std::string_view name, const T& value, std::string_view, const api::MemberFacts& = {}) {
      const bool nothing = name == "keyData" || Nothing(value) || (sparse && IsZero(value));
      if (nothing && names.as_document()) return;
      std::string text = name == "keyData" ? "null" : shown->Value(value);
      if constexpr (std::is_same_v<T, std::string>) {
        if (name == "urlPrefix") text = api::JsonString(http::RedactUrl(value));
      }
      out.Key(names.OfDocument(name)).Literal(text);
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
  std::string Value(bool v) const { return v ? "true" : "false"; }
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
    JsonWriter first;
    first.Object();
    if (names_.as_document()) {
      first.Member("kind", plugin + "Args");
      first.Member("apiVersion", configuration::ApiVersion(configuration::Version::kV1));
    }
    first.End();
    return std::visit(
        [&](const auto& typed) -> std::string {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(typed)>, std::monostate>) {
            return args.json.empty() ? "null" : args.json;
          } else {
            return Object(typed, first.Take());
          }
        },
        args.typed);
  }

  template <typename T>
  std::string Object(T value, const std::string& first = "{}") const {
    Collector collector{this, MemberNames(names_.as_document() || kOfApi<T>), kSparse<T>, JsonWriter()};
    collector.out.Object().MembersOf(first);
    if constexpr (requires { configuration::VisitFields(collector, value, configuration::Version::kV1); }) {
      configuration::VisitFields(collector, value, configuration::Version::kV1);
    } else {
      configuration::VisitFields(collector, value);
    }
    return collector.out.End().Take();
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

// Writes the plugins that are called at each extension point, which result from providers and profiles.
void WritePluginsCalled(const configuration::ResolvedProfile& profile, const MemberNames& n, JsonWriter* out) {
  out->Object();
  for (const ExtensionPoint p : configuration::ExtensionPoints()) {
    out->Key(n.OfDocument(configuration::FieldName(p))).Object().Key(n("Enabled"));
    const auto& called = profile.at(p);
    const auto write = [&](const auto& plugin) {
      out->Object().Member(n("Name"), plugin.name).Member(n("Weight"), plugin.weight).End();
    };
    called.empty() ? out->Literal("null") : out->Each(called, write);
    out->Key(n("Disabled")).Literal("null").End();
  }
  out->End();
}

void WriteShownLeaderElection(const Configuration& c, const MemberNames& n, JsonWriter* out) {
  const auto& le = c.leader_election;
  out->Key(n("LeaderElection")).Object().Member(n("LeaderElect"), le.leader_elect);
  out->Member(n("LeaseDuration"), FormatGoDuration(le.lease_duration));
  out->Member(n("RenewDeadline"), FormatGoDuration(le.renew_deadline));
  out->Member(n("RetryPeriod"), FormatGoDuration(le.retry_period)).Member(n("ResourceLock"), le.resource_lock);
  out->Member(n("ResourceName"), le.lock_object_name).Member(n("ResourceNamespace"), le.lock_object_namespace).End();
}

void WriteShownConnection(const Configuration& c, const MemberNames& n, JsonWriter* out) {
  const auto& cc = c.client_connection;
  out->Key(n("ClientConnection")).Object().Member(n("Kubeconfig"), cc.kubeconfig);
  out->Member(n("AcceptContentTypes"), cc.accept_content_types).Member(n("ContentType"), cc.content_type);
  out->Key(n("QPS")).Literal(JsonFloat32(cc.qps)).Member(n("Burst"), cc.burst).End();
}

}  // namespace

std::string ProfilesToConfigz(const Configuration& c) {
  const MemberNames n(c.Form().shows_document);
  const Shown shown(n, c);
  const bool completes = scheduler::PluginsToConfigure(ReleaseToRun(c)).has_multi_point();
  JsonWriter out;
  out.Object().Key("componentconfig").Object();
  if (n.as_document()) out.Member("kind", "KubeSchedulerConfiguration");
  out.Member("apiVersion", configuration::NameOf(*configuration::NewestReadBy(c.release->version)));
  if (completes) out.Member(n("Parallelism"), c.parallelism);
  WriteShownLeaderElection(c, n, &out);
  WriteShownConnection(c, n, &out);
  if (!n.as_document()) {
    out.Member(n("HealthzBindAddress"), c.healthz_bind_address).Member(n("MetricsBindAddress"), c.metrics_bind_address);
  }
  out.Member(n("EnableProfiling"), c.enable_profiling);
  out.Member(n("EnableContentionProfiling"), c.enable_contention_profiling);
  out.Member(n("PercentageOfNodesToScore"), c.percentage_of_nodes_to_score);
  out.Member(n("PodInitialBackoffSeconds"), absl::ToInt64Seconds(c.pod_initial_backoff));
  out.Member(n("PodMaxBackoffSeconds"), absl::ToInt64Seconds(c.pod_max_backoff)).Key(n("Profiles"));
  if (completes) {
    out.Each(CompletedProfiles(c), [&](const configuration::Profile& p) { out.Literal(shown.ProfileOf(p)); });
  } else {
    out.Each(c.plugin_profiles, [&](const configuration::ResolvedProfile& p) {
      out.Object().Member(n("SchedulerName"), p.scheduler_name);
      WritePluginsCalled(p, n, &out.Key(n("Plugins")));
      out.End();
    });
  }
  if (!n.as_document() || !c.extenders.empty()) out.Key(n("Extenders")).Literal(shown.Value(c.extenders));
  if (completes && (!n.as_document() || c.delay_cache_until_active)) {
    out.Member(n("DelayCacheUntilActive"), c.delay_cache_until_active);
  }
  return out.End().End().Take();
}

}  // namespace berth::kube_scheduler
