// The pending pods of a scheduler, what each of them waits for, and what is counted over them.
//
// Invariant: a pod is in this table exactly once, under its uid. The pod of a request or of a timer is in the table.
//
// Thread-safety: none.
#pragma once
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/time/time.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/pending_pod.h"
#include "pkg/scheduler/scheduler_metrics.h"

namespace berth::scheduler {

// What a request is for.
enum class RequestKind : uint8_t {
  kBind,
  kBindOutcome,
  kCondition,
  kLateCondition,  // no pod waits for the reply; Request::what is the pod's name
  kRefetch,
  kPreemptor,
  kNominate,
  kVictim,
  kClearNomination,  // no pod waits for the reply
  kVolume,           // writing a volume or a claim
  kVerify,
  kStatusPatch,      // no pod waits for the reply; Request::what is the pod's uid
  kVictimCondition,  // writing the condition that says why a victim is evicted
  kNode,             // whether a node exists that a bind did not find; Request::what is its name
};

struct Request {
  RequestKind kind;
  PendingPod* pod;  // the pod that waits for the reply, or null
  std::string what;
};

class PendingTable {
 public:
  // Counts gated pods by profile in `metrics`, which outlives the table.
  explicit PendingTable(SchedulerMetrics* metrics) : metrics_(metrics), by_reason_(FailureReasonCount()) {}
  PendingTable(const PendingTable&) = delete;

  // Return the pod with this uid, or null.
  PendingPod* Find(const std::string& uid) const;
  PendingPod* Find(const api::Pod& pod) const { return Find(pod.meta.uid); }
  // Adds a pod. REQUIRES: no pod with its uid is pending.
  PendingPod& Add(const api::PodPtr& pod, PendingPlace place, absl::Duration now);
  // Removes a pod together with its request and its timer. `p` is invalid afterwards.
  void Remove(PendingPod& p);

  // Moves a pod from one place to another.
  void SetPlace(PendingPod& p, PendingPlace place);
  // Sets the reasons of the last failure, the one that decides first.
  void SetReasons(PendingPod& p, const std::vector<FailureReasonId>& reasons);

  // Returns the id for a new request. If `p` is not null, the pod waits for the reply, and the reply to an earlier
  // request of the pod will be ignored.
  RequestId Ask(RequestKind kind, PendingPod* p, std::string what = {});
  void CancelRequest(PendingPod& p);
  // Returns whether the pod waits for the reply to a request of this kind.
  bool WaitsFor(const PendingPod& p, RequestKind kind) const;
  // Returns the request with this id and closes it, or nothing if it was cancelled.
  std::optional<Request> TakeRequest(RequestId id);

  // Sets the pod's timer. A pod has at most one.
  void Wait(PendingPod& p, absl::Duration until);
  void StopWaiting(PendingPod& p);
  // Returns when the first timer ends; InfiniteDuration when there is none.
  absl::Duration FirstTimer() const;
  // Returns the pod whose timer has ended first, and stops that timer; null when none has ended.
  PendingPod* TakeEnded(absl::Duration now);

  // Returns the pods that use the claim with this "namespace/name".
  std::vector<PendingPod*> UsersOf(const std::string& claim) const;
  // Returns the kUnsupported pods that use claims.
  std::vector<PendingPod*> UnsupportedWithClaims() const;

  // A new pod is appended to this list; when a pod leaves, the last one takes its position.
  const std::vector<PendingPod*>& list() const { return list_; }
  const std::array<size_t, kPendingPlaces>& by_place() const { return by_place_; }
  // Returns the number of pods for each FailureReasonId, by the reason that decides.
  const std::vector<int64_t>& by_reason() const { return by_reason_; }
  size_t open_requests() const { return requests_.size(); }
  size_t timers() const { return timers_.size(); }

  // Returns what is inconsistent in the table, or an empty text; for tests.
  std::string CheckInvariants() const;

 private:
  void CountGated(const PendingPod& p, int by);

  SchedulerMetrics* metrics_;
  absl::flat_hash_map<std::string, std::unique_ptr<PendingPod>> by_uid_;
  std::vector<PendingPod*> list_;  // the values of by_uid_; each stores its position
  std::array<size_t, kPendingPlaces> by_place_{};
  absl::flat_hash_map<std::string, absl::flat_hash_set<PendingPod*>> by_claim_;  // by "namespace/name" of the claim
  absl::flat_hash_set<PendingPod*> unsupported_with_claims_;
  std::vector<int64_t> by_reason_;
  absl::flat_hash_map<RequestId, Request> requests_;
  RequestId last_request_ = 0;
  absl::btree_map<std::pair<absl::Duration, uint64_t>, PendingPod*> timers_;
  uint64_t last_timer_ = 0;
};

}  // namespace berth::scheduler
