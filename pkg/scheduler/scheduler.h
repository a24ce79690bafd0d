// The scheduling loop: takes pending pods one at a time, decides, binds, and handles every failure on the way
// (Kubernetes 1.10 pkg/scheduler/scheduler.go).
//
// A state machine without locks, threads, sockets or wall clock. Its inputs are changes of the cluster (Apply of
// a Change), the ends of requests (Apply of a Reply), and time (Tick). Its outputs are requests and events (Actions).
// Given the same inputs it does the same things, so that a simulation can replay a run (scheduler_simulation_test.cc).
//
// Several schedulers (profiles), told apart by spec.schedulerName, share one cache and one queue. Pods of schedulers
// that are not ours count in the cache once they are placed and are never queued (upstream bug B-36, fixed).
//
// Every pending pod of ours is in exactly one place (see Place), from the moment the API shows it until it is bound and
// the API has shown that too, or it is gone.
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

// An object appeared (before is null), changed, or went away (after is null).
template <typename T>
struct Change {
  std::shared_ptr<const T> before, after;
};

struct SchedulerOptions {
  bool pod_priority = false;  // must agree with the kind of queue
  // Without PodPriority: the wait before a pod that failed is looked at again.
  absl::Duration initial_backoff = absl::Seconds(1), max_backoff = absl::Seconds(60);
  const Process* process = &Process110();  // what is done around decisions
  // Fields of pods that came after 1.10 and that the emulated release understands (pod_fields.h).
  PodFieldSet understood_fields = {};  // beside those that the rules of a pod's scheduler do themselves
  // Take pods as release 1.10 saw them, without any field that came later.
  bool ignore_unknown_fields = false;
  // Release 1.29: where volumes are reserved for claims; the one that the rules look at. Outlives the scheduler.
  ClaimBinder* claim_binder = nullptr;
  // Release 1.29: how long the claims of a pod may take to be bound, by the scheduler's name (bindTimeoutSeconds of the
  // plugin VolumeBinding). Names that are absent: 10 minutes.
  std::map<util::Symbol, absl::Duration> volume_bind_timeouts;
  // With this many requests unanswered no further pod is decided and no further one is looked at again.
  size_t max_requests_in_flight = 4096;
  // The share of decisions, 0..1, that are made both ways (DecisionMode::kBoth) to see whether they differ.
  double check_decisions = 0;
  // Called right before each bind: false (the lease may be lost) means not now. Null: always.
  std::function<bool()> may_bind;
  // Outlives the scheduler; null: nobody observes decisions.
  DecisionObserver* observer = nullptr;
};

