// Creates the pods that controllers would create, for inputs that contain Deployments, ReplicaSets and the like without
// their pods. What the pods are like is what pkg/world says.
#pragma once
#include <absl/container/flat_hash_set.h>
#include <absl/status/status.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/lab/manifests.h"

namespace berth::lab {

enum class Expand {
  kMissing,  // every replica that is missing
  kAuto,     // as kMissing, but only if the input has no pod of any of its workloads
  kOff,
};

// Returns "KIND NAMESPACE/NAME", which identifies an object among all objects of an input.
std::string ObjectKey(std::string_view kind, std::string_view ns, std::string_view name);

// The number of replicas that a controller wants, and what scales it: the controller itself, or the Deployment above.
struct Scale {
  int64_t replicas = 0;
  std::string owner;
};

// A DaemonSet of the input.
struct Daemon {
  std::string key;        // "DaemonSet ns/name"
  api::PodPtr pod;        // its pod before it is made for a node
  std::string node_name;  // spec.nodeName of its template
};

// Collects workloads while an input is read and creates their pods afterwards.
class Expander {
 public:
  // Records a workload, an object of a kind of world::IsWorkload in the group of Kubernetes. `stored` says whether a
  // server has stored it. `made_name` is the name if the object has only a generateName, and empty otherwise.
  void Add(api::Json workload, std::string_view kind, bool stored, const std::string& made_name);
  // Adds the workloads that another object has recorded.
  void Append(Expander&& other);

  // What Make has created.
  struct Made {
    std::vector<api::PodPtr> pods;      // those of DaemonSets first, then by workload in input order
    std::vector<api::Object> objects;   // the ReplicaSets that Deployments would create
    std::map<std::string, int64_t> by;  // number of pods by kind of workload
    std::vector<std::string> warnings;
    // The pods that their controller binds itself, in releases in which the DaemonSet controller does.
    absl::flat_hash_set<const api::Pod*> bound_by_controller;
    std::map<std::string, Scale> scales;  // of the ReplicaSets that were made for Deployments, by ObjectKey
  };
  // Creates the pods. `cluster` and `pending` are the other objects of the input. `autoscaled` says whether targets of
  // HorizontalPodAutoscalers get at least their minReplicas; those that name no replicas always do.
  absl::StatusOr<Made> Make(Expand mode, bool autoscaled, const std::vector<api::Object>& cluster,
                            const std::vector<api::PodPtr>& pending, Manifests* manifests) const;
  // Returns all DaemonSets, whose pods new nodes get.
  absl::StatusOr<std::vector<Daemon>> Daemons(Manifests* manifests) const;
  // Returns how many pods each controller wants, by ObjectKey. A ReplicaSet of a Deployment that is there is scaled by
  // it.
  std::map<std::string, Scale> Scales() const;
  // Returns the key of the first Job whose pods end, as an annotation says, and that has more completions than pods at
  // one time; empty if there is none.
  std::string FirstThatGoesOn() const;

 private:
  // What is needed of a workload to create its pods.
  struct Workload {
    std::string kind, ns, name, text;  // text: the workload as JSON
    bool stored = false;
    std::string owner_key;  // "Deployment ns/name" of the controller, or empty
    int64_t replicas = 1;
  };
  class Maker;
  std::vector<Workload> workloads_;
};

}  // namespace berth::lab
