#include "cmd/kube-scheduler/profile_config.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/gates.h"
#include "pkg/scheduler/configuration/load.h"
#include "pkg/scheduler/factory/profile_plugins.h"
#include "pkg/util/contract.h"
#include "pkg/util/feature_gates.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {
namespace {

// Returns an address "host:port" as v1beta1 completes it: a host alone gets the default port, a port alone every
// address; what is neither becomes the default.
std::string BindAddress(const std::string& given) {
  const std::string by_default = Configuration().healthz_bind_address;
  if (given.empty()) return {};
  if (const auto parts = SplitHostPort(given)) return parts->host.empty() ? "0.0.0.0:" + parts->port : given;
  return IsIpAddress(given) ? JoinHostPort(given, SplitHostPort(by_default)->port) : by_default;
}

// Returns whether an address ends in a number that is no port.
bool HasImpossiblePort(std::string_view address) {
  const size_t colon = address.rfind(':');
  int64_t port = 0;
  return colon != std::string_view::npos && absl::SimpleAtoi(util::ToAbsl(address.substr(colon + 1)), &port) &&
         (port < 1 || port > 65535) && !IsIpAddress(std::string(address));
}

// Returns the newest release, whose versions errors name where no release reads a file.
const release::Id& NewestRelease() {
  return release::All().back();
}

// Returns the gates that a configuration depends on.
scheduler::configuration::Gates GatesFrom(const GateSettings& set, const scheduler::Release& release) {
  return scheduler::configuration::GatesBy([&](std::string_view name, bool otherwise) {
    const auto it = set.find(name);
    return it == set.end() || util::FindGate(release.gates, name) == nullptr ? otherwise : it->second;
  });
}

}  // namespace

absl::StatusOr<Configuration> FromProfileConfiguration(api::Json document, std::string_view text,
                                                       const release::Id* release, const ReadAs& as,
                                                       std::vector<std::string>* warnings) {
  const std::string& provider = as.provider;
  Configuration c;
  // Where no release reads the file, its mistakes are said in the words of the one that was asked for.
  const bool asked = as.release != nullptr && releases::Of(*as.release).decides.plugins != nullptr;
  UseDefaultsOf(release != nullptr ? *release : asked ? *as.release : NewestRelease(), &c);
  auto catalogue = scheduler::PluginsToConfigure(ReleaseToRun(c));
  if (!provider.empty() && !catalogue.UseProvider(provider)) {
    return util::InvalidArgument(absl::StrCat("couldn't create scheduler using provider ", util::GoQuoted(provider),
                                              ": algorithm provider ", util::GoQuoted(provider), " is not registered"));
  }
  auto loaded = scheduler::configuration::Load(document, catalogue, GatesFrom(as.gates, ReleaseToRun(c)), text);
  if (!loaded.problems.empty()) {
    std::string error = scheduler::configuration::ErrorText(loaded.problems);
    if (!catalogue.has_multi_point() && loaded.problems.size() == 1 &&
        loaded.problems[0].kind == scheduler::configuration::Problem::Kind::kProfile) {
      const std::string used = provider.empty() ? catalogue.ProviderNames().front() : provider;
      error = absl::StrCat("couldn't create scheduler using provider ", util::GoQuoted(used), ": ", error);
    }
    return util::InvalidArgument(error);
  }
  if (warnings != nullptr) warnings->insert(warnings->end(), loaded.notices.begin(), loaded.notices.end());
  const scheduler::configuration::KubeSchedulerConfiguration& from = loaded.configuration;
  c.plugin_profiles = std::move(loaded.profiles);
  c.base_provider = provider;
  c.extenders = from.extenders;
  c.plain_profiles = std::all_of(from.profiles.begin(), from.profiles.end(), [](const auto& p) {
    return p.plugin_config.empty() && p.plugins == scheduler::configuration::Plugins();
  });
  for (const auto& [field, address] : {std::pair("healthzBindAddress", &from.healthz_bind_address),
                                       {"metricsBindAddress", &from.metrics_bind_address}}) {
    if (!HasImpossiblePort(*address)) continue;
    return util::InvalidArgument(
        absl::StrCat(field, ": Invalid value: ", util::GoQuoted(*address), ": must be between 1 and 65535, inclusive"));
  }
  c.healthz_bind_address = BindAddress(from.healthz_bind_address);
  c.metrics_bind_address = BindAddress(from.metrics_bind_address);
  c.scheduler_name = c.plugin_profiles[0].scheduler_name;
  c.leader_election.leader_elect = from.leader_election.leader_elect;
  c.leader_election.lease_duration = from.leader_election.lease_duration;
  c.leader_election.renew_deadline = from.leader_election.renew_deadline;
  c.leader_election.retry_period = from.leader_election.retry_period;
  c.leader_election.resource_lock = from.leader_election.resource_lock;
  c.leader_election.lock_object_namespace = from.leader_election.resource_namespace;
  c.leader_election.lock_object_name = from.leader_election.resource_name;
  c.client_connection.kubeconfig = from.client_connection.kubeconfig;
  c.client_connection.accept_content_types = from.client_connection.accept_content_types;
  c.client_connection.content_type = from.client_connection.content_type;
  c.client_connection.qps = from.client_connection.qps;
  c.client_connection.burst = from.client_connection.burst;
  c.enable_profiling = from.enable_profiling;
  c.enable_contention_profiling = from.enable_contention_profiling.value_or(from.enable_profiling);
  c.percentage_of_nodes_to_score = from.percentage_of_nodes_to_score;
  c.pod_initial_backoff = absl::Seconds(from.pod_initial_backoff_seconds);
  c.pod_max_backoff = absl::Seconds(from.pod_max_backoff_seconds);
  c.parallelism = from.parallelism;
  c.delay_cache_until_active = from.delay_cache_until_active;
  return c;
}

