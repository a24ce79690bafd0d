// A scheduler Policy, v1, as Kubernetes 1.10 reads it from --policy-config-file or from the key policy.cfg of a
// ConfigMap. These are plain data: decode.h reads them, validation.h checks them, and the factory builds a scheduler
// from them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::scheduler {

// An entry of the list of predicates.
struct PredicatePolicy {
  std::string name;
  // An entry with an argument creates a predicate of that name, which replaces a registered one. Exactly one of the
  // optional members must be given, unless a registered rule of that name reads `json` itself.
  struct Argument {
    struct ServiceAffinity {
      std::vector<std::string> labels;
    };
    struct LabelsPresence {
      std::vector<std::string> labels;
      bool presence = false;
    };
    std::optional<ServiceAffinity> service_affinity;
    std::optional<LabelsPresence> labels_presence;
    std::string json;  // the argument as in the file, for rules that read their own
  };
  std::optional<Argument> argument;
};

// An entry of the list of priorities.
struct PriorityPolicy {
  std::string name;
  int64_t weight = 0;  // at least 1
  struct Argument {
    struct ServiceAntiAffinity {
      std::string label;
    };
    struct LabelPreference {
      std::string label;
      bool presence = false;
    };
    // The requestedToCapacityRatioArguments, in releases of history::kRatioArguments.
    struct RequestedToCapacityRatio {
      struct Point {
        int64_t utilization = 0, score = 0;  // utilization 0..100, strictly increasing; score 0..10
      };
      struct Resource {
        std::string name;
        int64_t weight = 1;
      };
      std::vector<Point> shape;         // at least one point
      std::vector<Resource> resources;  // if empty, cpu and memory, as before 1.16
    };
    std::optional<ServiceAntiAffinity> service_anti_affinity;
    std::optional<LabelPreference> label_preference;
    std::optional<RequestedToCapacityRatio> requested_to_capacity_ratio;
    std::string json;  // the argument as in the file, for rules that read their own
  };
  std::optional<Argument> argument;
};

// The TLS settings of an extender. A file is the path of a PEM file.
struct ExtenderTls {
  bool insecure = false;
  std::string server_name, cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // PEM, already decoded from base64
};

// An extended resource that an extender manages.
struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

// An extender, in a Policy or in a KubeSchedulerConfiguration.
struct ExtenderConfig {
  std::string url_prefix;
  std::string filter_verb, prioritize_verb, bind_verb;  // if empty, the extender does not do this
  std::string preempt_verb;                             // in releases of history::kExtenderFailures
  int64_t weight = 0;
  bool enable_https = false;
  std::optional<ExtenderTls> tls;
  int64_t http_timeout_nanos = 0;  // 0 means 5 seconds
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable =
      false;  // whether pods are scheduled without it when it fails; in releases of history::kExtenderFailures
  // How the release reads answers and words errors: FailedAndUnresolvableNodes, and errors in small letters; whether a
  // name in NodeNames that was not sent is an error; and whether errors name the URL with the verb.
  bool strict_answers = false, refuses_unknown_nodes = false, names_verb = false;
};

struct Policy {
  // If absent or null, those of DefaultProvider; if empty, only the mandatory predicates.
  std::optional<std::vector<PredicatePolicy>> predicates;
  std::optional<std::vector<PriorityPolicy>> priorities;
  std::vector<ExtenderConfig> extenders;
  int64_t hard_pod_affinity_symmetric_weight = 0;  // if 0, the value of the flag or of the configuration counts
  bool always_check_all_predicates = false;
};

}  // namespace berth::scheduler
