// The queue of 1.10 with PodPriority: pods with higher priority are popped first, and pods with equal priority in the
// order in which they became active. Pods that do not fit wait until something in the cluster changes.
//
// This is Kubernetes 1.10's PriorityQueue with three corrections of later releases:
//   - Ties go by arrival, and a failed pod backs off for 1 s to 60 s. So a pod that keeps failing does not prevent
//     others of its priority from being tried.
//   - Changes are compared with the scheduling cycle of a pod's attempt and not kept in one flag. So only changes since
//     the attempt began make the pod active again.
//   - A pod that has waited for a minute is tried again without a change.
// In 1.13 (QueueRules::backs_off) pods do not back off: a failed pod is active again at once if anything has moved pods
// since its attempt began, or if its condition does not say that it is Unschedulable, which an error of its attempt
// says, too. Those of one priority go by the times of their last tries (orders_by_last_try), and those of one second by
// arrival.
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <absl/time/time.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "pkg/scheduler/queue/pod_backoff.h"
#include "pkg/scheduler/queue/scheduling_queue.h"

namespace berth::scheduler {
namespace {

// Returns whether the pod's condition is that of an attempt that placed it nowhere, whether nothing fitted or an error
// ended it.
bool SaysUnschedulable(const api::Pod& pod) {
  return pod.scheduled && pod.scheduled->status == "False" && pod.scheduled->reason == "Unschedulable";
}

bool HasRequiredAffinity(const api::Pod& pod) {
  const auto& affinity = pod.tmpl->affinity.pod;
  return affinity && !affinity->required.empty();
}

// Returns when the pod was tried last, or became what its condition says, or was created, in seconds of Unix time
// (podTimestamp of 1.13).
int64_t LastTryOf(const api::Pod& pod) {
  if (!pod.scheduled) return pod.meta.creation_seconds;
  const std::string& text =
      pod.scheduled->last_probe_time.empty() ? pod.scheduled->last_transition_time : pod.scheduled->last_probe_time;
  absl::Time time;
  std::string error;
  return absl::ParseTime(absl::RFC3339_full, text, &time, &error) ? absl::ToUnixSeconds(time) : 0;
}

}  // namespace

bool WantsToBeNear(const api::Pod& pod, const api::Pod& other) {
  if (!pod.tmpl->affinity.pod) return false;
  const auto& terms = pod.tmpl->affinity.pod->required;
  return std::any_of(terms.begin(), terms.end(), [&](const api::PodAffinityTerm& term) {
    const bool namespace_matches =
        term.namespace_selector || std::binary_search(term.namespaces.begin(), term.namespaces.end(), other.meta.ns);
    return namespace_matches && term.selector.ok() && term.selector.selector.Matches(other.tmpl->labels);
  });
}

void SchedulingQueue::ClusterChanged(const ClusterEvent& event, absl::Duration now) {
  switch (event.kind) {
    case ClusterEvent::Kind::kAssignedPodAdd:
      return AssignedPodAdded(*event.pod(), now);
    case ClusterEvent::Kind::kAssignedPodUpdate:
      return AssignedPodUpdated(*event.pod(), now);
    default:
      return MoveAllToActiveQueue(now);
  }
}

namespace {

class PriorityQueue final : public SchedulingQueue {
 public:
  explicit PriorityQueue(const QueueOptions& o) : options_(o), backoff_(o.initial_backoff, o.max_backoff) {}

  void Add(const api::PodPtr& pod) override {
    auto it = entries_.find(pod->meta.Key());
    if (it == entries_.end()) {
      Entry& e = entries_[pod->meta.Key()];
      e.pod = pod;
      Put(e, Place::kActive, {});
    } else {
      it->second.pod = pod;
      if (it->second.place != Place::kActive) {
        Take(it->second);
        Put(it->second, Place::kActive, {});
      }
    }
    nominated_.Add(pod);
  }

  void AddIfNotPresent(const api::PodPtr& pod) override {
    if (!Has(*pod)) Add(pod);
  }

