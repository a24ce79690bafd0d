// The cluster around a simulated scheduler, reduced to what a scheduler notices of it: pods that arrive and end, and
// nodes that come and go. For use in this package.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "pkg/simulate/agenda.h"
#include "pkg/simulate/answers.h"
#include "pkg/simulate/controllers.h"
#include "pkg/simulate/drains.h"
#include "pkg/simulate/loop.h"
#include "pkg/simulate/simulate.h"

namespace berth::simulate {

class World final : private Surroundings, private Drainable {
 public:
  // `what` and `options` must outlive the object.
  World(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options);

  // Builds the scheduler and shows it the cluster.
  absl::Status Start();
  void Run();
  absl::StatusOr<Outcome> Finish();

 private:
  void ShowCluster();
  void ShowNodes();
  void ShowPods();

  void Deliver() override;
  bool NothingWillHappen() const override;
  Micros NextTime() const override;
  void AdvanceTo(Micros next) override;

  bool HasNode(const std::string& name) override;
  void Cordon(const std::string& name, bool cordoned) override;
  std::vector<std::string> PodsToLeave(const std::string& node) override;
  Eviction Evict(const std::string& node, const std::string& uid) override;

  void Do(const Step& step);
  void DoTo(const Step& step, const std::string& node);
  void OnGone(const PodState& gone, NodeState* node);

  const Case& what_;
  const Options& options_;
  Agenda agenda_;
  // Each reads and writes only those above it.
  Timeline timeline_;
  Session session_;
  Measures measures_;
  PodTable table_;
  Workloads workloads_;
  Budgets budgets_;
  Pods pods_;
  Nodes nodes_;
  Controllers controllers_;
  Drains drains_;
  Volumes volumes_;
  Answers answers_;
};

}  // namespace berth::simulate
