// The KubeSchedulerConfiguration of releases without profiles: componentconfig/v1alpha1, and v1alpha1 of its own API
// group. The daemon, `schedsim check` and the JSON Schema read it by one description of its members
// (component_fields.h).
//
// The releases read such a file leniently: names of members may be in any case, and unknown members are ignored.
// Thread-safety: thread-safe, without state.
#pragma once
#include <absl/time/time.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/configuration/problem.h"

namespace berth::scheduler::configuration {

// The document. What is absent, null, empty or 0 has its default, which depends on the reader.
struct ComponentConfiguration {
  struct PolicyFile {
    std::string path;
  };
  struct PolicyMap {
    std::string ns, name;
  };
  struct PolicySource {
    std::optional<PolicyFile> file;
    std::optional<PolicyMap> config_map;
  };
  struct AlgorithmSource {
    std::string provider;
    std::optional<PolicySource> policy;
  };
  struct LeaderElection {
    std::optional<bool> leader_elect;
    absl::Duration lease_duration, renew_deadline, retry_period;
    std::string resource_lock;
    std::string lock_object_namespace, lock_object_name;
    std::string resource_namespace, resource_name;  // the same in later versions; they count if both are given
  };
  struct ClientConnection {
    std::string kubeconfig, accept_content_types, content_type;
    float qps = 0;
    int32_t burst = 0;
  };
  struct Profile {
    std::string scheduler_name;
    AlgorithmSource algorithm_source;
  };

  std::string api_version, kind;
  std::string scheduler_name;
  AlgorithmSource algorithm_source;
  int32_t hard_pod_affinity_symmetric_weight = 0;
  LeaderElection leader_election;
  ClientConnection client_connection;
  std::string healthz_bind_address, metrics_bind_address;  // an IP address, or host:port
  std::optional<bool> enable_profiling, enable_contention_profiling;
  std::string failure_domains;
  int32_t percentage_of_nodes_to_score = 0;
  std::optional<bool> disable_preemption;
  int32_t bind_timeout_seconds = 0;
  int32_t pod_initial_backoff_seconds = 0, pod_max_backoff_seconds = 0;
  absl::Duration pod_max_in_unschedulable_pods_duration;
  int32_t parallelism = 0;
  std::optional<bool> delay_cache_until_active;
  std::vector<Profile> profiles;
};

// A document as it could be read. Values of members with problems are not set.
struct ComponentDocument {
  ComponentConfiguration values;
  std::vector<Problem> problems;      // wrong types, and what can be said of a value by itself, in its order
  std::vector<std::string> warnings;  // what is accepted and ignored
};
// REQUIRES: the document is an object.
ComponentDocument ReadComponent(api::Json document);
// Checks what the daemon finds only when it uses a value: locks and their times, back-off, names of schedulers.
// `leads_by_default`: what leaderElect is where the file has none.
std::vector<Problem> CheckComponentValues(const ComponentConfiguration& c, bool leads_by_default);

// Returns the JSON Schema (draft 7) of what a release reads that is not configured by profiles.
std::string ComponentSchema(release::Version release);

}  // namespace berth::scheduler::configuration
