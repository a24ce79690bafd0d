// Writes the body of /configz: in releases 1.19 and 1.29 the configuration with the names of its Go fields, and in 1.36
// as a document of v1 has it. The order of the members is that of the structures, which both forms share.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <string>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"

namespace berth::kube_scheduler {
namespace {

using scheduler::configuration::ExtensionPoint;
using scheduler::configuration::ResolvedProfile;

std::string Json(std::string_view s) {
  std::string out;
  api::AppendJsonString(s, &out);
  return out;
}

const char* BoolText(bool b) {
  return b ? "true" : "false";
}

// Names members as Go does or, for a document, as it is written: they differ in the first letter, or in all of them if
// the name is an abbreviation.
class MemberNames {
 public:
  explicit MemberNames(bool as_document) : as_document_(as_document) {}
  bool as_document() const { return as_document_; }
  // Returns the name in quotes, followed by a colon.
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

 private:
  const bool as_document_;
};

// Returns the plugins that are called at each extension point, which result from multiPoint and the defaults.
std::string PluginsOf(const ResolvedProfile& profile, const MemberNames& n) {
  std::string out;
  for (const ExtensionPoint p : scheduler::configuration::ExtensionPoints()) {
    std::string name(scheduler::configuration::FieldName(p));
    name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
    std::string enabled;
    for (const auto& plugin : profile.at(p)) {
      absl::StrAppend(&enabled, enabled.empty() ? "" : ",", "{", n("Name"), Json(plugin.name), ",", n("Weight"),
                      plugin.weight, "}");
    }
    absl::StrAppend(&out, out.empty() ? "" : ",", n(name), "{");
    if (!n.as_document()) {
      absl::StrAppend(&out, n("Enabled"), enabled.empty() ? "null" : absl::StrCat("[", enabled, "]"), ",",
                      n("Disabled"), "null");
    } else if (!enabled.empty()) {
      absl::StrAppend(&out, n("Enabled"), "[", enabled, "]");
    }
    out += "}";
  }
  return out;
}

std::string LeaderElectionOf(const Configuration& c, const MemberNames& n) {
  const auto& le = c.leader_election;
  return absl::StrCat("{", n("LeaderElect"), BoolText(le.leader_elect), ",", n("LeaseDuration"),
                      Json(FormatGoDuration(le.lease_duration)), ",", n("RenewDeadline"),
                      Json(FormatGoDuration(le.renew_deadline)), ",", n("RetryPeriod"),
                      Json(FormatGoDuration(le.retry_period)), ",", n("ResourceLock"), Json(le.resource_lock), ",",
                      n("ResourceName"), Json(le.lock_object_name), ",", n("ResourceNamespace"),
                      Json(le.lock_object_namespace), "}");
}

std::string ClientConnectionOf(const Configuration& c, const MemberNames& n) {
  const auto& cc = c.client_connection;
  return absl::StrCat("{", n("Kubeconfig"), Json(cc.kubeconfig), ",", n("AcceptContentTypes"),
                      Json(cc.accept_content_types), ",", n("ContentType"), Json(cc.content_type), ",", n("QPS"),
                      JsonFloat32(cc.qps), ",", n("Burst"), cc.burst, "}");
}

}  // namespace

std::string ProfilesToConfigz(const Configuration& c) {
  const MemberNames n(c.Form().shows_document);
  std::string profiles;
  for (const ResolvedProfile& p : c.plugin_profiles) {
    absl::StrAppend(&profiles, profiles.empty() ? "" : ",", "{", n("SchedulerName"), Json(p.scheduler_name), ",",
                    n("Plugins"), "{", PluginsOf(p, n), "}}");
  }
  std::string out =
      absl::StrCat("{\"componentconfig\":{", n.as_document() ? "\"kind\":\"KubeSchedulerConfiguration\"," : "",
                   "\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",", n("Parallelism"), c.parallelism, ",",
                   n("LeaderElection"), LeaderElectionOf(c, n), ",", n("ClientConnection"), ClientConnectionOf(c, n));
  if (!n.as_document()) {
    absl::StrAppend(&out, ",", n("HealthzBindAddress"), Json(c.healthz_bind_address), ",", n("MetricsBindAddress"),
                    Json(c.metrics_bind_address));
  }
  absl::StrAppend(&out, ",", n("EnableProfiling"), BoolText(c.enable_profiling), ",", n("EnableContentionProfiling"),
                  BoolText(c.enable_contention_profiling), ",", n("PercentageOfNodesToScore"),
                  c.percentage_of_nodes_to_score, ",", n("PodInitialBackoffSeconds"),
                  absl::ToInt64Seconds(c.pod_initial_backoff), ",", n("PodMaxBackoffSeconds"));
  absl::StrAppend(&out, absl::ToInt64Seconds(c.pod_max_backoff), ",", n("Profiles"), "[", profiles, "]");
  if (!n.as_document() || c.delay_cache_until_active) {
    absl::StrAppend(&out, ",", n("DelayCacheUntilActive"), BoolText(c.delay_cache_until_active));
  }
  return absl::StrCat(out, "}}");
}

}  // namespace berth::kube_scheduler
