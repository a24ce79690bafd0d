// A scheduler Policy, v1, as Kubernetes 1.10 reads it from --policy-config-file or from a ConfigMap's key policy.cfg.
// Plain data; decode.h reads it, validation.h checks it, the factory builds a scheduler from it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::scheduler {

struct PredicatePolicy {
  std::string name;
  // An argument makes a new predicate under the name (and replaces a known one). Exactly one of its members must be
  // given.
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
    std::string json;  // the whole argument as it stands in the file: for rules with arguments of their own
  };
  std::optional<Argument> argument;
};

struct PriorityPolicy {
  std::string name;
  int64_t weight = 0;  // 1 and up
  struct Argument {
    struct ServiceAntiAffinity {
      std::string label;
    };
    struct LabelPreference {
      std::string label;
      bool presence = false;
    };
    // requestedToCapacityRatioArguments, of Policies of Kubernetes 1.12 to 1.22.
    struct RequestedToCapacityRatio {
      struct Point {
        int64_t utilization = 0, score = 0;  // 0..100, strictly increasing; 0..10
      };
      struct Resource {
        std::string name;
        int64_t weight = 1;
      };
      std::vector<Point> shape;         // at least one
      std::vector<Resource> resources;  // empty: cpu and memory, as before 1.16
    };
    std::optional<ServiceAntiAffinity> service_anti_affinity;
    std::optional<LabelPreference> label_preference;
    std::optional<RequestedToCapacityRatio> requested_to_capacity_ratio;
    std::string json;  // the whole argument as it stands in the file: for rules with arguments of their own
  };
  std::optional<Argument> argument;
};

struct ExtenderTls {
  bool insecure = false;
  std::string server_name, cert_file, key_file, ca_file;
  std::string cert_data, key_data, ca_data;  // PEM, already decoded from base64
};

struct ExtenderManagedResource {
  std::string name;
  bool ignored_by_scheduler = false;
};

struct ExtenderConfig {
  std::string url_prefix;
  std::string filter_verb, prioritize_verb, bind_verb;  // empty: the extender does not take part in this
  std::string preempt_verb;                             // release 1.29 only
  int64_t weight = 0;
  bool enable_https = false;
  std::optional<ExtenderTls> tls;
  int64_t http_timeout_nanos = 0;  // 0: 5 s
  bool node_cache_capable = false;
  std::vector<ExtenderManagedResource> managed_resources;
  bool ignorable = false;  // its errors do not fail the pod; release 1.29 only
  // Answers are read and errors are worded as in release 1.29: a name that was not sent is an error.
  bool as_v1_29 = false;
};

struct Policy {
  // Absent (or null): those of DefaultProvider. Empty: none but the mandatory ones.
  std::optional<std::vector<PredicatePolicy>> predicates;
  std::optional<std::vector<PriorityPolicy>> priorities;
  std::vector<ExtenderConfig> extenders;
  int64_t hard_pod_affinity_symmetric_weight = 0;  // 0: the flag's or configuration's
  bool always_check_all_predicates = false;
};

}  // namespace berth::scheduler
