// KubeSchedulerConfiguration: everything that flags or a file can configure (componentconfig/v1alpha1 of Kubernetes
// 1.10, with a few fields of later releases).
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json_writer.h"
#include "pkg/release/release.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/util/host_port.h"

namespace berth::kube_scheduler {

struct PolicyConfigMapSource {
  std::string ns, name;
};
struct PolicySource {
  std::optional<std::string> file;
  std::optional<PolicyConfigMapSource> config_map;
};
// Where a scheduling algorithm comes from. A provider takes precedence over a Policy, and a Policy's file over its
// ConfigMap. A Policy with neither is empty.
struct AlgorithmSource {
  std::optional<std::string> provider;
  std::optional<PolicySource> policy;
};

struct Profile {
  std::string scheduler_name;
  AlgorithmSource algorithm;
};

struct Configuration {
  const release::Id* release = &release::Default();  // the release whose decisions are made
  std::string scheduler_name = "default-scheduler";
  AlgorithmSource algorithm;
  int32_t hard_pod_affinity_symmetric_weight = 1;  // 1..100

  struct LeaderElection {
    bool leader_elect = true;
    absl::Duration lease_duration = absl::Seconds(15);
    absl::Duration renew_deadline = absl::Seconds(10);
    absl::Duration retry_period = absl::Seconds(2);
    std::string resource_lock = "endpoints";
    std::string lock_object_namespace = "kube-system";
    std::string lock_object_name = "kube-scheduler";
  } leader_election;

  struct ClientConnection {
    std::string kubeconfig;
    std::string accept_content_types;
    std::string content_type = "application/vnd.kubernetes.protobuf";  // shown only, because JSON is always used
    float qps = 50;
    int32_t burst = 100;
  } client_connection;

  std::string healthz_bind_address = "0.0.0.0:10251";  // host:port; empty: not served
  std::string metrics_bind_address = "0.0.0.0:10251";
  bool enable_profiling = false;
  bool enable_contention_profiling = false;
  std::string failure_domains =
      "kubernetes.io/hostname,failure-domain.beta.kubernetes.io/zone,failure-domain.beta.kubernetes.io/region";

  // ---- a release that is configured by profiles, in place of `algorithm` and `profiles` ----
  std::vector<scheduler::configuration::ResolvedProfile> plugin_profiles;
  std::vector<scheduler::ExtenderConfig> extenders;
  bool plain_profiles = true;      // no profile of the file changes plugins or arguments
  std::string base_provider;       // whose plugins the profiles of the file change; empty: the default one
  std::string configuration_text;  // the text of the configuration file, for recordings; empty: the default profile

  // Return what the release is, and whether profiles of plugins decide in this configuration.
  const releases::Release& Release() const { return releases::Of(*release); }
  const releases::DaemonForm& Form() const { return releases::DaemonFormOf(*release); }
  bool ByProfiles() const { return !plugin_profiles.empty(); }

  // ---- fields that came after 1.10 ----
  std::vector<Profile> profiles;             // more schedulers in this process, in addition to `scheduler_name`
  int32_t percentage_of_nodes_to_score = 0;  // of the file; counts only with --percentage-of-nodes-to-score=release
  bool disable_preemption = false;           // 1.13
  absl::Duration bind_timeout = absl::Minutes(10);  // 1.13: bindTimeoutSeconds, for all claims of a pod
  absl::Duration pod_initial_backoff = absl::Seconds(1);
  absl::Duration pod_max_backoff = absl::Seconds(60);
  absl::Duration pod_max_in_unschedulable = absl::Seconds(60);
  int32_t parallelism = 16;               // has no effect: a decision uses one core
  bool delay_cache_until_active = false;  // start to follow the API server only when this process leads
};

// The gates that were set, by name.
using GateSettings = std::map<std::string, bool, std::less<>>;

// What flags say about how a file is read.
struct ReadAs {
  const release::Id* release = nullptr;  // --emulated-version; null: the first one that reads the file's version
  std::string provider;                  // --algorithm-provider, the base of profiles; empty: the default one
  GateSettings gates;                    // --feature-gates
};

// Reads a file in JSON or YAML. Its apiVersion chooses the release. v1alpha1, of either group, has a provider or a
// Policy: absent fields get their defaults (of componentconfig/v1alpha1: leaderElect false, as in 1.10), names of
// fields may be in any case, and unknown fields and odd values that the release accepts silently are returned in
// `warnings`. Later versions have profiles and are read strictly (profile_config.h). The error is the text after
// "error:
// ": upstream's if there is one, and otherwise one that begins with the path.
absl::StatusOr<Configuration> LoadConfiguration(const std::string& path, std::vector<std::string>* warnings,
                                                const ReadAs& as = {});
// Like LoadConfiguration, but from a text. `origin` names it in errors.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text, const std::string& origin,
                                                 std::vector<std::string>* warnings, const ReadAs& as = {});

// How messages name a value: "--kube-api-qps" or "clientConnection.qps".
enum class Spelling { kFlags, kFile };
// Checks values that 1.10 checks only when it uses them, or never. Returns one line for each problem, with the setting,
// its value and what would be right; empty if there is none.
std::vector<std::string> CheckConfiguration(const Configuration& c, Spelling spelling);

// Writes the member clientConnection, which all versions share.
void WriteClientConnection(const Configuration::ClientConnection& cc, api::JsonWriter* out);

// Returns the text of a file that LoadConfiguration reads back as the same configuration.
std::string ConfigurationToYaml(const Configuration& c);
// Returns the body of /configz.
std::string ConfigurationToConfigz(const Configuration& c);

using util::HostPort, util::IsHost, util::IsIpAddress, util::JoinHostPort, util::SplitHostPort;

}  // namespace berth::kube_scheduler
