// Carries out the scheduler's actions through the API server.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cmd/kube-scheduler/inbox.h"
#include "pkg/client/events.h"
#include "pkg/client/requests.h"
#include "pkg/scheduler/scheduler_actions.h"

namespace berth::kube_scheduler {

// The methods are called by whoever holds the round. Requests are collected and handed to the I/O thread by Flush().
// Replies come back through the inbox.
class ApiActions final : public scheduler::Actions {
 public:
  // `recorders` has one recorder for each scheduler name with a profile. The one under "" is for pods with any other
  // scheduler name. All arguments must outlive the object.
  ApiActions(client::Executor* executor, client::Requests* requests,
             std::map<std::string, client::EventRecorder*, std::less<>> recorders, Inbox* inbox,
             const api::Dialect& dialect);
  ~ApiActions() override;

  // Sends the requests since the last call.
  void Flush();

  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) override;
  void UpdatePodCondition(scheduler::RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override;
  void SetNominatedNode(scheduler::RequestId id, const api::PodPtr& pod, util::Symbol node) override;
  void PatchPodStatus(scheduler::RequestId id, const api::PodPtr& pod,
                      const std::optional<api::PodCondition>& scheduled,
                      std::optional<util::Symbol> nominated_node) override;
  void MarkVictim(scheduler::RequestId id, const api::PodPtr& victim,
                  const api::PodCondition& disruption_target) override;
  void DeletePod(scheduler::RequestId id, const api::PodPtr& pod) override;
  void GetPod(scheduler::RequestId id, const api::Pod& pod) override;
  void GetNode(scheduler::RequestId id, util::Symbol name) override;
  void UpdateVolume(scheduler::RequestId id, const scheduler::VolumeBinder::Binding& binding) override;
  void UpdateClaim(scheduler::RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) override;
  void RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                   std::string message) override;
  void RecordRelatedEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                          std::string message, const api::PodPtr& related) override;

 private:
  struct ExtenderBinds;  // the thread that binds through extenders
  // Returns the generation that a condition of the pod names; 0: none.
  int64_t GenerationOf(const api::Pod& pod) const;
  void Send(std::function<void()> f) { batch_.push_back(std::move(f)); }
  void WithJson(scheduler::RequestId id, const api::PodPtr& pod, std::function<void(const api::Pod&)> f);
  void PutStatus(scheduler::RequestId id, const api::PodPtr& pod, client::PodStatusChange change);
  void PatchStatus(scheduler::RequestId id, const api::PodPtr& pod, std::string body);
  void TryPatch(scheduler::RequestId id, const api::PodPtr& pod, const std::string& body, int tries);
  void Answered(scheduler::RequestId id, const client::ApiError& e, api::PodPtr pod = nullptr);

  client::Executor* executor_;
  client::Requests* requests_;
  std::map<std::string, client::EventRecorder*, std::less<>> recorders_;
  Inbox* inbox_;
  const api::Dialect& dialect_;
  std::vector<std::function<void()>> batch_;
  std::unique_ptr<ExtenderBinds> extender_binds_;
};

}  // namespace berth::kube_scheduler