  void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue why, uint64_t cycle, absl::Duration now) override {
    std::string key = pod->meta.Key();
    auto [it, added] = entries_.try_emplace(key);
    if (!added) return;
    Entry& e = it->second;
    e.pod = pod;
    e.ready = now + backoff_.Next(key, now);
    // In 1.13 a placed pod counts as a move for every pod, whether its affinity selects it or not.
    const bool both = !options_.wakes.queue.backs_off || HasRequiredAffinity(*pod);
    const uint64_t outdated_by = both ? std::max(last_move_, last_assigned_) : last_move_;
    const bool waits = why == Requeue::kUnschedulable || (!options_.wakes.queue.backs_off && SaysUnschedulable(*pod));
    if (waits && outdated_by <= cycle) {
      Put(e, Place::kUnschedulable, now);
    } else if (!options_.wakes.queue.backs_off) {
      Put(e, Place::kActive, now);
    } else {
      Put(e, Place::kBackoff, now);
    }
    nominated_.Add(pod);
  }

  api::PodPtr Pop() override {
    if (active_.empty()) return nullptr;
    Entry* e = active_.begin()->second;
    active_.erase(active_.begin());
    api::PodPtr pod = std::move(e->pod);
    nominated_.Remove(*pod);
    entries_.erase(pod->meta.Key());
    ++cycle_;
    return pod;
  }
  uint64_t cycle() const override { return cycle_; }

  void Update(const api::PodPtr& pod, bool changed, absl::Duration) override {
    std::string key = pod->meta.Key();
    auto it = entries_.find(key);
    if (it == entries_.end()) {
      Add(pod);
      return;
    }
    Entry& e = it->second;
    const bool orders = options_.wakes.queue.orders_by_last_try;
    const bool reorder = e.place == Place::kActive &&
                         (e.pod->Priority() != pod->Priority() || (orders && LastTryOf(*e.pod) != LastTryOf(*pod)));
    const bool wake = changed && e.place != Place::kActive;
    if (reorder || wake) {
      Take(e);
      e.pod = pod;
      if (wake) backoff_.Reset(key);
      Put(e, Place::kActive, {});
    } else {
      if (e.place == Place::kUnschedulable) waiting_for_pods_ -= HasRequiredAffinity(*e.pod) ? 1 : 0;
      e.pod = pod;
      if (e.place == Place::kUnschedulable) waiting_for_pods_ += HasRequiredAffinity(*e.pod) ? 1 : 0;
    }
    nominated_.Add(pod);
  }

  void Delete(const api::Pod& pod) override {
    nominated_.Remove(pod);
    std::string key = pod.meta.Key();
    backoff_.Reset(key);
    auto it = entries_.find(key);
    if (it == entries_.end()) return;
    Take(it->second);
    entries_.erase(it);
  }

  bool Has(const api::Pod& pod) const override { return entries_.contains(pod.meta.Key()); }
  absl::Duration BackoffEndOf(const api::Pod& pod) const override {
    const auto found = entries_.find(pod.meta.Key());
    const bool waits = found != entries_.end() && found->second.place == Place::kBackoff;
    return waits ? found->second.ready : absl::ZeroDuration();
  }

  void ClusterChanged(const ClusterEvent& event, absl::Duration now) override {
    const bool known = (options_.wakes.noticed & EventsOf({event.kind})) != 0;
    const bool any_change = options_.wakes.queue.counts_any_node_change && event.kind == ClusterEvent::Kind::kNodeOther;
    if (known || (any_change && unschedulable_.empty())) SchedulingQueue::ClusterChanged(event, now);
  }
  void MoveAllToActiveQueue(absl::Duration now) override {
    last_move_ = cycle_ + 1;
    while (!unschedulable_.empty()) Wake(*unschedulable_.begin()->second, now);
  }

  void AssignedPodAdded(const api::Pod& pod, absl::Duration now) override {
    last_assigned_ = cycle_ + 1;
    if (waiting_for_pods_ == 0) return;
    std::vector<Entry*> woken;
    for (const auto& [seq, e] : unschedulable_) {
      if (HasRequiredAffinity(*e->pod) && WantsToBeNear(*e->pod, pod)) woken.push_back(e);
    }
    for (Entry* e : woken) Wake(*e, now);
  }
  void AssignedPodUpdated(const api::Pod& pod, absl::Duration now) override { AssignedPodAdded(pod, now); }

