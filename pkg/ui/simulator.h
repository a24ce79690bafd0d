// Computes on a copy of the cluster why a pod goes where it goes, where a new pod would go, and what a drain would do.
// Nothing is changed in the cluster.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json_writer.h"
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
  // Returns what it would do to mend all nodes that share a trouble (lab/fixes.h), and, for each reason that decides
  // for some of `pending`, what would make one of these pods fit. What `deadline` (wall time) does not allow is left
  // out.
  absl::StatusOr<std::string> FixesJson(const std::shared_ptr<const Cluster>& cluster, const PendingPods& pending,
                                        absl::Time deadline);
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
  void WaysByReasonJson(const std::shared_ptr<const Cluster>& cluster, const PendingPods& pending, absl::Time deadline,
                        api::JsonWriter* j);
  // `mistakes` are told with the answer.
  absl::StatusOr<std::string> ExplainNew(const std::shared_ptr<const Cluster>& cluster, api::Json pod,
                                         const std::vector<std::string>& mistakes);
  absl::StatusOr<std::string> ExplainManifest(const std::shared_ptr<const Cluster>& cluster, const std::string& text);
  absl::StatusOr<std::string> Drain(const std::shared_ptr<const Cluster>& cluster, api::Json names,
                                    absl::Time deadline);

  const Algorithms* algorithms_;
  std::shared_ptr<const Cluster> cluster_;
  std::map<std::string, std::unique_ptr<Lab>> labs_;  // for cluster_, by schedulerName
};

// Returns what is decided for the pod as if it had no node. Restores the round-robin counter, which an explanation
// advances, so that the same question has the same answer again.
explain::Explanation ExplainOnce(lab::Simulation* simulation, const api::Pod& pod);

}  // namespace berth::ui
