#include "test/churn/cluster_changes.h"

#include <glog/logging.h>

#include <memory>
#include <utility>
#include <variant>

namespace berth::churn {
namespace {

// At most one node in this many is gone at a time.
constexpr size_t kNodesForOneGone = 50;

// Takes the element out of the list, whose order does not matter.
template <typename T>
T TakeOut(std::vector<T>* list, size_t place) {
  std::swap((*list)[place], list->back());
  T out = std::move(list->back());
  list->pop_back();
  return out;
}

// Returns the labels of `from` with the names of the node itself.
api::Labels LabelsLike(const api::Node& node, const api::Node& from) {
  const util::Symbol kHostname("kubernetes.io/hostname");
  std::vector<std::pair<util::Symbol, util::Symbol>> pairs;
  for (const auto& [key, value] : from.labels) {
    if (key != kHostname) pairs.emplace_back(key, value);
  }
  if (const auto own = node.labels.Get(kHostname)) pairs.emplace_back(kHostname, *own);
  return api::Labels(std::move(pairs));
}

}  // namespace

ClusterChanges::ClusterChanges(lab::Simulation* simulation, uint64_t seed)
    : cache_(simulation->cache()), random_(seed) {
  for (const api::Object& object : simulation->scenario().cluster) {
    if (const auto* node = std::get_if<api::NodePtr>(&object)) nodes_.push_back(*node);
    if (const auto* pod = std::get_if<api::PodPtr>(&object); pod != nullptr && !(*pod)->Finished()) {
      bound_.push_back(*pod);
    }
  }
}

void ClusterChanges::MakeOne() {
  if (nodes_.size() < 2) return;
  switch (Below(8)) {
    case 0:
      return RemoveOrAddNode();
    case 1:
    case 2:
    case 3:
      return ChangeNode();
    default:
      return EndOrStartPod();
  }
}

void ClusterChanges::ChangeNode() {
  api::NodePtr& place = nodes_[Below(nodes_.size())];
  const api::Node& like = *nodes_[Below(nodes_.size())];
  auto node = std::make_shared<api::Node>(*place);
  switch (Below(4)) {
    case 0:
      node->labels = LabelsLike(*node, like);
      break;
    case 1:
      node->taints = like.taints;
      break;
    case 2:
      node->allocatable = like.allocatable;
      break;
    default:
      node->unschedulable = !node->unschedulable && Below(4) == 0;
  }
  place = std::move(node);
  cache_.UpdateNode(place);
}

void ClusterChanges::RemoveOrAddNode() {
  if (!gone_.empty() && (gone_.size() > nodes_.size() / kNodesForOneGone || Below(2) == 0)) {
    nodes_.push_back(TakeOut(&gone_, Below(gone_.size())));
    return cache_.AddNode(nodes_.back());
  }
  gone_.push_back(TakeOut(&nodes_, Below(nodes_.size())));
  cache_.RemoveNode(gone_.back()->meta.name);
}

void ClusterChanges::EndOrStartPod() {
  if (!ended_.empty() && Below(2) == 0) {
    auto pod = std::make_shared<api::Pod>(*TakeOut(&ended_, Below(ended_.size())));
    pod->node_name = util::Symbol(nodes_[Below(nodes_.size())]->meta.name);
    return Bound(pod);
  }
  if (bound_.empty()) return;
  ended_.push_back(TakeOut(&bound_, Below(bound_.size())));
  CHECK(cache_.RemovePod(*ended_.back()).ok());
}

void ClusterChanges::Bound(const api::PodPtr& pod) {
  CHECK(cache_.AddPod(pod).ok());
  bound_.push_back(pod);
}

}  // namespace berth::churn
