#include "pkg/simulate/nodes.h"

#include <algorithm>
#include <utility>

#include "pkg/simulate/steps.h"

namespace berth::simulate {

Nodes::Nodes(const Case& what, const Options& options, Timeline* timeline, Session* session, Pods* pods)
    : workload_(*what.workload),
      options_(options),
      timeline_(timeline),
      session_(session),
      pods_(pods),
      offered_(workload_.resources().size()) {}

NodeState* Nodes::Find(std::string_view name) {
  auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

NodeState* Nodes::Join(const api::NodePtr& node) {
  NodeState& n = nodes_[node->meta.name];
  if (n.shown != nullptr) return nullptr;
  n.plain = node;
  n.cordoned = n.failed = false;
  Show(&n);
  return &n;
}

void Nodes::Show(NodeState* node) {
  const api::NodePtr before = node->shown;
  const bool plain = !node->cordoned && !node->failed;
  node->shown = plain ? node->plain : WithState(*node->plain, node->cordoned, node->failed);
  session_->Show(before, node->shown);
  session_->Changed();
  offered_stale_ = true;
}

void Nodes::Cordon(NodeState* node, bool cordoned) {
  node->cordoned = cordoned;
  Show(node);
}

const std::vector<double>& Nodes::Offered() {
  if (!std::exchange(offered_stale_, false)) return offered_;
  std::fill(offered_.begin(), offered_.end(), 0);
  const auto& names = workload_.node_names();
  if (measured_of_ != nodes_.size()) {
    measured_.clear();
    for (const util::Symbol name : names) measured_.push_back(Find(name.str()));
    measured_of_ = nodes_.size();
  }
  for (size_t n = 0; n < names.size(); ++n) {
    const NodeState* const node = measured_[n];
    if (node == nullptr || node->shown == nullptr || node->failed) continue;
    for (size_t r = 0; r < offered_.size(); ++r) offered_[r] += static_cast<double>(workload_.allocatable(n, r));
  }
  return offered_;
}

void Nodes::Leave(NodeState* node) {
  const api::NodePtr before = std::exchange(node->shown, nullptr);
  session_->Show<api::Node>(before, nullptr);
  session_->Changed();
  offered_stale_ = true;
  const std::vector<uint32_t> pods = node->pods;
  for (uint32_t slot : pods) pods_->Lose(&pods_->table().At(slot));
}

void Nodes::Fail(NodeState* node, Micros back_after) {
  node->failed = true;
  const uint64_t failure = ++node->failures;
  Show(node);
  timeline_->After(options_.eviction_delay, [this, node, failure] {
    if (node->failed && node->failures == failure) EvictAfterFailure(node);
  });
  if (back_after == kNever) return;
  timeline_->After(back_after, [this, node, failure] {
    if (node->shown == nullptr || node->failures != failure) return;
    node->failed = false;
    Show(node);
  });
}

// The pods of the node are deleted. No kubelet confirms that, and the controllers do not wait for it.
void Nodes::EvictAfterFailure(NodeState* node) {
  const std::vector<uint32_t> pods = node->pods;
  for (uint32_t slot : pods) {
    PodState& p = pods_->table().At(slot);
    if (!StaysOnNode(*p.object)) pods_->Lose(&p);
  }
}

}  // namespace berth::simulate
