// The scheduling loop: takes pending pods from the queue one at a time, decides, binds, and handles every failure
// (Kubernetes 1.10 pkg/scheduler/scheduler.go).
//
// It is a state machine without locks, threads and sockets. Its inputs are changes of the cluster (Apply of a Change),
// replies to requests (Apply of a Reply), and time (Tick, with a clock that is given to it). Its outputs are requests
// and events (Actions). With the same inputs it does the same, so that a run can be repeated
// (scheduler_simulation_test.cc).
//
// Several profiles, identified by spec.schedulerName, share one cache and one queue. Pods of other schedulers count in
// the cache once they are placed; they are never queued (upstream bug B-36, fixed).
//
// Invariant: every pending pod of these profiles is in exactly one Place from when the API server first shows it until
// it is gone, or is bound and the API server has shown that.
//
// Thread-safety: none. One thread owns it, together with the cache and the queue.
#pragma once
#include <absl/time/time.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/kinds.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/failure_reasons.h"
#include "pkg/scheduler/pending_pod.h"
#include "pkg/scheduler/pod_fields.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler_actions.h"
#include "pkg/scheduler/scheduler_metrics.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "pkg/util/clock.h"

namespace berth::scheduler {

// A change of an object: it was added (`before` is null), updated, or deleted (`after` is null).
template <typename T>
struct Change {
  std::shared_ptr<const T> before, after;
};

struct SchedulerOptions {
  // Gate PodPriority. REQUIRES: it is false with a FIFO without nominations, and otherwise true.
  bool pod_priority = false;
  bool orders_queue_by_priority = true;  // with pod_priority: false with a FIFO
  bool preempts = true;                  // with pod_priority: whether a pod that fits no node has others evicted
  // Without PodPriority, how long a pod waits after a failed attempt before it is read again.
  absl::Duration initial_backoff = absl::Seconds(1), max_backoff = absl::Seconds(60);
  const Process* process = nullptr;  // what the release does around decisions. REQUIRES: not null in a scheduler
  // The newer fields of pods that the emulated release understands (pod_fields.h), without those that the rules of a
  // pod's profile implement.
  PodFieldSet understood_fields = {};
  // Treat pods as if they had no fields that are newer than release 1.10.
  bool ignore_unknown_fields = false;
  // Release 1.29: reserves volumes for claims. Must be the one that the rules read, and must outlive the scheduler.
  ClaimBinder* claim_binder = nullptr;
  // Release 1.29: how long binding the claims of a pod may take, by the profile's name (bindTimeoutSeconds of the
  // plugin VolumeBinding). Profiles that are absent have 10 minutes.
  std::map<util::Symbol, absl::Duration> volume_bind_timeouts;
  // When this many requests are open, no further pod is tried and no further timer is served.
  size_t max_requests_in_flight = 4096;
  // The share of decisions, from 0 to 1, that are made both ways (DecisionMode::kBoth) and compared.
  double check_decisions = 0;
  // Called before each attempt. No pod is tried while it returns false, for example because the lease may be lost. If
  // it is empty, pods are always tried.
  std::function<bool()> may_bind;
  // Sees each decision. May be null; must outlive the scheduler.
  DecisionObserver* observer = nullptr;
};

class AfterFailure;
class ClaimWrites;
class PendingTable;
class UidAdmission;
struct Request;
struct SchedulingState;

// Its parts are a table of pending pods (pending_table.h), what follows a failed attempt (after_failure.h), the volumes
// and claims that are written for a pod (claim_writes.h), and the cycle itself: decide, assume, bind.
class Scheduler {
 public:
  // All pointers must outlive the scheduler. `volume_binder` is null without gate VolumeScheduling.
  Scheduler(Cache* cache, SchedulingQueue* queue, VolumeBinder* volume_binder, Actions* actions,
            const util::Clock* clock, SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;

  // Lets `algorithm`, which must outlive the scheduler, decide pods with this spec.schedulerName. REQUIRES: called
  // before the first Apply.
  void AddProfile(std::string_view name, GenericScheduler* algorithm);

  // ---- inputs ----
  // Apply a change of an object.
#define BERTH_APPLIED(type, ...) void Apply(const Change<api::type>& c);
  BERTH_WATCHED_KINDS(BERTH_APPLIED)
#undef BERTH_APPLIED
  // Applies the reply to a request. The reply to a request that was cancelled is ignored.
  void Apply(const Reply& reply);

  // Does what is due: ends of back-offs, retries, expiry of assumed pods. Must be called at NextDeadline() at the
  // latest; calling it more often is cheap.
  void Tick();
  // Returns when Tick must be called, by the clock's Steady(); InfiniteDuration when nothing is due without another
  // input.
  absl::Duration NextDeadline() const;

  // Tries the next pod. Returns false when no pod is ready, or none may be tried now.
  bool ScheduleOne();
  // Ends scheduling: no further pod is tried. Binds that are under way are still followed to their end.
  void Stop() {
    stopped_ = true;
  }

  // ---- state ----
  using Place = PendingPlace;
  std::array<size_t, kPendingPlaces> pods_by_place() const;
  size_t pending_pods() const;
  size_t binds_in_flight() const;
  // Returns the number of open requests of all kinds (see SchedulerOptions::max_requests_in_flight).
  size_t requests_in_flight() const;
  const SchedulerMetrics& metrics() const;
  // Returns the number of pending pods for each FailureReasonId, by their last failure. A pod counts for the reason
  // that decides (DecisiveReason).
  const std::vector<int64_t>& pending_by_reason() const;
  struct PendingView {
    const api::PodPtr& pod;
    Place place;
    uint32_t attempts;  // number of attempts begun since the pod was first seen
    const std::vector<FailureReasonId>&
        reasons;           // the reasons of the last attempt that failed, the one that decides first
    absl::Duration until;  // when it is tried again at the latest, by the monotonic clock; 0 if that is not known
  };
  // Calls f for the pending pods at positions [from, to) of a list. A new pod is appended; when a pod leaves, the last
  // one takes its position. So visiting all pods in several steps, from the end of the list to the beginning, misses no
  // pod that is pending all the time, but may visit a pod twice. REQUIRES: from <= to <= pending_pods().
  void VisitPending(size_t from, size_t to, const std::function<void(const PendingView&)>& f) const;

  // Returns what is inconsistent between the tables, or an empty text. Looks at every pending pod; for tests.
  std::string CheckInvariants() const;
  // Returns the nodes, the pods on them and the pending pods as a text for users (SIGUSR2), and what differs from the
  // objects that the informers hold (`nodes`, `pods`).
  std::string DumpAndCompare(const std::vector<api::NodePtr>& nodes, const std::vector<api::PodPtr>& pods) const;

 private:
  // scheduler_input.cc
  Reply Checked(const Request& request, Reply reply);

  // scheduler.cc: changes of the cluster, replies and time.
  template <typename T>
  void ApplyStored(const Change<T>& c);
  void ApplyPod(const Change<api::Pod>& shown);
  // Applies pods that have waited for a uid that is free now. Called at the end of each input.
  void AdmitFreed();
  void PodAssigned(const api::PodPtr& pod);
  void PodPending(const api::PodPtr& pod);
  void PodGone(const api::Pod& pod);
  bool Ours(const api::Pod& pod) const;
  // Counts how long the change took that was applied (Process::measures_events; scheduler_events.h).
  void ObserveEvents(const std::vector<std::string_view>& labels);
  void Replied(const Request& request, const Reply& reply);
  void TimeUp(PendingPod& p);

  // scheduler_attempt.cc: deciding, assuming and binding.
  void TryPod(PendingPod& p);
  Decision Decide(const api::PodPtr& pod, GenericScheduler& algorithm);
  void NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d);
  bool SetAsideUnsupported(PendingPod& p);
  void ObserveDecision(const api::Pod& pod, const Decision& d, const GenericScheduler::Timing& timing);
  void SkipDeleting(PendingPod& p);
  void StartBind(PendingPod& p);
  void Bind(PendingPod& p);
  void BindAnswered(PendingPod& p, const Answer& a);
  void AskBindOutcome(PendingPod& p);
  void BindOutcome(PendingPod& p, const Answer& a, const api::PodPtr& fresh);
  void Bound(PendingPod& p);
  void BindFailed(PendingPod& p, Answer a);
  void Verify(PendingPod& p);
  void Verified(PendingPod& p, const Answer& a, const api::PodPtr& fresh);

  std::unique_ptr<SchedulingState> state_;
  // Views of what state_ has, because nearly every function uses them.
  SchedulingState& s_;
  PendingTable& pending_;
  std::unique_ptr<UidAdmission> uids_;
  std::unique_ptr<AfterFailure> failures_;
  std::unique_ptr<ClaimWrites> claims_;
  bool stopped_ = false;
  uint64_t decisions_ = 0;  // of all profiles
  // Grows by options.check_decisions with each decision. When it reaches 1, the decision is checked and 1 is taken off.
  double checks_due_ = 0;
  absl::Duration next_expiry_;
};

}  // namespace berth::scheduler
