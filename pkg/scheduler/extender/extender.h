// An external process that takes part in decisions (Kubernetes 1.10 SchedulerExtender; spec: HTTP extenders).
// Calls block: the scheduling thread waits, API watches go on elsewhere.
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
  virtual const std::string& name() const = 0;  // urlPrefix as configured

  // No managed resources, or the pod asks for (or limits) one of them.
  virtual bool IsInterested(const api::Pod& pod) const = 0;

  // Whether pods are placed without it when its Filter fails (release 1.29).
  virtual bool IsIgnorable() const { return false; }

  struct FilterResult {
    std::vector<util::Symbol> nodes;  // survivors, among those given; others the extender named are dropped (B-29)
    std::vector<std::pair<util::Symbol, std::string>> failed;  // node, reason
    // Nodes where evictions would not help either, and why (release 1.29).
    std::vector<std::pair<util::Symbol, std::string>> unresolvable;
  };
  // An error fails the attempt with this text, unless the extender is ignorable.
  virtual absl::StatusOr<FilterResult> Filter(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) = 0;

  // Scores by node name, already times the extender's weight; an error is ignored by the caller.
  virtual absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(
      const api::Pod& pod, const std::vector<api::NodePtr>& nodes) = 0;

  // Whether it has a say in preemption (release 1.29).
  virtual bool SupportsPreemption() const { return false; }
  // Pods that would be evicted from a node, the most important first, and how many budgets forbid it.
  struct Eviction {
    util::Symbol node;
    std::vector<api::PodPtr> victims;
    int64_t violations = 0;
  };
  // Evictions that the extender agrees to, with victims that may be others of the same node, by uid.
  struct AgreedEviction {
    util::Symbol node;
    std::vector<std::string> uids;
    int64_t violations = 0;
  };
  virtual absl::StatusOr<std::vector<AgreedEviction>> ProcessPreemption(const api::Pod&, const std::vector<Eviction>&) {
    return absl::UnimplementedError("the extender has no say in preemption");
  }

  virtual bool IsBinder() const = 0;
  virtual absl::Status Bind(const api::Pod& pod, const std::string& node) = 0;
};

}  // namespace berth::scheduler
