// KubeSchedulerConfiguration: everything that flags or a file can configure
// (componentconfig/v1alpha1 of Kubernetes 1.10, with a few fields that later releases added).
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"

namespace berth::kube_scheduler {

struct PolicyConfigMapSource {
  std::string ns, name;
};
struct PolicySource {
  std::optional<std::string> file;
  std::optional<PolicyConfigMapSource> config_map;
};
// Where a scheduling algorithm comes from. The provider wins over the policy, in a policy the file over the ConfigMap;
// a policy with neither is an empty one.
struct AlgorithmSource {
  std::optional<std::string> provider;
  std::optional<PolicySource> policy;
};

struct Profile {
  std::string scheduler_name;
  AlgorithmSource algorithm;
};

struct Configuration {
  std::string release = "1.10";  // whose decisions are made: 1.10 or 1.29
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
    std::string content_type = "application/vnd.kubernetes.protobuf";  // shown only: JSON is spoken
    float qps = 50;
    int32_t burst = 100;
  } client_connection;

  std::string healthz_bind_address = "0.0.0.0:10251";  // host:port; empty: not served
  std::string metrics_bind_address = "0.0.0.0:10251";
  bool enable_profiling = false;
  bool enable_contention_profiling = false;
  std::string failure_domains =
      "kubernetes.io/hostname,failure-domain.beta.kubernetes.io/zone,failure-domain.beta.kubernetes.io/region";

  // ---- release 1.29, in place of `algorithm` and `profiles` ----
  std::vector<scheduler::configuration::ResolvedProfile> later_profiles;
  std::vector<scheduler::ExtenderConfig> later_extenders;
  std::string later_configuration;  // the text of the configuration file, for recordings; empty: the default profile

  // ---- what later releases brought ----
  std::vector<Profile> profiles;             // further schedulers in this process, beside `scheduler_name`
  int32_t percentage_of_nodes_to_score = 0;  // every node is scored, whatever it says
  absl::Duration pod_initial_backoff = absl::Seconds(1);
  absl::Duration pod_max_backoff = absl::Seconds(60);
  absl::Duration pod_max_in_unschedulable = absl::Seconds(60);
  int32_t parallelism = 16;               // accepted; a decision takes one core
  bool delay_cache_until_active = false;  // follow the API server only once this process leads
};

// Reads a file, JSON or YAML: of componentconfig/v1alpha1, which chooses release 1.10, or of
// kubescheduler.config.k8s.io, which chooses 1.29 and is read strictly (later_config.h). Of the former it fills in the
// defaults of absent fields (leaderElect: false, as in 1.10). Keys go in any letter case; unknown ones and odd values
// that 1.10 swallows come back in `warnings`. The error is the text behind "error: ": upstream's where it has one, else
// it begins with the path.
absl::StatusOr<Configuration> LoadConfiguration(const std::string& path, std::vector<std::string>* warnings);
// The same of a text that `origin` names in errors.
absl::StatusOr<Configuration> ParseConfiguration(std::string_view text, const std::string& origin,
                                                 std::vector<std::string>* warnings);

// Messages call a value by the name that was used for it: "--kube-api-qps" or "clientConnection.qps".
enum class Spelling { kFlags, kFile };
// What 1.10 finds only when it uses a value, or never. Empty when all is well, else one problem a line: setting, value
// and what would be right.
std::vector<std::string> CheckConfiguration(const Configuration& c, Spelling spelling);

// A file that LoadConfiguration reads back as the same.
std::string ConfigurationToYaml(const Configuration& c);
// The body of /configz.
std::string ConfigurationToConfigz(const Configuration& c);

// "host:port" in its parts; IPv6 hosts are in brackets. Nothing when it is not that.
struct HostPort {
  std::string host;  // without brackets
  std::string port;
};
std::optional<HostPort> SplitHostPort(std::string_view address);
std::string JoinHostPort(std::string_view host, std::string_view port);
bool IsIpAddress(std::string_view text);  // IPv6 without brackets; a zone (%eth0) may follow
// An IP address, or a name as DNS knows them.
bool IsHost(std::string_view text);

}  // namespace berth::kube_scheduler
