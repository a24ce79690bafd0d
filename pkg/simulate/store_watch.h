// What a scheduler is told of the objects of a store, as its informers would tell it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/simulate/session.h"
#include "pkg/store/registry.h"

namespace berth::simulate {

class StoreWatch {
 public:
  // Gets a pod as it is now.
  using PodSeen = std::function<void(const std::string& uid, const api::PodPtr& now)>;
  // Is told that a pod is gone, or has ended; `succeeded`: in the phase Succeeded, which may be told of one pod again.
  using PodOver = std::function<void(const std::string& uid, bool succeeded)>;
  // Gets a node as it was and is; null: it was not there, or is gone.
  using NodeSeen = std::function<void(const api::NodePtr& before, const api::NodePtr& now)>;

  // Is told that a PodDisruptionBudget has changed.
  using BudgetSeen = std::function<void()>;

  // All arguments must outlive the object. Pods are not shown to the session but passed on. `nomination_annotation`:
  // api::WithNominationFrom; empty: the status says it.
  StoreWatch(apiserver::Registry* registry, Session* session, std::string_view nomination_annotation, PodSeen pod_seen,
             PodOver pod_over, NodeSeen node_seen, BudgetSeen budget_seen);
  ~StoreWatch();

  // Shows what is there, kind by kind, pods last. Objects are in the order in which they were stored.
  void ShowAll();
  // Shows what has changed since the last call, in its order. Returns whether anything has. May be called while changes
  // are shown, and does nothing then.
  bool Flush();
  // Returns a pod as it is stored, or null.
  api::PodPtr Pod(std::string_view ns, std::string_view name);

 private:
  class Followed;
  template <typename T>
  class FollowedKind;
  class FollowedPods;
  struct Pending {
    Followed* kind;
    apiserver::EventPtr event;
  };

  apiserver::Registry* const registry_;
  Session* const session_;
  const std::string nomination_annotation_;
  const PodSeen pod_seen_;
  const PodOver pod_over_;
  const NodeSeen node_seen_;
  const BudgetSeen budget_seen_;
  api::PodTemplateMemory templates_;
  std::vector<std::unique_ptr<Followed>> kinds_;
  std::vector<Pending> pending_;
  bool flushing_ = false;
};

}  // namespace berth::simulate