  void Flush(absl::Duration now) override {
    while (!backoff_queue_.empty() && backoff_queue_.begin()->first.first <= now) {
      Entry& e = *backoff_queue_.begin()->second;
      Take(e);
      Put(e, Place::kActive, now);
    }
    if (now < next_long_flush_) return;
    next_long_flush_ = now + options_.flush_period;
    backoff_.Collect(now);
    while (!unschedulable_.empty() && now - unschedulable_.begin()->second->since >= options_.unschedulable_limit) {
      Wake(*unschedulable_.begin()->second, now);
    }
  }

  absl::Duration NextFlush() const override {
    absl::Duration next = unschedulable_.empty() ? absl::InfiniteDuration() : next_long_flush_;
    if (!backoff_queue_.empty()) next = std::min(next, backoff_queue_.begin()->first.first);
    return next;
  }

  NominatedPods* nominated() override { return &nominated_; }
  Depth depth() const override { return {active_.size(), backoff_queue_.size(), unschedulable_.size()}; }

 private:
  enum class Place : uint8_t { kActive, kBackoff, kUnschedulable };
  struct Entry {
    api::PodPtr pod;
    Place place = Place::kActive;
    uint64_t seq = 0;      // sequence number of when it came to its place
    int64_t rank = 0;      // minus the priority; set while it is active
    int64_t last_try = 0;  // LastTryOf, where that orders pods; set while it is active
    absl::Duration ready;  // end of its back-off
    absl::Duration since;  // time when it came to its place
  };

  // Puts the entry into the index of the place. While it is there, nothing that its key is made of may change.
  void Put(Entry& e, Place place, absl::Duration now) {
    e.place = place;
    e.seq = ++seq_;
    e.since = now;
    switch (place) {
      case Place::kActive:
        e.rank = -static_cast<int64_t>(e.pod->Priority());
        e.last_try = options_.wakes.queue.orders_by_last_try ? LastTryOf(*e.pod) : 0;
        active_[{e.rank, e.last_try, e.seq}] = &e;
        break;
      case Place::kBackoff:
        backoff_queue_[{e.ready, e.seq}] = &e;
        break;
      case Place::kUnschedulable:
        if (unschedulable_.empty()) next_long_flush_ = std::max(next_long_flush_, now + options_.flush_period);
        unschedulable_[e.seq] = &e;
        waiting_for_pods_ += HasRequiredAffinity(*e.pod) ? 1 : 0;
        break;
    }
  }

  // Takes the entry out of the index of its place.
  void Take(Entry& e) {
    switch (e.place) {
      case Place::kActive:
        active_.erase({e.rank, e.last_try, e.seq});
        break;
      case Place::kBackoff:
        backoff_queue_.erase({e.ready, e.seq});
        break;
      case Place::kUnschedulable:
        unschedulable_.erase(e.seq);
        waiting_for_pods_ -= HasRequiredAffinity(*e.pod) ? 1 : 0;
        break;
    }
  }

  void Wake(Entry& e, absl::Duration now) {
    Take(e);
    const bool ready = e.ready <= now || !options_.wakes.queue.backs_off;
    Put(e, ready ? Place::kActive : Place::kBackoff, now);
  }

  QueueOptions options_;
  PodBackoff backoff_;
  NominatedPods nominated_;
  // The pods in the queue by namespace and name. An unordered_map, because the indexes below point to its elements.
  // Invariant: each entry is in exactly one of the indexes, the one of Entry::place.
  std::unordered_map<std::string, Entry> entries_;
  absl::btree_map<std::tuple<int64_t, int64_t, uint64_t>, Entry*> active_;      // by rank, last try and seq
  absl::btree_map<std::pair<absl::Duration, uint64_t>, Entry*> backoff_queue_;  // by ready and seq
  absl::btree_map<uint64_t, Entry*> unschedulable_;                             // by seq
  size_t waiting_for_pods_ = 0;  // number of unschedulable pods with required pod affinity
  uint64_t seq_ = 0;
  uint64_t cycle_ = 0;          // number of pods popped so far
  uint64_t last_move_ = 0;      // cycle_ + 1 at the last MoveAllToActiveQueue
  uint64_t last_assigned_ = 0;  // cycle_ + 1 at the last AssignedPodAdded; counts for pods with required pod affinity
  absl::Duration next_long_flush_;
};

}  // namespace

std::unique_ptr<SchedulingQueue> NewPriorityQueue(const QueueOptions& options) {
  return std::make_unique<PriorityQueue>(options);
}

}  // namespace berth::scheduler
