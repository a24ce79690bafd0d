// The queue of 1.10 without PodPriority: pods are popped in the order in which they were added (cache.FIFO). Failed
// pods are added at the end; nothing waits for changes of the cluster.
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <optional>
#include <utility>

#include "pkg/scheduler/queue/pods_by_name.h"
#include "pkg/scheduler/queue/scheduling_queue.h"

namespace berth::scheduler {
namespace {

class Fifo final : public SchedulingQueue {
 public:
  explicit Fifo(bool has_nominations) {
    if (has_nominations) nominated_.emplace();
  }
  void Add(const api::PodPtr& pod) override {
    Entry& e = *pods_.Add(pod).first;
    e.pod = pod;
    if (std::exchange(e.is_there, true)) return;
    ++there_;
    ++e.places;
    order_.push_back(&e);
    CompactIfStale();
  }
  void AddIfNotPresent(const api::PodPtr& pod) override {
    if (!Has(*pod)) Add(pod);
  }
  void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue, uint64_t, absl::Duration) override {
    AddIfNotPresent(pod);
  }
  api::PodPtr Pop() override {
    while (!order_.empty()) {
      Entry* const e = order_.front();
      order_.pop_front();
      --e->places;
      const bool is_there = std::exchange(e->is_there, false);
      api::PodPtr pod = e->pod;
      if (e->places == 0) pods_.Remove(e);
      if (!is_there) continue;
      --there_;
      ForgetOrderOfNone();
      return pod;
    }
    return nullptr;
  }
  uint64_t cycle() const override { return 0; }
  void Update(const api::PodPtr& pod, bool, absl::Duration) override { Add(pod); }
  // The pod's place stays in order_, as in 1.10: if a pod of the same name is added before Pop gets there, it has the
  // position of the deleted one.
  void Delete(const api::Pod& pod) override {
    Entry* const e = pods_.Find(pod);
    if (e == nullptr || !std::exchange(e->is_there, false)) return;
    --there_;
    ForgetOrderOfNone();
  }
  bool Has(const api::Pod& pod) const override {
    const Entry* const e = pods_.Find(pod);
    return e != nullptr && e->is_there;
  }
  void MoveAllToActiveQueue(absl::Duration) override {}
  void AssignedPodAdded(const api::Pod&, absl::Duration) override {}
  void AssignedPodUpdated(const api::Pod&, absl::Duration) override {}
  void Flush(absl::Duration) override {}
  absl::Duration NextFlush() const override { return absl::InfiniteDuration(); }
  NominatedPods* nominated() override { return nominated_ ? &*nominated_ : nullptr; }
  Depth depth() const override { return {there_, 0, 0}; }

 private:
  struct Entry {
    api::PodPtr pod;
    bool is_there = false;  // false: it was deleted, or it was popped and was in order_ more than once
    size_t places = 0;      // how often it is in order_
  };
  // Drops the places of deleted pods when no pod is left. In 1.10 this happens in Pop, in which an idle scheduler
  // waits. Here, a Pop that returns null never changes what later ones return, so that recordings can leave it out.
  void ForgetOrderOfNone() {
    if (there_ > 0) return;
    for (Entry* e : order_) {
      if (--e->places == 0) pods_.Remove(e);
    }
    order_.clear();
  }
  // Drops the places of pods that are not there and those that occur again, when there are many. A standby scheduler
  // adds and deletes pods for days without popping any.
  void CompactIfStale() {
    if (order_.size() < 2 * there_ + 1024) return;
    absl::flat_hash_set<Entry*> seen;
    std::deque<Entry*> kept;
    for (Entry* e : order_) {
      if (e->is_there && seen.insert(e).second) {
        kept.push_back(e);
      } else if (--e->places == 0) {
        pods_.Remove(e);
      }
    }
    order_ = std::move(kept);
  }

  // Invariant: an entry is in pods_ as long as it is in order_. The first place of a pod that is there is its position;
  // others are of pods of its name that were deleted or popped.
  PodsByName<Entry> pods_;
  std::deque<Entry*> order_;
  size_t there_ = 0;                        // number of entries that are there
  std::optional<NominatedPods> nominated_;  // kept by the caller
};

}  // namespace

std::unique_ptr<SchedulingQueue> NewFifo(bool has_nominations) {
  return std::make_unique<Fifo>(has_nominations);
}

}  // namespace berth::scheduler