class Scheduler {
 public:
  // All outlive the scheduler; `volume_binder` is null without VolumeScheduling.
  Scheduler(Cache* cache, SchedulingQueue* queue, VolumeBinder* volume_binder, Actions* actions,
            const util::Clock* clock, SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;

  // Pods that ask for this scheduler by name are decided by `algorithm` (outlives the scheduler). Before any pod comes.
  void AddProfile(std::string_view name, GenericScheduler* algorithm);

  // ---- what happened ----
#define BERTH_APPLIED(type, ...) void Apply(const Change<api::type>& c);
  BERTH_WATCHED_KINDS(BERTH_APPLIED)
#undef BERTH_APPLIED
  // A reply to a request nobody waits for any more is no error.
  void Apply(const Reply& reply);

  // Back-offs, retries, expiry of assumed pods. Call at NextDeadline() at the latest; calling more often is cheap.
  void Tick();
  // Steady time of the clock; InfiniteDuration when only the outside world can change anything.
  absl::Duration NextDeadline() const;

  // Tries the next pod. False when there is none, or none may be tried now.
  bool ScheduleOne();
  // No pod is tried any more. Binds in flight are still followed to their end.
  void Stop() {
    stopped_ = true;
  }

  // ---- what can be seen from outside ----
  // Where a pending pod of ours is.
  enum class Place : uint8_t {
    kQueued,          // in the queue: active, in back-off there, or waiting for a change
    kBackoff,         // without PodPriority: waiting before it is looked at again
    kRefetching,      // being read again after a failure
    kWritingStatus,   // its condition is being written
    kPreempting,      // victims are being evicted for it
    kWritingVolumes,  // its volumes are being reserved
    kBinding,         // assumed on a node; the bind is not answered
    kBindUnknown,     // the bind's answer was lost; finding out what became of it
    kBound,           // bound; the watch has not shown it yet
    kVerifying,       // the watch and our memory disagree about its node; asking
    kDeleting,        // being deleted before it had a node
    kGated,           // has scheduling gates: not tried before they are gone
    kUnsupported,     // has fields that the emulated release does not understand: not tried before it is changed
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
  // Requests of all kinds; at SchedulerOptions::max_requests_in_flight no pod is tried.
  size_t requests_in_flight() const {
    return requests_.size();
  }
  const SchedulerMetrics& metrics() const {
    return metrics_;
  }
  // Returns the number of pending pods by the reasons of their last failure; a pod counts once for each of its reasons.
  // The index is a FailureReasonId.
  const std::vector<int64_t>& pending_by_reason() const {
    return by_reason_;
  }
  struct PendingView {
    const api::PodPtr& pod;
    Place place;
    uint32_t attempts;                            // that were begun since the pod was seen first
    const std::vector<FailureReasonId>& reasons;  // of the last attempt that failed
  };
  // Calls f for the pending pods at positions [from, to) of a list. A new pod is appended, and the last pod takes the
  // position of one that leaves; so whoever visits all pods in several steps from the end to the beginning misses none
  // that is pending all the time, and may see one twice. REQUIRES: from <= to <= pending_pods().
  void VisitPending(size_t from, size_t to, const std::function<void(const PendingView&)>& f) const;

  // Consistency of the tables; empty when all is well. Walks everything.
  std::string CheckInvariants() const;
  // The node table, the pods on it and the pending pods, for people (SIGUSR2). Compares with what the informers hold
  // (`nodes`, `pods`) and says what differs.
  std::string DumpAndCompare(const std::vector<api::NodePtr>& nodes, const std::vector<api::PodPtr>& pods) const;

 private:
  struct Attempt;
  struct Pending;
  // What a reply answers.
  enum class Asked : uint8_t {
    kBind,
    kBindOutcome,
    kCondition,
    kLateCondition,  // nobody waits for it
    kRefetch,
    kPreemptor,
    kNominate,
    kVictim,
    kClearNomination,  // nobody waits for it
    kVolume,
    kReservation,  // a volume or a claim is written (1.29)
    kVerify,
    kStatusPatch,      // nobody waits for it; `what` is the pod's uid
    kVictimCondition,  // 1.29: why it goes
    kNode,             // is a node that a bind did not find really gone?
  };
  struct Request {
    Asked asked;
    Pending* pod;  // null when nobody waits
    std::string what;
  };
  struct Failure {
    EventType event_type = EventType::kWarning;
    std::string event = {};        // message of the FailedScheduling event
    std::string_view reason = {};  // of the PodScheduled condition
    std::string message = {};      // of the PodScheduled condition
    Requeue why = Requeue::kRetry;
    bool not_found = false;  // something that the attempt needed does not exist
  };

  // scheduler_input.cc: whether what comes from outside may enter.
  bool Admit(const api::PodPtr& pod);
  bool IsOwnerOfUid(const api::Pod& pod) const;
  void AdmitNextWithUid(const std::string& uid);
  Reply Checked(const Request& request, Reply reply);
  void CountInvalid(InvalidInput what) {
    ++metrics_.invalid_inputs[static_cast<size_t>(what)];
  }

  // scheduler.cc: the cluster changed.
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
  // Makes a pod that failed be tried again now, without the rest of its back-off.
  void TryAgainNow(Pending& p);
  void ClaimBound(const api::PersistentVolumeClaim& claim);
  void SetPlace(Pending& p, Place place);
  void CountGated(const Pending& p, int by);
  // Puts a pod into the queue, to be tried as soon as its turn comes; one with scheduling gates is set aside.
  void Enqueue(Pending& p);
  // Sets a pod aside when the emulated release cannot do what its fields say, and reports it. Returns whether it did.
  bool SetAsideUnsupported(Pending& p);
  UnknownPodFields UnknownFieldsOf(const api::PodTemplate& t) const;
  // Returns what keeps a pod from being tried in the emulated release, limits of its CSI volumes included.
  PodFieldSet BlockingFieldsOf(const Pending& p) const;
  // Tries those pods again that were set aside for what a change of claims, volumes, classes or CSINodes has removed.
  void TryUnsupportedClaims();
  void CountIgnoredFields(const api::PodTemplate& t);
  void CountAttempt(const api::Pod& pod, AttemptResult result, absl::Duration took);
  void ObserveStage(const api::Pod& pod, Stage stage, StageStatus status, absl::Duration took);
  void ObserveDecision(const api::Pod& pod, const Decision& d, const GenericScheduler::Timing& timing);
  void SetReasons(Pending& p, std::vector<FailureReasonId> reasons);
  void Happened(ClusterEvent::Kind kind, const api::Pod* pod = nullptr, const api::Node* node = nullptr) {
    queue_->ClusterChanged({kind, pod, node}, now_);
  }
  RequestId Ask(Asked asked, Pending* p, std::string what = {});
  void CancelRequest(Pending& p);
  void Wait(Pending& p, absl::Duration until);
  void StopWaiting(Pending& p);
  void TimeUp(Pending& p);
  // Returns the wait before the same request is sent again: 200 ms, doubling, at most a minute.
  absl::Duration NextRetry(Pending& p);

  // scheduler_attempt.cc: decide, assume, bind.
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

  // scheduler_failure.cc: after a failure, back into the queue; preemption.
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

  // scheduler_volumes.cc: claims without volumes in release 1.29.
  bool ReserveVolumes(Pending& p);
  void WriteNextReservation(Pending& p);
  void ReservationWritten(Pending& p, const Answer& a);
  void LookAtClaims(Pending& p);
  void ReservedClaimChanged(const std::string& key);
  void ReservationTimedOut(Pending& p);
  void ReservationFailed(Pending& p, const std::string& error);

  // scheduler_rejection.cc: release 1.29's way out of a failed attempt.
  void Reject(Pending& p, const Decision& d);
  void MakeRoom(Pending& p, const NodeFailures& failures);
  void EvictNextVictim(Pending& p);
  void VictimMarked(Pending& p, const Answer& a);
  void VictimEvicted(Pending& p, const Answer& a);
  void EvictionFailed(Pending& p, const api::Pod& victim, const Answer& a);
  void TakeNomination(const api::Pod& pod);
  void FinishRejection(Pending& p);
  void StatusPatched(const std::string& uid, const Reply& r);
  std::string Now() const;  // as the API writes times

  Cache* cache_;
  SchedulingQueue* queue_;
  VolumeBinder* volume_binder_;
  Actions* actions_;
  const util::Clock* clock_;
  SchedulerOptions options_;
  const Process& process_;
  const SchedulerLog& log_;
  absl::flat_hash_map<Symbol, GenericScheduler*> profiles_;

  absl::Duration now_;  // steady time as of the last entry from outside
  bool stopped_ = false;
  absl::flat_hash_map<std::string, std::unique_ptr<Pending>> pending_;  // by uid
  std::vector<Pending*> pending_list_;  // the values of pending_; each knows its position
  std::array<size_t, kPlaces> by_place_{};
  // Pending pods by "namespace/name" of each claim that they use.
  absl::flat_hash_map<std::string, absl::flat_hash_set<Pending*>> by_claim_;
  absl::flat_hash_set<Pending*> unsupported_with_claims_;  // set aside, and their claims may be why
  std::vector<int64_t> by_reason_;                         // by FailureReasonId
  // Pods whose uid another pod has, by uid and by "namespace/name". They are admitted when that pod is gone.
  absl::flat_hash_map<std::string, absl::btree_map<std::string, api::PodPtr>> duplicates_;
  absl::flat_hash_map<RequestId, Request> requests_;
  RequestId last_request_ = 0;
  absl::btree_map<std::pair<absl::Duration, uint64_t>, Pending*> timers_;
  uint64_t last_timer_ = 0;
  PodBackoff backoff_;
  absl::Duration next_expiry_;
  size_t binds_in_flight_ = 0;
  double checks_due_ = 0;  // grows by options_.check_decisions with each decision; at 1 one is checked
  SchedulerMetrics metrics_;
};

}  // namespace berth::scheduler
