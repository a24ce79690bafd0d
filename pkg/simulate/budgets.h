// The PodDisruptionBudgets of a simulated cluster, and what their controller writes.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <memory>
#include <vector>

#include "pkg/simulate/pod_table.h"
#include "pkg/simulate/session.h"
#include "pkg/simulate/workloads.h"
#include "pkg/world/rules.h"

namespace berth::simulate {

class Budgets {
 public:
  // All arguments must outlive the object.
  Budgets(const Case& what, const Options& options, Session* session, const PodTable* pods, const Workloads* workloads);

  // Adds a budget of the scenario; one without a selector that can be read holds nobody back.
  void Add(const std::shared_ptr<const api::PodDisruptionBudget>& budget);
  // Notes that a pod is there, or is gone, or has changed.
  void Note(const PodState& p, bool there);
  // Notes that what workloads want has changed.
  void NoteScale();
  // Lets the disruption controller write the states that have changed.
  void Show();
  // Whether the pod may be evicted. REQUIRES: Show was called since the last change.
  bool Allow(const PodState& p) const;

 private:
  struct Budget {
    std::shared_ptr<const api::PodDisruptionBudget> object;
    world::ValuePtr value;
    absl::flat_hash_set<uint32_t> pods;  // slots
    bool stale = true;
  };
  void Refresh(Budget* budget);

  const lab::Scenario& scenario_;
  const Options& options_;
  Session* const session_;
  const PodTable* const pods_;
  const Workloads* const workloads_;
  const world::Rules rules_;
  std::vector<Budget> budgets_;
};

}  // namespace berth::simulate
