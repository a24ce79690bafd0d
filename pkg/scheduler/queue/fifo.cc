// The queue of 1.10 without PodPriority: pods are popped in the order in which they were added (cache.FIFO). Failed
// pods are added at the end; nothing waits for changes of the cluster.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <optional>
#include <string>

#include "pkg/scheduler/queue/scheduling_queue.h"

namespace berth::scheduler {
namespace {

class Fifo final : public SchedulingQueue {
 public:
  explicit Fifo(bool has_nominations) {
    if (has_nominations) nominated_.emplace();
  }
  void Add(const api::PodPtr& pod) override {
    std::string key = pod->meta.Key();
    auto [it, added] = pods_.try_emplace(key, pod);
    if (added) {
      order_.push_back(std::move(key));
      CompactIfStale();
    } else {
      it->second = pod;
    }
  }
  void AddIfNotPresent(const api::PodPtr& pod) override {
    if (!Has(*pod)) Add(pod);
  }
  void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue, uint64_t, absl::Duration) override {
    AddIfNotPresent(pod);
  }
  api::PodPtr Pop() override {
    while (!order_.empty()) {
      auto it = pods_.find(order_.front());
      order_.pop_front();
      if (it == pods_.end()) continue;
      api::PodPtr pod = std::move(it->second);
      pods_.erase(it);
      ForgetOrderOfNone();
      return pod;
    }
    return nullptr;
  }
  uint64_t cycle() const override { return 0; }
  void Update(const api::PodPtr& pod, bool, absl::Duration) override { Add(pod); }
  // The key stays in order_, as in 1.10: if a pod of the same name is added before Pop gets there, it has the position
  // of the deleted one.
  void Delete(const api::Pod& pod) override {
    pods_.erase(pod.meta.Key());
    ForgetOrderOfNone();
  }
  bool Has(const api::Pod& pod) const override { return pods_.contains(pod.meta.Key()); }
  void MoveAllToActiveQueue(absl::Duration) override {}
  void AssignedPodAdded(const api::Pod&, absl::Duration) override {}
  void AssignedPodUpdated(const api::Pod&, absl::Duration) override {}
  void Flush(absl::Duration) override {}
  absl::Duration NextFlush() const override { return absl::InfiniteDuration(); }
  NominatedPods* nominated() override { return nominated_ ? &*nominated_ : nullptr; }
  Depth depth() const override { return {pods_.size(), 0, 0}; }

 private:
  // Drops the keys of deleted pods when no pod is left. In 1.10 this happens in Pop, in which an idle scheduler waits.
  // Here, a Pop that returns null never changes what later ones return, so that recordings can leave it out.
  void ForgetOrderOfNone() {
    if (pods_.empty()) order_.clear();
  }
  // Drops keys that no pod has and keys that occur again, when there are many. A standby scheduler adds and deletes
  // pods for days without popping any.
  void CompactIfStale() {
    if (order_.size() < 2 * pods_.size() + 1024) return;
    absl::flat_hash_set<std::string> seen;
    std::deque<std::string> kept;
    for (std::string& key : order_) {
      if (pods_.contains(key) && seen.insert(key).second) kept.push_back(std::move(key));
    }
    order_ = std::move(kept);
  }

  // Invariant: the key of each pod in pods_ is in order_, and its first occurrence is the pod's position. Other keys in
  // order_ are of pods that were deleted.
  absl::flat_hash_map<std::string, api::PodPtr> pods_;
  std::deque<std::string> order_;
  std::optional<NominatedPods> nominated_;  // kept by the caller
};

}  // namespace

std::unique_ptr<SchedulingQueue> NewFifo(bool has_nominations) {
  return std::make_unique<Fifo>(has_nominations);
}

}  // namespace berth::scheduler
