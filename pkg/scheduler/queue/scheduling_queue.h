// Where pending pods wait for their turn (Kubernetes 1.10 pkg/scheduler/core/scheduling_queue.go).
//
// Two kinds, chosen once: Fifo without the feature gate PodPriority, PriorityQueue with it. Both are plain data
// structures: no threads, no clock of their own. `now` is steady time since any fixed point and never goes back.
// A pod is known by namespace and name; the caller deletes an old pod before it adds a new one of the same name.
#pragma once
#include <absl/time/time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/nominated_pods.h"

namespace berth::scheduler {

// Why a pod comes back after an attempt.
enum class Requeue : uint8_t {
  kUnschedulable,  // no node fits: wait until something in the cluster changes
  kRetry,          // something failed that may work next time: wait out the back-off only
};

class SchedulingQueue {
 public:
  virtual ~SchedulingQueue() = default;

  // To be tried as soon as its turn comes. A pod that is already there is replaced and keeps its position.
  virtual void Add(const api::PodPtr& pod) = 0;
  virtual void AddIfNotPresent(const api::PodPtr& pod) = 0;
  // A pod comes back after a failed attempt. `cycle` is what cycle() returned right after its Pop: when the cluster has
  // changed since, the pod is tried again instead of waiting for the next change. Nothing when it is in the queue.
  virtual void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue why, uint64_t cycle,
                                            absl::Duration now) = 0;
  // The next pod to try, removed from the queue; null when none is ready.
  virtual api::PodPtr Pop() = 0;
  virtual uint64_t cycle() const = 0;

  // A pending pod changed. `changed`: more than its status did, so that it may fit now.
  virtual void Update(const api::PodPtr& pod, bool changed, absl::Duration now) = 0;
  // Gone, or has a node now. Unknown pods are no error. Drops its nomination as well.
  virtual void Delete(const api::Pod& pod) = 0;
  virtual bool Has(const api::Pod& pod) const = 0;

  // The cluster changed in a way that may let any pod fit.
  virtual void MoveAllToActiveQueue(absl::Duration now) = 0;
  // A pod was placed, or changed where it is: pods that want to be near such a pod may fit now.
  virtual void AssignedPodAdded(const api::Pod& pod, absl::Duration now) = 0;
  virtual void AssignedPodUpdated(const api::Pod& pod, absl::Duration now) = 0;

  // Lets time pass: back-offs that are over, pods that waited for very long.
  virtual void Flush(absl::Duration now) = 0;
  // When Flush has something to do next; InfiniteDuration when nothing is waiting.
  virtual absl::Duration NextFlush() const = 0;

  // Pods for which room was made, by node. Null without PodPriority. Kept for pods in the queue; a pod that was popped
  // is left out until it comes back or Nominate says so.
  virtual NominatedPods* nominated() = 0;
  const std::vector<api::PodPtr>& WaitingPodsForNode(util::Symbol node);

  struct Depth {
    size_t active = 0, backoff = 0, unschedulable = 0;
  };
  virtual Depth depth() const = 0;
};

struct QueueOptions {
  absl::Duration initial_backoff = absl::Seconds(1);
  absl::Duration max_backoff = absl::Seconds(60);
  // Pods that waited this long without any change are tried again all the same; looked for every `flush_period`.
  absl::Duration unschedulable_limit = absl::Seconds(60);
  absl::Duration flush_period = absl::Seconds(30);
};

std::unique_ptr<SchedulingQueue> NewFifo();
std::unique_ptr<SchedulingQueue> NewPriorityQueue(const QueueOptions& options = {});

}  // namespace berth::scheduler
