// The KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1 and v1beta3, as Kubernetes 1.29.14 reads it, and of
// v1beta1, as Kubernetes 1.19.16 does.
//
// These are plain data, and every field starts with its default. decode.h reads them, validation.h checks them, and
// profile.h converts the profiles to lists of plugins.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/args.h"
#include "pkg/scheduler/policy/policy.h"

namespace berth::scheduler::configuration {

// A plugin in a list of a profile. The name "*" among the disabled plugins stands for all.
struct Plugin {
  std::string name;
  int32_t weight = 0;  // 0 if none is given
  friend bool operator==(const Plugin&, const Plugin&) = default;
};

struct PluginSet {
  std::vector<Plugin> enabled, disabled;
  friend bool operator==(const PluginSet&, const PluginSet&) = default;
};

struct Plugins {
  PluginSet pre_enqueue, queue_sort, pre_filter, filter, post_filter, pre_score, score, reserve, permit, pre_bind, bind,
      post_bind;
  PluginSet placement_generate, placement_score;  // since 1.36; of groups of pods, which are not placed here
  PluginSet multi_point;                          // applies to every extension point that a plugin implements
  friend bool operator==(const Plugins&, const Plugins&) = default;
};

struct PluginConfig {
  std::string name;
  PluginArgs args;
};

struct Profile {
  std::optional<std::string> scheduler_name;  // "default-scheduler" if there is a single profile without a name
  std::optional<int32_t> percentage_of_nodes_to_score;
  Plugins plugins;
  std::vector<PluginConfig> plugin_config;
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
  std::string content_type = "application/vnd.kubernetes.protobuf";  // shown only; requests use JSON
  float qps = 50;
  int32_t burst = 100;
};

// In ascending order.
enum class Version : uint8_t { kV1Beta1, kV1Beta3, kV1 };

struct KubeSchedulerConfiguration {
  Version version = Version::kV1;
  int32_t parallelism = 16;  // has no effect: a decision uses one core
  LeaderElection leader_election;
  ClientConnection client_connection;
  bool enable_profiling = true;
  std::optional<bool> enable_contention_profiling;  // if absent, the same as enable_profiling
  int32_t percentage_of_nodes_to_score = 0;         // has no effect: every node is scored
  int64_t pod_initial_backoff_seconds = 1;
  int64_t pod_max_backoff_seconds = 10;
  bool delay_cache_until_active = false;
  // v1beta1 only: where health and metrics are served without TLS. Empty: nowhere.
  std::string healthz_bind_address = "0.0.0.0:10251", metrics_bind_address = "0.0.0.0:10251";
  std::vector<Profile> profiles;          // at least one after decoding
  std::vector<ExtenderConfig> extenders;  // like those of a Policy, with other member names
};

}  // namespace berth::scheduler::configuration
