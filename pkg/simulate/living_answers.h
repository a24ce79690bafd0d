// What the API server of a simulated cluster with controllers answers to the scheduler: what the scheduler writes goes
// into the store, where controllers and kubelets see it.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "pkg/scheduler/scheduler.h"
#include "pkg/simulate/attempts.h"
#include "pkg/simulate/living_pods.h"
#include "pkg/simulate/store_watch.h"
#include "pkg/world/living/cluster.h"

namespace berth::simulate {

class LivingAnswers final : public scheduler::Actions, public scheduler::DecisionObserver {
 public:
  // All arguments must outlive the object.
  LivingAnswers(const Options& options, Timeline* timeline, Session* session, Measures* measures, LivingPods* pods)
      : options_(options), timeline_(timeline), session_(session), measures_(measures), pods_(pods) {}
  // To be called once before anything else. `nomination_annotation`: where the release keeps nominations; empty: in the
  // status.
  void Use(world::living::Cluster* cluster, StoreWatch* watch, std::string_view nomination_annotation);

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
  using Change = std::function<void(world::Value*)>;
  void DoBind(scheduler::RequestId id, const api::Pod& wanted);
  // Changes a pod after the delay of requests.
  void ChangePod(scheduler::RequestId id, const api::Pod& pod, Change change);
  // The same for another object.
  void ChangeOther(scheduler::RequestId id, std::string_view kind, const api::ObjectMeta& meta, Change change);
  void Nominate(std::string_view node, world::Value* pod) const;

  const Options& options_;
  Timeline* const timeline_;
  Session* const session_;
  Measures* const measures_;
  LivingPods* const pods_;
  world::living::Cluster* cluster_ = nullptr;
  StoreWatch* watch_ = nullptr;
  std::string nomination_annotation_;
  Reasons reasons_;
};

}  // namespace berth::simulate
