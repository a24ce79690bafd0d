// What the API server of a simulated cluster answers to the scheduler, and what is noted of its decisions.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/scheduler/scheduler.h"
#include "pkg/simulate/attempts.h"
#include "pkg/simulate/nodes.h"
#include "pkg/simulate/volumes.h"

namespace berth::simulate {

// The reply that says that a pod or a node is not there.
scheduler::Reply NotFound(scheduler::RequestId id, std::string_view kind, std::string_view name);
// The reply that says that a request was done; with the pod as it is now, or null.
scheduler::Reply DoneReply(scheduler::RequestId id, api::PodPtr pod = nullptr);
// The reply that says why an extender did not bind a pod.
scheduler::Reply NotBound(scheduler::RequestId id, const absl::Status& why);

class Answers final : public scheduler::Actions, public scheduler::DecisionObserver {
 public:
  // All arguments must outlive the object.
  Answers(const Options& options, Timeline* timeline, Session* session, Measures* measures, Pods* pods, Nodes* nodes,
          Volumes* volumes);

  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) override;
  void UpdatePodCondition(scheduler::RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override;
  void SetNominatedNode(scheduler::RequestId id, const api::PodPtr& pod, util::Symbol node) override;
  void PatchPodStatus(scheduler::RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& c,
                      std::optional<util::Symbol> node) override;
  void MarkVictim(scheduler::RequestId id, const api::PodPtr& victim, const api::PodCondition& target) override;
  void DeletePod(scheduler::RequestId id, const api::PodPtr& pod) override;
  void GetPod(scheduler::RequestId id, const api::Pod& pod) override;
  void GetNode(scheduler::RequestId id, util::Symbol name) override;
  void UpdateVolume(scheduler::RequestId id, const scheduler::VolumeBinder::Binding& binding) override;
  void UpdateClaim(scheduler::RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) override;
  void RecordEvent(const api::PodPtr&, scheduler::EventType, std::string_view, std::string) override {}

  void Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t round_robin) override;
  void PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) override;

 private:
  void DoBind(scheduler::RequestId id, const api::PodPtr& wanted);
  // Changes a pod after the delay of requests, and shows it.
  void ChangeStatus(scheduler::RequestId id, const std::string& uid, std::function<void(api::Pod*)> change);

  const Options& options_;
  Timeline* const timeline_;
  Session* const session_;
  Measures* const measures_;
  Pods* const pods_;
  Nodes* const nodes_;
  Volumes* const volumes_;
  Reasons reasons_;
};

}  // namespace berth::simulate
