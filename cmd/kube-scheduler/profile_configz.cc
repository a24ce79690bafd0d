// Writes the body of /configz in release 1.29: the configuration with the names of its Go fields.
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

// Returns the plugins that are called at each extension point, which result from multiPoint and the defaults.
std::string PluginsOf(const ResolvedProfile& profile) {
  std::string out;
  for (const ExtensionPoint p : scheduler::configuration::ExtensionPoints()) {
    std::string name(scheduler::configuration::FieldName(p));
    name[0] = absl::ascii_toupper(static_cast<unsigned char>(name[0]));
    std::string enabled;
    for (const auto& plugin : profile.at(p)) {
      absl::StrAppend(&enabled, enabled.empty() ? "" : ",", "{\"Name\":", Json(plugin.name),
                      ",\"Weight\":", plugin.weight, "}");
    }
    absl::StrAppend(&out, out.empty() ? "" : ",", Json(name),
                    ":{\"Enabled\":", enabled.empty() ? "null" : absl::StrCat("[", enabled, "]"),
                    ",\"Disabled\":null}");
  }
  return out;
}

std::string LeaderElectionOf(const Configuration& c) {
  const auto& le = c.leader_election;
  return absl::StrCat(
      "{\"LeaderElect\":", BoolText(le.leader_elect), ",\"LeaseDuration\":", Json(FormatGoDuration(le.lease_duration)),
      ",\"RenewDeadline\":", Json(FormatGoDuration(le.renew_deadline)),
      ",\"RetryPeriod\":", Json(FormatGoDuration(le.retry_period)), ",\"ResourceLock\":", Json(le.resource_lock),
      ",\"ResourceName\":", Json(le.lock_object_name), ",\"ResourceNamespace\":", Json(le.lock_object_namespace), "}");
}

std::string ClientConnectionOf(const Configuration& c) {
  const auto& cc = c.client_connection;
  return absl::StrCat(
      "{\"Kubeconfig\":", Json(cc.kubeconfig), ",\"AcceptContentTypes\":", Json(cc.accept_content_types),
      ",\"ContentType\":", Json(cc.content_type), ",\"QPS\":", JsonFloat32(cc.qps), ",\"Burst\":", cc.burst, "}");
}

}  // namespace

std::string ProfilesToConfigz(const Configuration& c) {
  std::string profiles;
  for (const ResolvedProfile& p : c.plugin_profiles) {
    absl::StrAppend(&profiles, profiles.empty() ? "" : ",", "{\"SchedulerName\":", Json(p.scheduler_name),
                    ",\"Plugins\":{", PluginsOf(p), "}}");
  }
  std::string out = absl::StrCat(
      "{\"componentconfig\":{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"Parallelism\":", c.parallelism,
      ",\"LeaderElection\":", LeaderElectionOf(c), ",\"ClientConnection\":", ClientConnectionOf(c));
  absl::StrAppend(&out, ",\"HealthzBindAddress\":", Json(c.healthz_bind_address),
                  ",\"MetricsBindAddress\":", Json(c.metrics_bind_address),
                  ",\"EnableProfiling\":", BoolText(c.enable_profiling),
                  ",\"EnableContentionProfiling\":", BoolText(c.enable_contention_profiling));
  absl::StrAppend(&out, ",\"PercentageOfNodesToScore\":", c.percentage_of_nodes_to_score,
                  ",\"PodInitialBackoffSeconds\":", absl::ToInt64Seconds(c.pod_initial_backoff),
                  ",\"PodMaxBackoffSeconds\":", absl::ToInt64Seconds(c.pod_max_backoff), ",\"Profiles\":[", profiles,
                  "],\"DelayCacheUntilActive\":", BoolText(c.delay_cache_until_active), "}}");
  return out;
}

}  // namespace berth::kube_scheduler
