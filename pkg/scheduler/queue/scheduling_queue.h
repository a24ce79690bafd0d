// The queue of pending pods (Kubernetes 1.10 pkg/scheduler/core/scheduling_queue.go, 1.29 internal/queue).
//
// There are three kinds, of which a scheduler uses one: the FIFO for 1.10 without the feature gate PodPriority, the
// PriorityQueue for 1.10 with it, and the EventQueue for 1.29. All are plain data structures without threads and
// without a clock. `now` is the reading of a monotonic clock and never goes back. A pod is identified by namespace and
// name; the caller deletes an old pod before it adds a new one of the same name.
//
// Thread-safety: none.
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
#include "pkg/util/bucket_counts.h"

namespace berth::scheduler {

// Why a pod is given back after an attempt.
enum class Requeue : uint8_t {
  kUnschedulable,  // no node fits; the pod waits until something in the cluster changes
  kRetry,          // something failed that may work the next time; the pod only waits for the end of its back-off
};

// What the queue of release 1.29 counts for its metrics.
struct QueueCounts {
  // How many pods came into a part of the queue, by the event that brought them there (1.29's names, such as "PodAdd").
  struct Incoming {
    std::string_view event, queue;  // queue: "active", "backoff" or "unschedulable"
    uint64_t pods = 0;              // not 0
  };
  std::vector<Incoming> incoming;
  // How many pods in the queue were rejected by a plugin in their last attempt. A pod counts for each such plugin.
  struct Rejected {
    util::Symbol plugin, profile;
    int64_t pods = 0;
  };
  std::vector<Rejected> rejected;
  // With QueueRules::asks_hints: how often a rule was asked whether an event may let a pod fit that it has rejected, by
  // 1.36's label of the event and the answer, and how long the answers took.
  struct Hint {
    util::Symbol plugin;
    std::string_view event;
    bool may_help;
    util::SecondsHistogram<10, 15, 20> took;
  };
  std::vector<Hint> hints;
  // Also: how many events are kept for pods that are being tried, by label, and under "PodPopped" those pods. What was
  // kept once is listed from then on.
  struct InFlight {
    std::string_view event;
    int64_t events;
  };
  std::vector<InFlight> in_flight;
};

class SchedulingQueue {
 public:
  virtual ~SchedulingQueue() = default;

  // Adds a pod as ready to be tried. If it is in the queue, it is replaced, and keeps its position when it is ready.
  virtual void Add(const api::PodPtr& pod) = 0;
  virtual void AddIfNotPresent(const api::PodPtr& pod) = 0;
  // Takes a pod back after a failed attempt. `cycle` is what cycle() returned right after its Pop. If the cluster has
  // changed since then, the pod is tried again after its back-off and does not wait for another change. Does nothing
  // when the pod is in the queue.
  virtual void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue why, uint64_t cycle,
                                            absl::Duration now) = 0;
  // The same with the rules that rejected the pod in its last attempt; empty when something else failed. The EventQueue
  // wakes the pod when an event happens that wakes pods which one of these rules rejected.
  virtual void AddRejected(const api::PodPtr& pod, Requeue why, const std::vector<util::Symbol>& /*rules*/,
                           uint64_t cycle, absl::Duration now) {
    AddUnschedulableIfNotPresent(pod, why, cycle, now);
  }
  // Tells the queue that a popped pod is not given back, because it is bound or gone.
  virtual void Done(const api::Pod& /*pod*/) {}
  // Returns whether a popped pod, which is not done yet, was made ready by the limit of its wait and not by an event.
  virtual bool WasFlushed(const api::Pod& /*pod*/) const { return false; }
  // Removes and returns the next pod to try, or returns null when none is ready.
  virtual api::PodPtr Pop() = 0;
  // Returns the number of pods popped so far; the FIFO, which does not need it, returns 0.
  virtual uint64_t cycle() const = 0;

