// The requests that the scheduler makes of the outside world, and their replies.
//
// The core (scheduler.h) never waits: it makes a request through Actions and goes on; the reply comes back through
// Scheduler::Apply(Reply). The daemon turns these into HTTP requests, tests into a simulated API server.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/extender/extender.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler {

// Names a request until its reply. 0 is never used.
using RequestId = uint64_t;

// How a request ended.
struct Answer {
  enum class Kind : uint8_t {
    kOk,
    kNotFound,     // 404
    kConflict,     // 409
    kRefused,      // any other answer that says for certain that nothing was done
    kServerError,  // 5xx: answered, yet it may have been carried out
    kLost,         // no answer: it may have been carried out, or may still be
  };
  Kind kind = Kind::kOk;
  std::string message;       // as the API server, or the transport, words it
  std::string details_kind;  // Status.details.kind
  bool ok() const { return kind == Kind::kOk; }
};

struct Reply {
  RequestId id = 0;
  Answer answer;
  api::PodPtr pod;  // of a successful GetPod; of a status write the object as stored, or null
};

enum class EventType : uint8_t { kNormal, kWarning };

class Actions {
 public:
  virtual ~Actions() = default;

  // POST the binding of `pod` (the assumed copy: node_name is the target), or hand it to `binder` when not null, on a
  // thread other than the scheduler's.
  virtual void Bind(RequestId id, const api::PodPtr& pod, Extender* binder) = 0;
  // PUT the status with this PodScheduled condition in it; `pod` is the newest object we know.
  virtual void UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& condition) = 0;
  // PUT the status with nominatedNodeName = node (empty: cleared).
  virtual void SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) = 0;
  // PATCH the status: the PodScheduled condition, unless absent; nominatedNodeName, unless absent (empty: cleared).
  // `pod` is the newest object we know, against which the difference is taken (1.29).
  virtual void PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& scheduled,
                              std::optional<util::Symbol> nominated_node) {
    if (scheduled) return UpdatePodCondition(id, pod, *scheduled);
    SetNominatedNode(id, pod, nominated_node.value_or(util::Symbol()));
  }
  // PATCH the status of a pod that is about to be deleted: its DisruptionTarget condition (1.29). By default nothing is
  // written, and the reply only says whether the pod is still there.
  virtual void MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& /*disruption_target*/) {
    GetPod(id, *victim);
  }
  // DELETE with the pod's own grace period, this very pod (uid) only.
  virtual void DeletePod(RequestId id, const api::PodPtr& pod) = 0;
  virtual void GetPod(RequestId id, const api::Pod& pod) = 0;
  // The reply's answer alone says whether it is there.
  virtual void GetNode(RequestId id, util::Symbol name) = 0;
  // PUT the persistent volume with its claimRef.
  virtual void UpdateVolume(RequestId id, const VolumeBinder::Binding& binding) = 0;
  // PUT the claim with its selected node, so that a volume is made there. Only a scheduler with a
  // ClaimBinder (1.29) requests it.
  virtual void UpdateClaim(RequestId /*id*/, const std::shared_ptr<const api::PersistentVolumeClaim>& /*claim*/) {}
  // An event on `pod` that another pod caused.
  virtual void RecordRelatedEvent(const api::PodPtr& pod, EventType type, std::string_view reason, std::string message,
                                  const api::PodPtr& /*related*/) {
    RecordEvent(pod, type, reason, std::move(message));
  }
  // Fire and forget. The event's source is the pod's scheduler.
  virtual void RecordEvent(const api::PodPtr& pod, EventType type, std::string_view reason, std::string message) = 0;
};

// Sees each decision as it is made, on the scheduler's thread, before the requests that follow from it. For recordings
// and for the page; it must not call the scheduler.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  // `round_robin` is the counter that chooses among equal nodes, after the decision.
  virtual void Decided(const api::PodPtr& pod, const Decision& decision, uint64_t round_robin) = 0;
  // Whom to evict so that `pod` fits; also when nothing was found.
  virtual void PreemptionChosen(const api::PodPtr& pod, const Preemption& preemption) = 0;
};

}  // namespace berth::scheduler
