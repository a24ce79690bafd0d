// Where pending pods wait for their turn (Kubernetes 1.10 pkg/scheduler/core/scheduling_queue.go).
//
// Two kinds, chosen once: Fifo without the feature gate PodPriority, PriorityQueue with it. Both are plain data
// structures: no threads, no clock of their own. `now` is steady time since any fixed point and never goes back.
// A pod is known by namespace and name; the caller deletes an old pod before it adds a new one of the same name.
#pragma once
#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler {

// Why a pod comes back after an attempt.
enum class Requeue : uint8_t {
  kUnschedulable,  // no node fits: wait until something in the cluster changes
  kRetry,          // something failed that may work next time: wait out the back-off only
};

// What release 1.29's queue counts about itself.
struct QueueCounts {
  // Pods that came into a part of the queue, by what brought them there (1.29's names, such as "PodAdd").
  struct Incoming {
    std::string_view event, queue;  // queue: "active", "backoff" or "unschedulable"
    uint64_t pods = 0;              // not 0
  };
  std::vector<Incoming> incoming;
  // Pods in the queue that a plugin rejected in their last attempt; a pod counts for each such plugin.
  struct Rejected {
    util::Symbol plugin, profile;
    int64_t pods = 0;
  };
  std::vector<Rejected> rejected;
};

class SchedulingQueue {
 public:
  virtual ~SchedulingQueue() = default;

  // Adds a pod, to be tried when its turn comes. A pod that is already there is replaced and keeps its position.
  virtual void Add(const api::PodPtr& pod) = 0;
  virtual void AddIfNotPresent(const api::PodPtr& pod) = 0;
  // Takes a pod back after a failed attempt. `cycle` is what cycle() returned right after its Pop: when the cluster has
  // changed since, the pod is tried again instead of waiting for the next change. Does nothing when it is in the queue.
  virtual void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue why, uint64_t cycle,
                                            absl::Duration now) = 0;
  // The same, with the plugins that rejected the pod in its last attempt; none: something else failed. A queue that
  // knows events by plugin moves the pod when one of them happens.
  virtual void AddRejected(const api::PodPtr& pod, Requeue why, const std::vector<util::Symbol>& /*plugins*/,
                           uint64_t cycle, absl::Duration now) {
    AddUnschedulableIfNotPresent(pod, why, cycle, now);
  }
  // Says that a pod that was popped does not come back, because it is bound or gone.
  virtual void Settled(const api::Pod& /*pod*/) {}
  // Removes and returns the next pod to try; null when none is ready.
  virtual api::PodPtr Pop() = 0;
  virtual uint64_t cycle() const = 0;

  // Replaces a pending pod. `changed`: more than its status differs, so that it may fit now.
  virtual void Update(const api::PodPtr& pod, bool changed, absl::Duration now) = 0;
  // Removes a pod that is gone or has a node now, and its nomination. Unknown pods are ignored.
  virtual void Delete(const api::Pod& pod) = 0;
  virtual bool Has(const api::Pod& pod) const = 0;

  // Something happened in the cluster. Queues that do not distinguish events treat each as one that may let any pod
  // fit, except those about pods that were placed or changed.
  virtual void ClusterChanged(const ClusterEvent& event, absl::Duration now);
  // The cluster changed in a way that may let any pod fit.
  virtual void MoveAllToActiveQueue(absl::Duration now) = 0;
  // A pod was placed, or changed where it is: pods that want to be near such a pod may fit now.
  virtual void AssignedPodAdded(const api::Pod& pod, absl::Duration now) = 0;
  virtual void AssignedPodUpdated(const api::Pod& pod, absl::Duration now) = 0;

  // Makes pods ready whose back-off is over, and those that have waited for very long.
  virtual void Flush(absl::Duration now) = 0;
  // Returns when Flush has something to do next; InfiniteDuration when nothing is waiting.
  virtual absl::Duration NextFlush() const = 0;

  // Pods for which others were evicted, by node. Null without PodPriority. Kept for pods in the queue; a pod that was
  // popped is left out until it comes back or Nominate says so.
  virtual NominatedPods* nominated() = 0;
  const std::vector<api::PodPtr>& WaitingPodsForNode(util::Symbol node);

  struct Depth {
    size_t active = 0, backoff = 0, unschedulable = 0;
  };
  virtual Depth depth() const = 0;
  virtual QueueCounts counts() const { return {}; }
};

struct QueueOptions {
  absl::Duration initial_backoff = absl::Seconds(1);
  absl::Duration max_backoff = absl::Seconds(60);
  // Pods that waited this long without any change are tried again all the same; looked for every `flush_period`.
  absl::Duration unschedulable_limit = absl::Seconds(60);
  absl::Duration flush_period = absl::Seconds(30);
};

struct EventQueueOptions {
  absl::Duration initial_backoff = absl::Seconds(1);
  absl::Duration max_backoff = absl::Seconds(10);
  // Pods that waited this long without an event that concerns them are tried again all the same; looked for every
  // `flush_period`.
  absl::Duration unschedulable_limit = absl::Minutes(5);
  absl::Duration flush_period = absl::Seconds(30);
  // Returns whether a node that was added or changed could take the pod by a cheap check; else the pod is
  // not moved. Empty: any node could.
  std::function<bool(const api::Pod&, const api::Node&)> may_fit;
};

// Returns whether one of the pod's required pod affinity terms selects `other`. A term with an unusable selector
// selects nothing; a namespaceSelector is taken for one that selects every namespace.
bool WantsToBeNear(const api::Pod& pod, const api::Pod& other);

// Release 1.29's queue.
std::unique_ptr<SchedulingQueue> NewEventQueue(const EventQueueOptions& options = {});
std::unique_ptr<SchedulingQueue> NewFifo();
std::unique_ptr<SchedulingQueue> NewPriorityQueue(const QueueOptions& options = {});

}  // namespace berth::scheduler
