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
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
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
#include "pkg/scheduler/pod_fields.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/queue/pod_backoff.h"
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
  const Process* process = &Process110();  // what the release does around decisions; never null
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
  // Where a pending pod is.
  enum class Place : uint8_t {
    kQueued,          // in the queue: active, in back-off there, or waiting for a change
    kBackoff,         // without PodPriority, waiting before it is read again
    kRefetching,      // being read again after a failure
    kWritingStatus,   // its condition is being written
    kPreempting,      // victims are being evicted for it
    kWritingVolumes,  // its volumes are being reserved
    kBinding,         // assumed on a node; the bind is not answered yet
    kBindUnknown,     // the bind may have been executed; the pod is read to find out
    kBound,           // bound; the watch has not shown it yet
    kVerifying,       // the watch and the cache disagree about its node; the pod is read to find out
    kDeleting,        // being deleted before it had a node
    kGated,           // has scheduling gates, and is not tried before they are removed
    kUnsupported,     // has fields that the emulated release does not understand, and waits for a change of them
  };
  static constexpr size_t kPlaces = 13;
  static std::string_view PlaceName(Place p);
  std::array<size_t, kPlaces> pods_by_place() const {
    return by_place_;
  }
  size_t pending_pods() const {
    return pending_.size();
  }
  size_t binds_in_flight() const {
    return binds_in_flight_;
  }
  // Returns the number of open requests of all kinds (see SchedulerOptions::max_requests_in_flight).
  size_t requests_in_flight() const {
    return requests_.size();
  }
  const SchedulerMetrics& metrics() const {
    return metrics_;
  }
  // Returns the number of pending pods for each FailureReasonId, by their last failure. A pod counts for the reason
  // that decides (DecisiveReason).
  const std::vector<int64_t>& pending_by_reason() const {
    return by_reason_;
  }
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
  struct Attempt;
  struct Pending;
  // What a request is for.
  enum class Asked : uint8_t {
    kBind,
    kBindOutcome,
    kCondition,
    kLateCondition,  // no pod waits for the reply
    kRefetch,
    kPreemptor,
    kNominate,
    kVictim,
    kClearNomination,  // no pod waits for the reply
    kVolume,
    kReservation,  // 1.29: writing a volume or a claim
    kVerify,
    kStatusPatch,      // no pod waits for the reply; Request::what is the pod's uid
    kVictimCondition,  // 1.29: writing the condition that says why a victim is evicted
    kNode,             // whether a node exists that a bind did not find; Request::what is its name
  };
  struct Request {
    Asked asked;
    Pending* pod;  // the pod that waits for the reply, or null
    std::string what;
  };
  struct Failure {
    EventType event_type = EventType::kWarning;
    std::string event = {};        // message of the FailedScheduling event
    std::string_view reason = {};  // reason of the PodScheduled condition
    std::string message = {};      // message of the PodScheduled condition
    Requeue why = Requeue::kRetry;
    bool not_found = false;  // whether something that the attempt needed does not exist
  };

  // scheduler_input.cc: checks of objects and replies from outside.
  bool Admit(const api::PodPtr& pod);
  bool IsOwnerOfUid(const api::Pod& pod) const;
  void AdmitNextWithUid(const std::string& uid);
  Reply Checked(const Request& request, Reply reply);
  void CountInvalid(InvalidInput what) {
    ++metrics_.invalid_inputs[static_cast<size_t>(what)];
  }

  // scheduler.cc: changes of the cluster.
  template <typename T>
  void ApplyStored(const Change<T>& c);
  void PodAssigned(const api::PodPtr& pod);
  void PodPending(const api::PodPtr& pod);
  void PodGone(const api::Pod& pod);
  bool Saturated() const {
    return requests_.size() >= options_.max_requests_in_flight;
  }
  bool Ours(const api::Pod& pod) const {
    return profiles_.contains(pod.tmpl->scheduler_name);
  }
  Pending* Find(const api::Pod& pod);
  Pending& NewPending(const api::PodPtr& pod, Place place);
  void Erase(Pending& p);
  // Lets a pod that failed be tried again without waiting for the end of its back-off.
  void TryAgainNow(Pending& p);
  void ClaimBound(const api::PersistentVolumeClaim& claim);
  void SetPlace(Pending& p, Place place);
  void CountGated(const Pending& p, int by);
  // Adds a pod to the queue as ready. A pod with scheduling gates becomes kGated instead.
  void Enqueue(Pending& p);
  // If the pod has fields that the emulated release does not understand and must not ignore, reports that, lets the pod
  // become kUnsupported, and returns true.
  bool SetAsideUnsupported(Pending& p);
  UnknownPodFields UnknownFieldsOf(const api::PodTemplate& t) const;
  // Returns the fields because of which the pod must wait, including kCsiLimits.
  PodFieldSet BlockingFieldsOf(const Pending& p) const;
  // Adds the kUnsupported pods to the queue that no longer have to wait, after a change of a claim, a volume, a class
  // or a CSINode.
  void TryUnsupportedClaims();
  bool AsksOtherPostFilters(const api::Pod& pod) const;
  void CountUnknownFields(const api::Pod& pod);
  void CountIgnoredFields(const api::PodTemplate& t);
  void CountAttempt(const api::Pod& pod, AttemptResult result, absl::Duration took);
  void ObserveStage(const api::Pod& pod, Stage stage, StageStatus status, absl::Duration took);
  void ObserveDecision(const api::Pod& pod, const Decision& d, const GenericScheduler::Timing& timing);
  void SetReasons(Pending& p, std::vector<FailureReasonId> reasons);
  void Happened(ClusterEvent::Kind kind, const api::Pod* pod = nullptr, const api::Node* node = nullptr) {
    queue_->ClusterChanged({kind, pod, node}, now_);
  }
  // Returns the id for a new request. If `p` is not null, the pod waits for the reply, and the reply to an earlier
  // request of the pod will be ignored.
  RequestId Ask(Asked asked, Pending* p, std::string what = {});
  void CancelRequest(Pending& p);
  // Sets the pod's timer, which calls TimeUp. A pod has at most one.
  void Wait(Pending& p, absl::Duration until);
  void StopWaiting(Pending& p);
  void TimeUp(Pending& p);
  // Returns how long to wait before a request is sent again: 200 ms at first, then twice as long each time, up to a
  // minute.
  absl::Duration NextRetry(Pending& p);

  // scheduler_attempt.cc: deciding, assuming and binding.
  Decision Decide(const api::PodPtr& pod, GenericScheduler& algorithm);
  void NotPlaced(Pending& p, std::unique_ptr<Attempt> attempt, const Decision& d);
  void SkipDeleting(Pending& p);
  void Bind(Pending& p);
  void Bound(Pending& p);
  void BindAnswered(Pending& p, const Answer& a);
  void AskBindOutcome(Pending& p);
  void BindOutcome(Pending& p, const Answer& a, const api::PodPtr& fresh);
  void BindFailed(Pending& p, Answer a);
  bool AssumeVolumes(Pending& p, const api::PodPtr& assumed);
  void WriteNextVolume(Pending& p);
  void VolumeWritten(Pending& p, const Answer& a);
  void Verify(Pending& p);
  void Verified(Pending& p, const Answer& a, const api::PodPtr& fresh);

  // scheduler_failure.cc: what follows a failed attempt in 1.10, including preemption.
  // Whether pods wait for a back-off of this class, rather than for the queue's.
  bool BacksOff() const {
    return !options_.pod_priority || !options_.orders_queue_by_priority;
  }
  void Fail(Pending& p, Failure f);
  void WriteCondition(Pending& p, const api::PodCondition& c);
  void StatusDone(Pending& p);
  void BackIntoQueue(Pending& p);
  void Refetch(Pending& p);
  void Refetched(Pending& p, const Answer& a, const api::PodPtr& fresh);
  void StartPreemption(Pending& p);
  void Preempt(Pending& p, const Answer& a, const api::PodPtr& fresh);
  bool RoomIsBeingMade(const api::Pod& pod) const;
  void Nominated(Pending& p, const Answer& a, const api::PodPtr& fresh);
  void DeleteNextVictim(Pending& p);
  void VictimDeleted(Pending& p, const Answer& a);
  void ClearNominations(Pending& p);
  void EndPreemption(Pending& p);

  void StartBind(Pending& p);

  // scheduler_volumes.cc: binding claims in release 1.29.
  bool ReserveVolumes(Pending& p);
  void WriteNextReservation(Pending& p);
  void ReservationWritten(Pending& p, const Answer& a);
  void LookAtClaims(Pending& p);
  void ReservedClaimChanged(const std::string& key);
  void ReservationTimedOut(Pending& p);
  void ReservationFailed(Pending& p, const std::string& error);

  // scheduler_rejection.cc: what follows a failed attempt in release 1.29.
  void Reject(Pending& p, const Decision& d);
  void PreemptIfEligible(Pending& p);
  void PreemptorRead(Pending& p, const Answer& a, const api::PodPtr& fresh);
  void TellOfPreemption(Pending& p, std::string_view text);
  void MakeRoom(Pending& p, const NodeFailures& failures);
  void EvictNextVictim(Pending& p);
  void VictimMarked(Pending& p, const Answer& a);
  void VictimEvicted(Pending& p, const Answer& a);
  void EvictionFailed(Pending& p, const api::Pod& victim, const Answer& a);
  void TakeNomination(const api::Pod& pod);
  void FinishRejection(Pending& p);
  void StatusPatched(const std::string& uid, const Reply& r);
  std::string Now() const;  // wall time in the API's format

  Cache* cache_;
  SchedulingQueue* queue_;
  VolumeBinder* volume_binder_;
  Actions* actions_;
  const util::Clock* clock_;
  SchedulerOptions options_;
  const Process& process_;
  const SchedulerLog& log_;
  absl::flat_hash_map<Symbol, GenericScheduler*> profiles_;

  absl::Duration now_;  // the clock's Steady() at the last input
  bool stopped_ = false;
  absl::flat_hash_map<std::string, std::unique_ptr<Pending>> pending_;  // by uid
  std::vector<Pending*> pending_list_;  // the values of pending_; each stores its position
  std::array<size_t, kPlaces> by_place_{};
  // The pending pods that use a claim, by "namespace/name" of the claim.
  absl::flat_hash_map<std::string, absl::flat_hash_set<Pending*>> by_claim_;
  absl::flat_hash_set<Pending*> unsupported_with_claims_;  // the kUnsupported pods that use claims
  // The templates whose unknown fields were reported; swept when there are as many as the second member says.
  absl::flat_hash_map<const api::PodTemplate*, std::weak_ptr<const api::PodTemplate>> templates_with_unknown_fields_;
  size_t unknown_fields_sweep_ = 1024;
  std::vector<int64_t> by_reason_;  // by FailureReasonId
  uint64_t decisions_ = 0;          // of all profiles
  // Pods with a uid that another pod has, by uid and "namespace/name". They are admitted when that pod is gone.
  absl::flat_hash_map<std::string, absl::btree_map<std::string, api::PodPtr>> duplicates_;
  absl::flat_hash_map<RequestId, Request> requests_;
  RequestId last_request_ = 0;
  absl::btree_map<std::pair<absl::Duration, uint64_t>, Pending*> timers_;
  uint64_t last_timer_ = 0;
  PodBackoff backoff_;
  absl::Duration next_expiry_;
  size_t binds_in_flight_ = 0;
  // Grows by options_.check_decisions with each decision. When it reaches 1, the decision is checked and 1 is taken
  // off.
  double checks_due_ = 0;
  SchedulerMetrics metrics_;
};

}  // namespace berth::scheduler
