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

// Writes a member as the document has it, if it does. Returns whether it does.
bool CopyMember(const api::Json& document, const char* name, api::JsonWriter* out) {
  const api::Json value = document.FindExact(name);
  if (value.IsNull()) return false;
  out->Key(name).Literal(value.Serialize());
  return true;
}

// Writes the plugins of every extension point, in place of the default ones.
void WritePluginsInsteadOfDefaults(const configuration::ResolvedProfile& profile, api::JsonWriter* out) {
  out->Key("plugins").Object();
  for (const configuration::ExtensionPoint point : configuration::ExtensionPoints()) {
    if (profile.at(point).empty()) continue;
    out->Key(configuration::FieldName(point)).Object();
    out->Key("disabled").Array().Object().Member("name", "*").End().End();
    out->Key("enabled").Array();
    for (const auto& plugin : profile.at(point)) {
      out->Object().Member("name", plugin.name);
      if (plugin.weight != 0) out->Key("weight").Number(plugin.weight);
      out->End();
    }
    out->End().End();
  }
  out->End();
}

// Writes the profile of a configuration that no file gave: the default plugins, or those of a provider.
void WriteProfileOfFlags(const Configuration& c, api::JsonWriter* out) {
  out->Member("schedulerName", c.scheduler_name);
  if (c.ByProfiles()) return;
  const int weight = c.hard_pod_affinity_symmetric_weight;
  if (weight != configuration::InterPodAffinityArgs().hard_pod_affinity_weight) {
    out->Key("pluginConfig").Array().Object().Member("name", "InterPodAffinity");
    out->Key("args").Object().Key("hardPodAffinityWeight").Number(weight).End().End().End();
  }
  if (c.algorithm.provider.value_or(std::string(scheduler::kDefaultProvider)) == scheduler::kDefaultProvider) return;
  const auto profile =
      configuration::ProfileOfProvider(*c.algorithm.provider, weight, scheduler::PluginsToConfigure(ReleaseToRun(c)));
  if (profile.ok()) WritePluginsInsteadOfDefaults(*profile, out);
}

std::string WithProfiles(const Configuration& c, const std::string& version, const api::Json& given) {
  const auto& le = c.leader_election;
  const bool older = version == configuration::ApiVersion(configuration::Version::kV1Beta1);
  const bool newest = version == configuration::ApiVersion(configuration::Version::kV1);
  api::JsonWriter out;
  out.Object().Member("apiVersion", version);
  WriteClientConnection(c.client_connection, &out);
  if (newest) out.Member("delayCacheUntilActive", c.delay_cache_until_active);
  out.Member("enableContentionProfiling", c.enable_contention_profiling).Member("enableProfiling", c.enable_profiling);
  CopyMember(given, "extenders", &out);
  if (older) out.Member("healthzBindAddress", c.healthz_bind_address);
  out.Member("kind", "KubeSchedulerConfiguration");
  out.Key("leaderElection").Object().Member("leaderElect", le.leader_elect);
  out.Member("leaseDuration", FormatGoDuration(le.lease_duration));
  out.Member("renewDeadline", FormatGoDuration(le.renew_deadline)).Member("resourceLock", le.resource_lock);
  out.Member("resourceName", le.lock_object_name).Member("resourceNamespace", le.lock_object_namespace);
  out.Member("retryPeriod", FormatGoDuration(le.retry_period)).End();
  if (older) out.Member("metricsBindAddress", c.metrics_bind_address);
  if (!older) out.Key("parallelism").Number(c.parallelism);
  out.Key("percentageOfNodesToScore").Number(c.percentage_of_nodes_to_score);
  out.Member("podInitialBackoffSeconds", c.pod_initial_backoff / absl::Seconds(1));
  out.Member("podMaxBackoffSeconds", c.pod_max_backoff / absl::Seconds(1));
  if (!CopyMember(given, "profiles", &out)) {
    out.Key("profiles").Array().Object();
    WriteProfileOfFlags(c, &out);
    out.End().End();
  }
  out.End();
  return out.Finish("yaml");
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
