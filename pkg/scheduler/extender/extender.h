// An extender: an external process that takes part in decisions (SchedulerExtender of Kubernetes 1.10). Calls block the
// scheduling thread until they are answered; API watches continue on other threads.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

class Extender {
 public:
  virtual ~Extender() = default;
  virtual const std::string& name() const = 0;  // urlPrefix without its password

  // Returns whether the extender must be called for the pod: it manages no resources in particular, or the pod requests
  // or limits one of those that it manages.
  virtual bool IsInterested(const api::Pod& pod) const = 0;

  // Returns whether pods are scheduled without the extender when its Filter fails (release 1.29).
  virtual bool IsIgnorable() const { return false; }

  // The answer of Filter.
  struct FilterResult {
    // The nodes that pass, all of them among those given. Others in an answer are dropped (bug B-29, fixed).
    std::vector<util::Symbol> nodes;
    std::vector<std::pair<util::Symbol, std::string>> failed;  // (node, reason)
    // (node, reason) for nodes where evictions cannot help either (release 1.29).
    std::vector<std::pair<util::Symbol, std::string>> unresolvable;
  };
  // Returns which of the nodes pass. An error fails the scheduling attempt with its text, unless the extender is
  // ignorable.
  virtual absl::StatusOr<FilterResult> Filter(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) = 0;

  // Returns scores by node name, multiplied by the extender's weight. Callers ignore an error.
  virtual absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(
      const api::Pod& pod, const std::vector<api::NodePtr>& nodes) = 0;

  // Returns whether the extender takes part in preemption (release 1.29).
  virtual bool SupportsPreemption() const { return false; }
  // A proposal to evict pods from a node.
  struct Eviction {
    util::Symbol node;
    std::vector<api::PodPtr> victims;  // in descending order of importance
    int64_t violations = 0;            // how many PodDisruptionBudgets the eviction violates
  };
  // A proposal that the extender accepts. It may have chosen other victims on the node.
  struct AgreedEviction {
    util::Symbol node;
    std::vector<std::string> uids;  // of the victims
    int64_t violations = 0;
  };
  // Returns the proposals that the extender accepts. REQUIRES: SupportsPreemption().
  virtual absl::StatusOr<std::vector<AgreedEviction>> ProcessPreemption(const api::Pod&, const std::vector<Eviction>&) {
    return absl::UnimplementedError("the extender has no say in preemption");
  }

  // Returns whether the extender binds pods to nodes.
  virtual bool IsBinder() const = 0;
  // Binds the pod. An error if IsBinder() is false.
  virtual absl::Status Bind(const api::Pod& pod, const std::string& node) = 0;
};

}  // namespace berth::scheduler
