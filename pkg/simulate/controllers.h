// What controllers do in a simulated cluster whose workloads only have pods: they create again what was evicted, scale,
// and give new nodes the pods of DaemonSets.
#pragma once
#include <cstdint>
#include <string>

#include "pkg/simulate/pods.h"
#include "pkg/simulate/workloads.h"

namespace berth::simulate {

class Controllers {
 public:
  // All arguments must outlive the object.
  Controllers(const Case& what, Timeline* timeline, Pods* pods, Budgets* budgets, Workloads* workloads);

  // The controller of a pod that was evicted creates another one, which runs for as long as that one would have.
  void Replace(const PodState& gone);
  void ScaleTo(const std::string& workload, int64_t replicas);
  // The pods of DaemonSets are on a new node at once, as are those of the nodes of the input.
  void StartDaemons(NodeState* node);

 private:
  void ComeAgain(const PodState& gone, uint8_t brief, Micros evicted_at);
  void ScaleDown(std::vector<PodState*> pods, int64_t replicas);

  const Case& what_;
  Timeline* const timeline_;
  Pods* const pods_;
  Budgets* const budgets_;
  Workloads* const workloads_;
  int64_t scaled_ = 0;  // pods created because a workload was scaled
};

}  // namespace berth::simulate