std::map<util::Symbol, absl::Duration> VolumeBindTimeouts(const Configuration& c) {
  std::map<util::Symbol, absl::Duration> out;
  if (!c.ByProfiles()) out[util::Symbol(c.scheduler_name)] = c.bind_timeout;
  for (const auto& p : c.plugin_profiles) {
    const auto args = p.Args<scheduler::configuration::VolumeBindingArgs>("VolumeBinding");
    out[util::Symbol(p.scheduler_name)] = absl::Seconds(args.bind_timeout_seconds);
  }
  return out;
}

const scheduler::Release& ReleaseToRun(const Configuration& c) {
  BERTH_REQUIRES(c.release != nullptr);
  return c.Release().decides;
}

void UseDefaultsOf(const release::Id& release, Configuration* c) {
  c->release = &release;
  const releases::DaemonForm& form = c->Form();
  c->pod_max_backoff = form.max_backoff;
  c->pod_max_in_unschedulable = form.unschedulable_limit;
  c->leader_election.resource_lock = std::string(form.dialect.lock);
}

absl::Status SetRelease(const std::string& emulated_version, const std::string& config_file, Configuration* c,
                        const GateSettings& gates) {
  if (emulated_version.empty()) return absl::OkStatus();
  auto named = release::Named(emulated_version);
  if (!named.ok()) return util::InvalidArgument(absl::StrCat("--emulated-version: ", named.status().message()));
  if (*named == c->release) return absl::OkStatus();
  if (!config_file.empty()) {
    return util::InvalidArgument(absl::StrCat("--emulated-version=", emulated_version,
                                              " contradicts --config=", config_file,
                                              ", which is a configuration of release ", std::string(c->release->name)));
  }
  UseDefaultsOf(**named, c);
  const bool by_policy = c->Release().decides.has_policies && (c->algorithm.policy || c->algorithm.provider);
  if (c->Release().decides.plugins != nullptr && !by_policy) {
    c->plugin_profiles = {scheduler::configuration::DefaultProfile(scheduler::PluginsToConfigure(ReleaseToRun(*c)),
                                                                   GatesFrom(gates, ReleaseToRun(*c)))};
    c->plugin_profiles[0].scheduler_name = c->scheduler_name;
  }
  return absl::OkStatus();
}

}  // namespace berth::kube_scheduler
