// Creates the pods that controllers would create, for inputs that contain Deployments, ReplicaSets and the like without
// their pods.
#pragma once
#include <absl/status/status.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/decode.h"

namespace berth::lab {

enum class Expand {
  kMissing,  // every replica that is missing
  kAuto,     // as kMissing, but only if the input has no pod of any of its workloads
  kOff,
};

// Returns "KIND NAMESPACE/NAME", which identifies an object among all objects of an input.
std::string ObjectKey(std::string_view kind, std::string_view ns, std::string_view name);

// Collects workloads while an input is read and creates their pods afterwards.
class Expander {
 public:
  // Returns whether the kind has a pod template: ReplicaSet, ReplicationController, Deployment, StatefulSet, Job,
  // DaemonSet.
  static bool IsWorkload(std::string_view kind);

  // Records a workload. `loose` says whether the defaults of an API server apply to its pods.
  void Add(api::Json workload, std::string_view kind, bool loose);
  // Adds the workloads that another object has recorded.
  void Append(Expander&& other);

  // What Make has created.
  struct Made {
    std::vector<api::PodPtr> pods;      // those of DaemonSets first, then by workload in input order
    std::vector<api::Object> objects;   // the ReplicaSets that Deployments would create
    std::map<std::string, int64_t> by;  // number of pods by kind of workload
    std::vector<std::string> warnings;
  };
  // Creates the pods. `cluster` and `pending` are the other objects of the input.
  absl::StatusOr<Made> Make(Expand mode, const std::vector<api::Object>& cluster,
                            const std::vector<api::PodPtr>& pending) const;

 private:
  // What is needed of a workload to create its pods.
  struct Workload {
    std::string kind, ns, name, uid, text;  // text: the workload as JSON
    bool has_owner = false, loose = false;
    std::string owner_key;  // "Deployment ns/name" of the controller, or empty
    int64_t replicas = 1;
    bool claims = false;  // whether it has volumeClaimTemplates
  };
  class Maker;
  std::vector<Workload> workloads_;
};

}  // namespace berth::lab
