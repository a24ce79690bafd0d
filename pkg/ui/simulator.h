// Tries things out on a copy of the cluster: why a pod goes where it goes, where a new pod would go, what a drain would
// do. Writes nothing anywhere.
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

// Threading: one thread. Keeps the last cluster and the scheduler that it built for it, for the next question.
class Simulator {
 public:
  // `algorithms` outlives the object.
  explicit Simulator(const Algorithms* algorithms) : algorithms_(algorithms) {}

  // State, attempts, preemptions and explanation of a pod, "namespace/name". kNotFound: nothing is known of it.
  absl::StatusOr<std::string> PodJson(std::shared_ptr<const Cluster> cluster, const History& history,
                                      const std::string& key);
  // `request` is {"pod": a Pod} or {"drain": [names of nodes]}. kInvalidArgument says what is wrong with it. A drain
  // that is not decided by `deadline` (wall time) is answered as far as it is, with "complete": false.
  absl::StatusOr<std::string> SimulateJson(std::shared_ptr<const Cluster> cluster, std::string_view request,
                                           absl::Time deadline);
  // Forgets the cluster.
  void Forget();

 private:
  struct Lab {
    lab::Scenario scenario;
    std::unique_ptr<lab::Simulation> simulation;
  };
  absl::StatusOr<Lab*> LabFor(const std::shared_ptr<const Cluster>& cluster, util::Symbol scheduler_name);
  absl::StatusOr<const lab::Algorithm*> AlgorithmFor(util::Symbol scheduler_name) const;
  absl::StatusOr<std::string> ExplainNew(const std::shared_ptr<const Cluster>& cluster, api::Json pod);
  absl::StatusOr<std::string> Drain(const std::shared_ptr<const Cluster>& cluster, api::Json names,
                                    absl::Time deadline);

  const Algorithms* algorithms_;
  std::shared_ptr<const Cluster> cluster_;
  std::map<std::string, std::unique_ptr<Lab>> labs_;  // of cluster_, by schedulerName
};

}  // namespace berth::ui
