#include "pkg/scheduler/cache/nominated_pods.h"

#include <algorithm>

namespace berth::scheduler {

// A full log is emptied. A reader that has not read it to the end then goes through all nodes once.
void NominatedPods::NoteChange(util::Symbol node) {
  constexpr size_t kMostKept = 1024;
  if (changes_.size() >= kMostKept) {
    changes_begin_ += changes_.size();
    changes_.clear();
  }
  changes_.push_back(node);
}

void NominatedPods::Add(const api::PodPtr& pod) {
  Remove(*pod);
  if (pod->nominated_node_name.empty()) return;
  by_node_[pod->nominated_node_name].push_back(pod);
  node_of_[pod->meta.uid] = pod->nominated_node_name;
  NoteChange(pod->nominated_node_name);
}

void NominatedPods::Remove(const api::Pod& pod) {
  if (node_of_.empty()) return;
  auto known = node_of_.find(pod.meta.uid);
  if (known == node_of_.end()) return;
  NoteChange(known->second);
  auto node = by_node_.find(known->second);
  std::erase_if(node->second, [&](const api::PodPtr& p) { return p->meta.uid == pod.meta.uid; });
  if (node->second.empty()) by_node_.erase(node);
  node_of_.erase(known);
}

const std::vector<api::PodPtr>& NominatedPods::For(util::Symbol node) const {
  static const std::vector<api::PodPtr> kNone;
  auto it = by_node_.find(node);
  return it == by_node_.end() ? kNone : it->second;
}

}  // namespace berth::scheduler
