// kube-scheduler as one simulated process: the daemon's own informers, actions, inbox and election around the
// scheduling core, on a simulated executor. What threads do in the daemon happens in turns here.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/api_actions.h"
#include "cmd/kube-scheduler/cluster_watch.h"
#include "cmd/kube-scheduler/inbox.h"
#include "pkg/client/leaderelection.h"
#include "pkg/client/lock_objects.h"
#include "pkg/recording/core.h"
#include "pkg/recording/tap.h"
#include "test/simulation/checked_actions.h"
#include "test/simulation/informer_check.h"
#include "test/simulation/network.h"

namespace berth::simulation {

class World;

class SchedulerProcess {
 public:
  SchedulerProcess(World* world, size_t number, std::string name);
  ~SchedulerProcess();
  SchedulerProcess(const SchedulerProcess&) = delete;

  const std::string& name() const { return name_; }
  bool leading() const { return election_.leader(); }
  ProcessExecutor& executor() { return executor_; }
  // SIGTERM: stops deciding, waits for binds in flight, releases the lease, ends.
  void Terminate();

  // ---- for the checks ----
  const scheduler::Scheduler& scheduler() const { return *core_->scheduler; }
  const scheduler::Cache& cache() const { return core_->cache; }
  const kube_scheduler::Inbox& inbox() const { return inbox_; }
  const kube_scheduler::ClusterWatch& watch() const { return watch_; }
  bool synced() const { return unsynced_ == 0; }

 private:
  void BuildScheduler();
  void Turn();
  void ScheduleTurn(absl::Duration delay);
  void Handle(kube_scheduler::InboxItem& item);
  // Whether a pod without a node waits out its back-off as one that is unlike `object` in more than its status, or like
  // it; false for other kinds.
  template <typename T>
  bool IsInBackoff(const T& object, bool unlike) const;
  void Act(client::LeaderElection::Action a);
  absl::Duration Now() const { return executor_.clock().Steady(); }
  bool MayWrite() const;
  void End(absl::Duration restart_in);
  void CheckBounds() const;
  // Where what passes through the tap goes: to a recording, or nowhere.
  std::unique_ptr<recording::EventSink> Sink() const;

  World* world_;
  const size_t number_;
  const std::string name_;
  Random random_;
  ProcessExecutor executor_;
  SimulatedHttp pods_http_, lease_http_, events_http_;
  client::Requests requests_;
  client::EventRecorder recorder_;
  kube_scheduler::Inbox inbox_;
  kube_scheduler::ClusterWatch watch_;
  kube_scheduler::ApiActions actions_;
  CheckedActions checked_;
  InformerCheck informer_check_;
  const recording::CoreConfiguration configuration_;
  std::unique_ptr<recording::EventSink> sink_;
  std::unique_ptr<recording::Tap> tap_;  // between the scheduler and the rest
  std::unique_ptr<recording::Core> core_;
  const client::LeaderElectionOptions election_options_;
  client::LockObjects lock_;
  client::LeaderElection election_;
  client::Executor::TimerId election_timer_ = 0, turn_timer_ = 0;
  absl::Duration turn_at_ = absl::InfiniteDuration();
  int unsynced_ = 0;
  uint64_t turns_ = 0;
  bool was_turn_ = false, stopping_ = false, releasing_ = false, ended_ = false;
};

}  // namespace berth::simulation
