// KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1 and v1beta3, as Kubernetes 1.29.14 reads it.
//
// Plain data; every field begins with its default. decode.h reads it, validation.h says what is wrong with it,
// profile.h turns its profiles into lists of plugins.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/args.h"

namespace berth::scheduler::configuration {

// A plugin as a profile names it; "*" among the disabled ones stands for all.
struct Plugin {
  std::string name;
  int32_t weight = 0;  // 0: none is given
  friend bool operator==(const Plugin&, const Plugin&) = default;
};

struct PluginSet {
  std::vector<Plugin> enabled, disabled;
  friend bool operator==(const PluginSet&, const PluginSet&) = default;
};

struct Plugins {
  PluginSet pre_enqueue, queue_sort, pre_filter, filter, post_filter, pre_score, score, reserve, permit, pre_bind, bind,
      post_bind;
  PluginSet multi_point;  // for every extension point that a plugin implements
};

struct PluginConfig {
  std::string name;
  PluginArgs args;
};

struct Profile {
  std::optional<std::string> scheduler_name;  // "default-scheduler" when there is one profile without a name
  std::optional<int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;
};

struct ExtenderTls {
  bool insecure = false;
  std::string server_name, cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // PEM, decoded from base64
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

struct Extender {
  std::string url_prefix;
  std::string filter_verb, preempt_verb, prioritize_verb, bind_verb;  // empty: the extender takes no part in this
  int64_t weight = 0;                                                 // positive with a prioritize verb
  bool enable_https = false;
  std::optional<ExtenderTls> tls_config;
  absl::Duration http_timeout = absl::ZeroDuration();  // zero: 5 s
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;  // its errors do not fail the pod
};

struct LeaderElection {
  bool leader_elect = true;
  absl::Duration lease_duration = absl::Seconds(15);
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);
  std::string resource_lock = "leases";
  std::string resource_namespace = "kube-system";
  std::string resource_name = "kube-scheduler";
};

struct ClientConnection {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";  // shown only: JSON is spoken
  float qps = 50;
  int32_t burst = 100;
};

enum class Version { kV1, kV1Beta3 };

struct KubeSchedulerConfiguration {
  Version version = Version::kV1;
  int32_t parallelism = 16;  // accepted; a decision takes one core
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  std::optional<bool> enable_contention_profiling;  // absent: as enable_profiling
  int32_t percentage_of_nodes_to_score = 0;         // accepted; every node is scored
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  bool delay_cache_until_active = false;
  std::vector<Profile> profiles;  // at least one after decoding
  std::vector<Extender> extenders;
};

}  // namespace berth::scheduler::configuration