  // Replaces a pending pod, or adds it. `changed` says that more than its status differs, so that it may fit now.
  virtual void Update(const api::PodPtr& pod, bool changed, absl::Duration now) = 0;
  // Removes a pod that is gone or has a node now, and its nomination. Ignores unknown pods.
  virtual void Delete(const api::Pod& pod) = 0;
  virtual bool Has(const api::Pod& pod) const = 0;
  // Returns when the back-off of a pod ends that only waits for that; zero for every other pod.
  virtual absl::Duration BackoffEndOf(const api::Pod& /*pod*/) const { return absl::ZeroDuration(); }

  // Tells the queue about an event in the cluster. By default, kAssignedPodAdd and kAssignedPodUpdate call the
  // functions of these names, and every other event calls MoveAllToActiveQueue.
  virtual void ClusterChanged(const ClusterEvent& event, absl::Duration now);
  // Tells the queue that the cluster has changed and that any pod may fit now.
  virtual void MoveAllToActiveQueue(absl::Duration now) = 0;
  // Tell the queue that a pod was placed, or that a placed pod has changed. Pods whose affinity selects it may fit now.
  virtual void AssignedPodAdded(const api::Pod& pod, absl::Duration now) = 0;
  virtual void AssignedPodUpdated(const api::Pod& pod, absl::Duration now) = 0;

  // Makes pods ready whose back-off has ended or whose wait has reached the limit.
  virtual void Flush(absl::Duration now) = 0;
  // Returns when Flush has to be called next; InfiniteDuration when no pod waits.
  virtual absl::Duration NextFlush() const = 0;

  // Returns the nominated pods in the queue, by node; null for a FIFO without nominations. A popped pod is not among
  // them until it is given back or the caller adds it.
  virtual NominatedPods* nominated() = 0;

  struct Depth {
    size_t active = 0, backoff = 0, unschedulable = 0;
  };
  virtual Depth depth() const = 0;
  virtual QueueCounts counts() const { return {}; }
};

struct QueueOptions {
  Wakes wakes = {};  // of the release: the events that it notices, and whether pods back off
  absl::Duration initial_backoff = absl::Seconds(1);
  absl::Duration max_backoff = absl::Seconds(60);
  // Pods that have waited this long are tried again without a change in the cluster. Flush looks for such pods once in
  // each `flush_period`.
  absl::Duration unschedulable_limit = absl::Seconds(60);
  absl::Duration flush_period = absl::Seconds(30);
};

struct EventQueueOptions {
  absl::Duration initial_backoff = absl::Seconds(1);
  absl::Duration max_backoff = absl::Seconds(10);
  // Pods that have waited for more than this since their last attempt are tried again without an event. Flush looks for
  // such pods once in each `flush_period`.
  absl::Duration unschedulable_limit = absl::Minutes(5);
  absl::Duration flush_period = absl::Seconds(30);
  Wakes wakes;  // of the release
  // A cheap check whether the pod could fit a node that was added or changed. If it returns false, the event does not
  // wake the pod. If it is empty, every such event does.
  std::function<bool(const api::Pod&, const api::Node&)> may_fit;
  // The hint of a rule that rejected the pod, where the release asks hints. If it is empty, every event for which the
  // rule is registered wakes the pod.
  std::function<bool(const api::Pod&, util::Symbol rule, const ClusterEvent&)> may_help;
  // Whether what may_fit and may_help say about pods without volumes and claims follows from their templates, unless
  // the event is about the pod itself. Then they are asked once for all pods of a template that wait for the same
  // rules.
  bool asks_by_template = false;
  // Reads a monotonic clock, to measure how long hints take. If it is empty, they count as taking no time.
  std::function<absl::Duration()> read_clock;
};

// Returns whether one of the pod's required pod affinity terms selects `other`. A term whose selector cannot be used
// selects no pod. A namespaceSelector is treated as if it selected every namespace.
bool WantsToBeNear(const api::Pod& pod, const api::Pod& other);

// The queue of release 1.29.
std::unique_ptr<SchedulingQueue> NewEventQueue(const EventQueueOptions& options = {});
// With `has_nominations`, there is a set of nominated pods, which the caller alone fills (1.8 with PodPriority).
std::unique_ptr<SchedulingQueue> NewFifo(bool has_nominations = false);
std::unique_ptr<SchedulingQueue> NewPriorityQueue(const QueueOptions& options = {});

}  // namespace berth::scheduler
