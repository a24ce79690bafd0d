// The life of pods in a simulated cluster: they arrive, are bound, start, and end or are deleted.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "pkg/simulate/arrivals.h"
#include "pkg/simulate/budgets.h"
#include "pkg/simulate/measures.h"
#include "pkg/simulate/pod_table.h"
#include "pkg/simulate/session.h"
#include "pkg/simulate/timeline.h"

namespace berth::simulate {

class Pods {
 public:
  using NodeByName = std::function<NodeState*(std::string_view name)>;
  // Gets a pod that is gone, and its node or null.
  using Gone = std::function<void(const PodState& gone, NodeState* node)>;

  // All pointers must outlive the object.
  Pods(const Options& options, Timeline* timeline, Session* session, Measures* measures, PodTable* table,
       Budgets* budgets, NodeByName node_by_name, Gone gone);

  PodTable& table() { return *table_; }
  // A pod arrives as a user sends it.
  void Arrive(const Arrival& a);
  // Adds one that was there at the beginning, or came with its node, which is null if it is not known.
  PodState& AddBound(api::PodPtr object, NodeState* node);
  // Adds one that a controller creates like another that is gone. Its name may become another one.
  PodState& AddLike(const PodState& gone);
  std::string NextVersion();

  void Bind(PodState* p, NodeState* node, const api::PodPtr& bound);
  void Started(PodState* p);
  // Deletes a pod as an eviction does: it leaves at once or after the delay, and comes again if it is one that does.
  void Evict(PodState* p);
  // Deletes a pod: at once if it has no node, and otherwise after the delay.
  void Leave(PodState* p, bool comes_again);
  // The pod ends at once, as when its node is gone.
  void Lose(PodState* p);
  // Notes of pods that wait that they were never placed.
  void NeverPlaced(PodState* p);
  void NoteNeverPlaced();

 private:
  PodState& Add(api::PodPtr object);
  void Place(PodState* p, NodeState* node);
  void NotePlaced(PodState* p, std::string_view node);
  // Removes a pod that has ended or is deleted.
  void Remove(PodState* p);

  const Options& options_;
  Timeline* const timeline_;
  Session* const session_;
  Measures* const measures_;
  PodTable* const table_;
  Budgets* const budgets_;
  const NodeByName node_by_name_;
  const Gone gone_;
  uint64_t last_uid_ = 0, last_version_ = 1'000'000'000;
};

}  // namespace berth::simulate
