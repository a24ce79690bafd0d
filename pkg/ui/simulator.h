// Computes on a copy of the cluster why a pod goes where it goes, where a new pod would go, and what a drain would do.
// Nothing is changed in the cluster.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <memory>
#include <string>
#include <string_view>

#include "pkg/lab/simulation.h"
#include "pkg/ui/history.h"
#include "pkg/ui/snapshot.h"

namespace berth::ui {

// Keeps the last cluster and the schedulers that were built for it, for the next question. Thread-safety: not
// thread-safe.
class Simulator {
 public:
  // `algorithms` must outlive the object.
  explicit Simulator(const Algorithms* algorithms) : algorithms_(algorithms) {}

  // Returns state, attempts, preemptions and explanation of a pod, "namespace/name", and what it waits for. `pending`
  // is null if the pod is not pending. kNotFound: nothing is known of it.
  absl::StatusOr<std::string> PodJson(std::shared_ptr<const Cluster> cluster, const History& history,
                                      const std::string& key, const PendingPod* pending);
  // Returns what is free on a node, its pods, and why pending pods do not fit there. kNotFound: there is no such node.
  absl::StatusOr<std::string> NodeJson(const std::shared_ptr<const Cluster>& cluster, const std::string& name);
  // Returns what it would do to mend all nodes that share a trouble (lab/fixes.h).
  absl::StatusOr<std::string> FixesJson(const std::shared_ptr<const Cluster>& cluster, absl::Time deadline);
  // Answers `request`, which is {"pod": a Pod}, {"manifest": a Pod or a workload as YAML or JSON} or {"drain": [names
  // of nodes]}. kInvalidArgument says what is wrong with it. If a drain is not decided by `deadline` (wall time), the
  // answer has what has been decided, with "complete": false.
  absl::StatusOr<std::string> SimulateJson(std::shared_ptr<const Cluster> cluster, std::string_view request,
                                           absl::Time deadline);
  // Drops the cluster and its schedulers.
  void Forget();

 private:
  struct Lab {
    lab::Scenario scenario;
    std::unique_ptr<lab::Simulation> simulation;
  };
  absl::StatusOr<Lab*> LabFor(const std::shared_ptr<const Cluster>& cluster, util::Symbol scheduler_name);
  absl::StatusOr<const lab::Algorithm*> AlgorithmFor(util::Symbol scheduler_name) const;
  absl::StatusOr<std::string> ExplainNew(const std::shared_ptr<const Cluster>& cluster, api::Json pod);
  absl::StatusOr<std::string> ExplainManifest(const std::shared_ptr<const Cluster>& cluster, const std::string& text);
  absl::StatusOr<std::string> Drain(const std::shared_ptr<const Cluster>& cluster, api::Json names,
                                    absl::Time deadline);

  const Algorithms* algorithms_;
  std::shared_ptr<const Cluster> cluster_;
  std::map<std::string, std::unique_ptr<Lab>> labs_;  // for cluster_, by schedulerName
};

}  // namespace berth::ui
