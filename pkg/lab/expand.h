// The pods that controllers would make: for inputs that hold Deployments, ReplicaSets and the like, but not their pods.
#pragma once
#include <absl/status/status.h>

#include <map>
#include <string>
#include <vector>

#include "pkg/api/decode.h"

namespace berth::lab {

enum class Expand {
  kMissing,  // every replica that is not there
  kAuto,     // as kMissing, but only for an input that has not one pod of any of its workloads
  kOff,
};

// Collects workloads while an input is read, and makes their pods afterwards.
class Expander {
 public:
  // True for a kind with a pod template: ReplicaSet, ReplicationController, Deployment, StatefulSet, Job, DaemonSet.
  static bool IsWorkload(std::string_view kind);

  // Notes what is needed of a workload. `loose`: the server's defaults apply to its pods.
  void Add(api::Json workload, std::string_view kind, bool loose);
  // Takes over what another one has noted.
  void Append(Expander&& other);

  struct Made {
    std::vector<api::PodPtr> pods;      // those of DaemonSets first, then by workload in input order
    std::vector<api::Object> objects;   // ReplicaSets that Deployments would have made
    std::map<std::string, int64_t> by;  // how many pods of how many workloads: "ReplicaSet" -> pods
    std::vector<std::string> warnings;
  };
  // `cluster` and `pending` are what the input holds otherwise.
  absl::StatusOr<Made> Make(Expand mode, const std::vector<api::Object>& cluster,
                            const std::vector<api::PodPtr>& pending) const;

 private:
  struct Workload {
    std::string kind, ns, name, uid, text;  // text: the object itself as JSON
    bool has_owner = false, loose = false;
    std::string owner_key;  // "Deployment ns/name" of the controller, if any
    int64_t replicas = 1;
    bool claims = false;  // has volumeClaimTemplates
  };
  class Maker;
  std::vector<Workload> workloads_;
};

}  // namespace berth::lab
