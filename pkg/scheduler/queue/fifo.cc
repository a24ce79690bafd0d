// Without PodPriority: pods come out in the order in which they came (Kubernetes 1.10 cache.FIFO).
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <string>

#include "pkg/scheduler/queue/scheduling_queue.h"

namespace berth::scheduler {
namespace {

class Fifo final : public SchedulingQueue {
 public:
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
  // The key stays in the order: a pod of the same name that is added before it is reached takes its place. When no pod
  // is left the keys go as well, because a scheduler that has nothing to do waits in Pop, which drops them. A Pop that
  // returns null therefore never changes what the next ones return, and recordings leave it out.
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
  NominatedPods* nominated() override { return nullptr; }
  Depth depth() const override { return {pods_.size(), 0, 0}; }

 private:
  // When no pod is left, keys of deleted pods go as well: a scheduler that has nothing to do waits in Pop, which drops
  // them. A Pop that returns null therefore never changes what the next ones return, and recordings leave it out.
  void ForgetOrderOfNone() {
    if (pods_.empty()) order_.clear();
  }
  // A standby adds and deletes for days without ever popping: what can no longer come out is dropped.
  void CompactIfStale() {
    if (order_.size() < 2 * pods_.size() + 1024) return;
    absl::flat_hash_set<std::string> seen;
    std::deque<std::string> kept;
    for (std::string& key : order_) {
      if (pods_.contains(key) && seen.insert(key).second) kept.push_back(std::move(key));
    }
    order_ = std::move(kept);
  }

  absl::flat_hash_map<std::string, api::PodPtr> pods_;
  std::deque<std::string> order_;
};

}  // namespace

std::unique_ptr<SchedulingQueue> NewFifo() {
  return std::make_unique<Fifo>();
}

}  // namespace berth::scheduler
