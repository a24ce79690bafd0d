#include "cmd/kube-scheduler/written_config.h"

#include <absl/strings/str_cat.h>

#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/profile_config.h"
#include "pkg/api/json_writer.h"
#include "pkg/api/stream.h"
#include "pkg/scheduler/configuration/policy_profile.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/scheduler/factory/profile_plugins.h"

namespace berth::kube_scheduler {
namespace {

namespace configuration = scheduler::configuration;

// Returns a member with the value as JSON, which is YAML, or nothing if the document does not have it.
std::string MemberOf(const api::Json& document, const char* name) {
  const api::Json value = document.FindExact(name);
  return value.IsNull() ? "" : absl::StrCat(name, ": ", value.Serialize(), "\n");
}

// Returns the plugins of every extension point, in place of the default ones.
std::string PluginsInsteadOfDefaults(const configuration::ResolvedProfile& profile) {
  std::string out = "  plugins:\n";
  for (const configuration::ExtensionPoint point : configuration::ExtensionPoints()) {
    if (profile.at(point).empty()) continue;
    absl::StrAppend(&out, "    ", std::string(configuration::FieldName(point)),
                    ":\n      disabled:\n      - name: \"*\"\n      enabled:\n");
    for (const auto& plugin : profile.at(point)) {
      absl::StrAppend(&out, "      - name: ", api::JsonString(plugin.name), "\n");
      if (plugin.weight != 0) absl::StrAppend(&out, "        weight: ", plugin.weight, "\n");
    }
  }
  return out;
}

// Returns the profiles of a configuration that no file gave: the default plugins, or those of a provider.
std::string ProfilesOfFlags(const Configuration& c) {
  std::string out = absl::StrCat("profiles:\n- schedulerName: ", api::JsonString(c.scheduler_name), "\n");
  if (c.ByProfiles()) return out;
  const int weight = c.hard_pod_affinity_symmetric_weight;
  if (weight != configuration::InterPodAffinityArgs().hard_pod_affinity_weight) {
    absl::StrAppend(
        &out, "  pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: ", weight, "\n");
  }
  if (c.algorithm.provider.value_or(std::string(scheduler::kDefaultProvider)) == scheduler::kDefaultProvider)
    return out;
  const auto profile =
      configuration::ProfileOfProvider(*c.algorithm.provider, weight, scheduler::PluginsToConfigure(ReleaseToRun(c)));
  return profile.ok() ? out + PluginsInsteadOfDefaults(*profile) : out;
}

std::string WithProfiles(const Configuration& c, const std::string& version, const api::Json& given) {
  const auto& le = c.leader_election;
  const auto& cc = c.client_connection;
  const auto text = [](bool b) { return b ? "true" : "false"; };
  const bool older = version == configuration::ApiVersion(configuration::Version::kV1Beta1);
  const bool newest = version == configuration::ApiVersion(configuration::Version::kV1);
  std::string out = absl::StrCat(
      "apiVersion: ", version, "\nclientConnection:\n  acceptContentTypes: ", api::JsonString(cc.accept_content_types),
      "\n  burst: ", cc.burst, "\n  contentType: ", api::JsonString(cc.content_type),
      "\n  kubeconfig: ", api::JsonString(cc.kubeconfig), "\n  qps: ", JsonFloat32(cc.qps), "\n");
  if (newest) absl::StrAppend(&out, "delayCacheUntilActive: ", text(c.delay_cache_until_active), "\n");
  absl::StrAppend(&out, "enableContentionProfiling: ", text(c.enable_contention_profiling),
                  "\nenableProfiling: ", text(c.enable_profiling), "\n", MemberOf(given, "extenders"));
  if (older) absl::StrAppend(&out, "healthzBindAddress: ", api::JsonString(c.healthz_bind_address), "\n");
  absl::StrAppend(&out, "kind: KubeSchedulerConfiguration\nleaderElection:\n  leaderElect: ", text(le.leader_elect),
                  "\n  leaseDuration: ", FormatGoDuration(le.lease_duration),
                  "\n  renewDeadline: ", FormatGoDuration(le.renew_deadline),
                  "\n  resourceLock: ", api::JsonString(le.resource_lock),
                  "\n  resourceName: ", api::JsonString(le.lock_object_name));
  absl::StrAppend(&out, "\n  resourceNamespace: ", api::JsonString(le.lock_object_namespace),
                  "\n  retryPeriod: ", FormatGoDuration(le.retry_period), "\n");
  if (older) absl::StrAppend(&out, "metricsBindAddress: ", api::JsonString(c.metrics_bind_address), "\n");
  if (!older) absl::StrAppend(&out, "parallelism: ", c.parallelism, "\n");
  absl::StrAppend(&out, "percentageOfNodesToScore: ", c.percentage_of_nodes_to_score,
                  "\npodInitialBackoffSeconds: ", c.pod_initial_backoff / absl::Seconds(1),
                  "\npodMaxBackoffSeconds: ", c.pod_max_backoff / absl::Seconds(1), "\n");
  const std::string profiles = MemberOf(given, "profiles");
  return out + (profiles.empty() ? ProfilesOfFlags(c) : profiles);
}

}  // namespace

std::string WrittenConfiguration(const Configuration& c, std::vector<std::string>* lost) {
  const configuration::VersionRow* row = configuration::NewestReadBy(c.release->version);
  if (row == nullptr || !row->version) return ConfigurationToYaml(c);
  if (c.algorithm.policy) lost->emplace_back(c.algorithm.policy->file ? "--policy-config-file" : "--policy-configmap");
  if (!c.base_provider.empty()) lost->emplace_back("--algorithm-provider");
  // The text was read before, and a configuration without one has nothing to copy.
  const auto given = api::ReadDocument(c.configuration_text.empty() ? "{}" : c.configuration_text);
  const api::Json root = given.ok() ? given->root() : api::Json();
  const std::string version(root.FindExact("apiVersion").Text());
  return WithProfiles(c, version.empty() ? configuration::ApiVersion(*row->version) : version, root);
}

}  // namespace berth::kube_scheduler
