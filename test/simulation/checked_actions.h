// What a simulated scheduler asks for, on its way to the API: everything is passed on, and each decision is held
// against what this very process has been shown and has done.
#pragma once
#include <absl/time/time.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cmd/kube-scheduler/api_actions.h"
#include "pkg/scheduler/scheduler.h"
#include "test/simulation/objects.h"

namespace berth::simulation {

class World;

class CheckedActions final : public scheduler::Actions, public scheduler::DecisionObserver {
 public:
  // All outlive it.
  CheckedActions(World* world, std::string process, kube_scheduler::ApiActions* inner)
      : world_(world), process_(std::move(process)), inner_(inner) {}

  // What the scheduler is about to be shown.
  template <typename T>
  void Shows(const scheduler::Change<T>& c) {
    if constexpr (std::is_same_v<T, api::Pod>) {
      NotePort(c);
      Note(c, &pods_);
    }
    if constexpr (std::is_same_v<T, api::Node>) Note(c, &nodes_);
    if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) Note(c, &budgets_);
  }

  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) override;
  void UpdatePodCondition(scheduler::RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override;
  void SetNominatedNode(scheduler::RequestId id, const api::PodPtr& pod, util::Symbol node) override;
  void PatchPodStatus(scheduler::RequestId id, const api::PodPtr& pod,
                      const std::optional<api::PodCondition>& scheduled,
                      std::optional<util::Symbol> nominated_node) override;
  void MarkVictim(scheduler::RequestId id, const api::PodPtr& victim, const api::PodCondition& c) override;
  void DeletePod(scheduler::RequestId id, const api::PodPtr& pod) override;
  void GetPod(scheduler::RequestId id, const api::Pod& pod) override;
  void GetNode(scheduler::RequestId id, util::Symbol name) override;
  void UpdateVolume(scheduler::RequestId id, const scheduler::VolumeBinder::Binding& b) override;
  void UpdateClaim(scheduler::RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) override;
  void RecordRelatedEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                          std::string message, const api::PodPtr& related) override;
  void RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                   std::string message) override;

  void Decided(const api::PodPtr&, const scheduler::Decision& decision, uint64_t) override;
  void PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) override;

  // Before the scheduler hears of it. Returns the pod when it was bound by this. What the pod informer shows of a pod
  // we bound is no longer ours to remember.
  api::PodPtr Answered(const scheduler::Reply& r);
  // How many pods the scheduler has been shown that are still there.
  size_t known_pods() const { return pods_.size(); }
  // After the scheduler has heard that its bind was carried out: users learn of it by the event.
  void CheckTold(const api::Pod& pod);

 private:
  template <typename T>
  static void Note(const scheduler::Change<T>& c, std::map<std::string, std::shared_ptr<const T>>* known) {
    if (c.before != nullptr) known->erase(c.before->meta.Key());
    if (c.after != nullptr) (*known)[c.after->meta.Key()] = c.after;
  }
  // Notes the port of a pod that leaves its node in freed_ports_ if another pod there has it too.
  void NotePort(const scheduler::Change<api::Pod>& c);
  void Fail(std::string what) const;
  void CheckBind(const api::Pod& pod);
  // Whether the pod is bound some time after it was decided: release 1.29 waits for its claims.
  bool WaitsForClaims(const api::Pod& pod) const;
  void CheckNode(const api::Pod& pod, const std::vector<PodView>& pods) const;
  void CheckVictim(const api::Pod& victim) const;
  // Fails if a victim's budget allows no disruption although evictions from some node would suffice without violating
  // any budget.
  void CheckBudgets(const api::Pod& pod, const std::vector<PodView>& victims, const std::string& what);
  // The pods that are somewhere, as far as this process can know, but for one.
  std::vector<PodView> Placed(const std::string& without_uid);
  // Returns the pods that the server did not bind although this process sent a bind of them, because the bind was lost.
  // The scheduler counts such a pod until it has found out, so whether it does may be either way. Leaves out the pod
  // with the given uid, and unless `app` is empty, the pods of other apps.
  std::vector<PodView> Unsure(const std::string& without_uid, const std::string& app) const;
  std::vector<NodeView> Nodes() const;

  World* world_;
  const std::string process_;
  kube_scheduler::ApiActions* inner_;
  // What the scheduler has been shown, by key. The informers may know more already.
  std::map<std::string, api::PodPtr> pods_;
  std::map<std::string, api::NodePtr> nodes_;
  std::map<std::string, std::shared_ptr<const api::PodDisruptionBudget>> budgets_;
  std::map<std::string, std::pair<scheduler::RequestId, api::PodPtr>> open_;  // binds without an answer, by uid
  std::map<std::string, api::PodPtr> bound_;                                  // binds that succeeded
  std::map<std::string, api::PodPtr> reserved_;  // pods that were decided and wait for their claims, with their nodes
  std::map<std::string, api::PodPtr> sent_;      // the last bind of each pod that is not shown with a node yet
  std::map<scheduler::RequestId, std::string> read_;  // pods that are being read: their uids
  // Binds whose answer was lost, and when: the server may carry them out for another kLatest.
  std::map<std::string, std::pair<util::Symbol, absl::Duration>> lost_;
  std::set<std::string> over_;  // uids of pods that were read and are gone or have ended
  // Nodes and host ports that two pods had until one of them went. Kubernetes counts no users of a port, so it is free.
  std::set<std::pair<std::string, int64_t>> freed_ports_;
  std::set<std::string> said_scheduled_;                    // uids
  std::set<std::string> victims_;                           // uids: chosen to be evicted
  std::set<std::pair<std::string, std::string>> nominees_;  // uids, and nodes for which this process chose victims
  // The nodes as they were when a pod was last found to fit nowhere, by its uid. Release 1.10 asks for the pod before
  // it preempts, and then goes by what stopped the pod on each node when it was decided.
  std::map<std::string, std::map<std::string, api::NodePtr>> found_on_;
};

}  // namespace berth::simulation
