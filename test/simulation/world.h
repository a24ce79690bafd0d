// A whole cluster in virtual time: etcd and API servers, schedulers that contend for a lease, kubelets, a controller of
// ReplicaSets, users. Everything that happens follows from a plan (plan.h), whose seed also drives the network; there
// is no thread, no socket, no clock but the event loop's. See README.md.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "test/simulation/api_server.h"
#include "test/simulation/emulated.h"
#include "test/simulation/event_loop.h"
#include "test/simulation/network.h"
#include "test/simulation/objects.h"
#include "test/simulation/random.h"

namespace berth::simulation {

class LivingActors;
class SchedulerProcess;

struct WorldOptions {
  uint64_t seed = 1;
  std::string release{release::Default().name};  // that the schedulers emulate
  bool pod_priority = false;
  bool claims = false;  // whether there are pods with claims (storage.h)
  bool living = false;  // whether controllers and kubelets are those of pkg/world/living (living.h)
  size_t schedulers = 2, servers = 2;
  std::string record_dir;  // where the schedulers are recorded, each in a folder of its name; empty: nowhere
};

class World {
 public:
  explicit World(WorldOptions options);
  ~World();
  World(const World&) = delete;

  // Runs until the time, or until something is wrong.
  void RunUntil(absl::Duration end);
  // Ends all faults, lets things come to rest, and compares everything with everything.
  void Settle();

  // What is wrong; empty while all is well. The first one counts, as what follows may follow from it.
  const std::string& problem() const { return problem_; }
  void Fail(std::string what);

  // ---- for actors ----
  const WorldOptions options;
  const Emulated emulated;  // what the release is
  EventLoop loop;
  Random network_random;
  Faults faults;
  Etcd etcd;
  std::vector<std::unique_ptr<ApiServer>> servers;

  void CreatePod(const PodSpec& spec);
  void CreateNode(const NodeSpec& spec);
  // As kubectl delete: a pod on a node ends gracefully, by its kubelet.
  void DeletePod(const std::string& key);
  void DeleteNode(const std::string& name);
  // Replaces an object by what `edit` makes of its JSON tree. Does nothing when there is none.
  void Edit(const std::string& resource, const std::string& key, const std::function<void(Tree*)>& edit);
  std::vector<std::string> Keys(const std::string& resource);
  std::string RandomKey(const std::string& resource, Random* r);

  // ReplicaSets: the controller keeps `replicas` pods of `spec`, whose name it makes.
  struct ReplicaSet {
    PodSpec spec;
    int replicas = 0;
  };
  std::map<std::string, ReplicaSet> replica_sets;

  // Which of the configurations in rollouts.h schedulers have that start now.
  uint64_t rollout = 0;

  // Schedulers: by number.
  void Kill(size_t scheduler, absl::Duration down);
  void Terminate(size_t scheduler);
  void Pause(size_t scheduler, absl::Duration how_long);
  void JumpClock(size_t scheduler, absl::Duration by);
  void CutOff(size_t scheduler, absl::Duration how_long);
  void StallWatches(size_t scheduler, absl::Duration how_long);
  size_t schedulers() const { return options.schedulers; }
  void StopServer(size_t server, absl::Duration down);
  // Until then watch caches are behind by up to `lag`.
  void Lag(absl::Duration lag, absl::Duration how_long);
  // These faults are in force for a while, then none.
  void SetFaults(const Faults& f, absl::Duration how_long);

  // From now on for a while a node may be overcommitted without it being a mistake: a scheduler cannot know better.
  void Excuse();

  // ---- for the network and the processes ----
  std::shared_ptr<bool> AliveToken(const std::string& process) { return alive_[process]; }
  bool IsCutOff(const std::string& process) const;
  absl::Duration StalledUntil(const std::string& process) const;
  void OnSent(const std::string& process, const client::Request& request);
  // The node to which a process's own bind of a pod was carried out, whatever it heard of that; "" if none was.
  std::string CarriedOut(const std::string& process, const std::string& uid) const;
  void OnExecuted(const std::string& process, const client::Request& request, int status);
  void OnEnded(size_t scheduler, absl::Duration restart_in);
  void CountFault() { ++faults_; }
  // Rest begins anew.
  void NoteUnrest() { last_change_ = loop.now(); }
  // The pod as the oracle sees it: what it was created with, on the node that `pod` names.
  PodView View(const api::Pod& pod) const;
  // Who holds the lock, as etcd has it; "" when nobody does.
  std::string LockHolder() const;

  uint64_t fault_count() const { return faults_; }
  uint64_t binds() const { return binds_; }
  uint64_t decisions() const { return decisions_; }
  void CountDecision() { ++decisions_; }
  // A hash of everything that was sent and stored, and when.
  uint64_t history_hash() const { return hash_; }
  // Prints what happens to stderr from now on.
  bool verbose = false;
  void Record(std::string_view what);

 private:
  void OnCommit(const Commit& c);
  void KubeletSees(const Commit& c);
  void SimpleReplicaSetTurn();
  void ControllerTurn();
  void Bookmarks();
  void StartScheduler(size_t i);
  void CheckPlacement(const PodView& pod);
  void CheckAtRest();
  void CheckProcessAtRest(const SchedulerProcess& p, const std::vector<PodView>& pods);

  std::unique_ptr<LivingActors> living_;  // null: the simple ones of world.cc
  std::map<std::string, std::shared_ptr<bool>> alive_;
  std::vector<std::unique_ptr<SchedulerProcess>> processes_;
  std::vector<std::unique_ptr<SchedulerProcess>> graveyard_;  // destroyed when none of their code is running
  std::map<std::string, absl::Duration> cut_off_, stalled_;
  absl::Duration lag_, lag_until_, excused_until_, last_change_;
  uint64_t fault_turn_ = 0;
  // The bindings that were carried out, by the process that asked for them and the pod's uid.
  struct Binding {
    std::string body, node;
  };
  std::map<std::pair<std::string, std::string>, Binding> carried_out_;
  std::map<std::string, PodView> created_;  // pods by uid, as they were created
  Random random_;                           // of the background: kubelets, controllers, lags
  uint64_t faults_ = 0, binds_ = 0, decisions_ = 0, hash_ = 14695981039346656037ull, pods_made_ = 0;
  std::string problem_;
  bool settling_ = false;
};

}  // namespace berth::simulation
