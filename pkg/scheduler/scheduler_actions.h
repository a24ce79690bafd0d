// The requests that the scheduler makes, and the replies to them.
//
// The scheduler (scheduler.h) never waits for a request: it makes it through Actions and continues, and the reply comes
// back through Scheduler::Apply(Reply). The daemon implements Actions by HTTP requests, tests by a simulated API
// server.
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

// Identifies a request until its reply. Never 0.
using RequestId = uint64_t;

// How a request ended.
struct Answer {
  enum class Kind : uint8_t {
    kOk,
    kNotFound,     // 404
    kConflict,     // 409
    kRefused,      // any other answer after which it is certain that nothing was done
    kServerError,  // 5xx: the request was answered, but it may have been executed
    kLost,         // there was no answer: the request may have been executed, or may still be executed later
  };
  Kind kind = Kind::kOk;
  std::string message;       // the message of the API server or of the transport
  std::string details_kind;  // details.kind of the API server's Status
  bool ok() const { return kind == Kind::kOk; }
};

struct Reply {
  RequestId id = 0;
  Answer answer;
  api::PodPtr pod;  // the pod that was read; after a status write, the pod as it is stored, or null
};

enum class EventType : uint8_t { kNormal, kWarning };

class Actions {
 public:
  virtual ~Actions() = default;

  // Binds `pod`, the assumed copy, to its node_name: by a POST to the API server or, if `binder` is not null, by a call
  // of this extender on a thread other than the scheduler's.
  virtual void Bind(RequestId id, const api::PodPtr& pod, Extender* binder) = 0;
  // Writes the PodScheduled condition by a PUT of the status. `pod` is the newest object that the scheduler has.
  virtual void UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& condition) = 0;
  // Writes status.nominatedNodeName by a PUT of the status. An empty `node` clears it.
  virtual void SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) = 0;
  // Writes the PodScheduled condition and nominatedNodeName, each unless it is absent, by a PATCH of the status (1.29).
  // An empty `nominated_node` clears the field. `pod` is the newest object that the scheduler has; the patch is the
  // difference to it.
  virtual void PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& scheduled,
                              std::optional<util::Symbol> nominated_node) {
    if (scheduled) return UpdatePodCondition(id, pod, *scheduled);
    SetNominatedNode(id, pod, nominated_node.value_or(util::Symbol()));
  }
  // Writes the DisruptionTarget condition of a pod that is about to be deleted by a PATCH of the status (1.29). By
  // default nothing is written, and the reply only says whether the pod still exists.
  virtual void MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& /*disruption_target*/) {
    GetPod(id, *victim);
  }
  // Deletes the pod with its own grace period, and only if the uid is still the same.
  virtual void DeletePod(RequestId id, const api::PodPtr& pod) = 0;
  virtual void GetPod(RequestId id, const api::Pod& pod) = 0;
  // Reads a node. The reply's answer says whether it exists; the node is not returned.
  virtual void GetNode(RequestId id, util::Symbol name) = 0;
  // Writes the persistent volume with its claimRef by a PUT.
  virtual void UpdateVolume(RequestId id, const VolumeBinder::Binding& binding) = 0;
  // Writes the claim with its selected node by a PUT, so that a volume is provisioned there. Only requested with a
  // ClaimBinder (1.29).
  virtual void UpdateClaim(RequestId /*id*/, const std::shared_ptr<const api::PersistentVolumeClaim>& /*claim*/) {}
  // Records an event on `pod` that another pod has caused.
  virtual void RecordRelatedEvent(const api::PodPtr& pod, EventType type, std::string_view reason, std::string message,
                                  const api::PodPtr& /*related*/) {
    RecordEvent(pod, type, reason, std::move(message));
  }
  // Records an event. There is no reply. The event's source is the pod's spec.schedulerName.
  virtual void RecordEvent(const api::PodPtr& pod, EventType type, std::string_view reason, std::string message) = 0;
};

// Is called for each decision on the scheduler's thread, before the requests that follow from it. Used by recordings
// and by the page. It must not call the scheduler.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  // `round_robin` is the value after the decision of the counter that chooses among the best nodes.
  virtual void Decided(const api::PodPtr& pod, const Decision& decision, uint64_t round_robin) = 0;
  // Called for each attempt to preempt for `pod`, also when it found no node.
  virtual void PreemptionChosen(const api::PodPtr& pod, const Preemption& preemption) = 0;
};

}  // namespace berth::scheduler
