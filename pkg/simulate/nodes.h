// The nodes of a simulated cluster: they join, leave, and fail.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/simulate/pods.h"

namespace berth::simulate {

class Nodes {
 public:
  // All arguments must outlive the object.
  Nodes(const Case& what, const Options& options, Timeline* timeline, Session* session, Pods* pods);

  NodeState* Find(std::string_view name);
  // Returns the node, or null if it is there already.
  NodeState* Join(const api::NodePtr& node);
  // The node and its pods are gone. Those of DaemonSets end with it.
  void Leave(NodeState* node);
  void Fail(NodeState* node, Micros back_after);
  void Cordon(NodeState* node, bool cordoned);
  // Returns what the nodes offer that are there and have not failed, by resource.
  const std::vector<double>& Offered();

 private:
  // Shows a node in its present state.
  void Show(NodeState* node);
  void EvictAfterFailure(NodeState* node);

  const lab::Workload& workload_;
  const Options& options_;
  Timeline* const timeline_;
  Session* const session_;
  Pods* const pods_;
  std::map<std::string, NodeState, std::less<>> nodes_;
  std::vector<double> offered_;
  bool offered_stale_ = true;               // nodes have changed since offered_ was counted
  std::vector<const NodeState*> measured_;  // by number of the workload's node; null: it was never there
  size_t measured_of_ = 0;                  // nodes_.size() when measured_ was made
};

}  // namespace berth::simulate
