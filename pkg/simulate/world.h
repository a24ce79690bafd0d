// The cluster around a simulated scheduler: objects, the API server's answers, controllers and kubelets, reduced to
// what a scheduler notices of them. For use in this package.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/recording/core.h"
#include "pkg/recording/recorder.h"
#include "pkg/recording/tap.h"
#include "pkg/simulate/simulate.h"
#include "pkg/simulate/virtual_clock.h"
#include "pkg/world/rules.h"

namespace berth::simulate {

class World final : public scheduler::Actions, public scheduler::DecisionObserver {
 public:
  World(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options);
  ~World() override;

  // Builds the scheduler and shows it the cluster.
  absl::Status Start();
  void Run();
  absl::StatusOr<Outcome> Finish();

  // ---- the scheduler's requests ----
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
  // Prepares which of several best nodes the next decision takes.
  void BreakNextTie();
  // Identifies a pod of pods_: a slot is used again after the pod is gone.
  struct Handle {
    uint32_t slot = 0, generation = 0;
  };
  struct NodeState;
  struct PodState {
    api::PodPtr object;  // as the API server has it; null for a slot that is free
    uint32_t slot = 0, generation = 0;
    NodeState* node = nullptr;  // where it is bound
    size_t position = 0;        // in NodeState::pods
    Micros arrived = 0;
    Micros duration = kNever;
    Micros evicted_at = kNever;  // of the pod in whose place this one came
    int64_t tried_at = -1;       // the value of changes_ at its last attempt
    Micros last_attempt = -1;
    bool spins = false;  // it was tried twice at one time, and nothing changed in between
    uint8_t spun = 0;    // how often since it was last only too large
    uint32_t attempts = 0;
    uint8_t brief = 0;         // how many before it in its place, one after the other, came and went at one time
    bool ready = false;        // it has started
    bool again = false;        // a controller creates it again when it is evicted
    bool from_start = false;   // it was there at the beginning
    bool was_placed = false;   // it, or one in whose place it came
    bool leaving = false;      // it is being deleted
    bool comes_again = false;  // another one comes when it is gone
    std::string why;           // it was not placed at its last attempt
  };
  struct NodeState {
    api::NodePtr plain, shown;  // as it is without a state, and as shown; shown is null while it is not there
    bool cordoned = false, failed = false;
    std::vector<uint32_t> pods;  // slots
    uint64_t failures = 0;       // how often it has failed
    // The drain that is under way.
    bool draining = false;
    Micros back_after = kNever;
    size_t drain = 0;  // in Outcome::drains
    int64_t retried_at = -1;
    absl::flat_hash_set<uint32_t> refused;  // slots of pods whose eviction a budget has refused
    std::vector<std::string> next;          // kRoll: the nodes after this one
  };
  struct Budget {
    std::shared_ptr<const api::PodDisruptionBudget> object;
    world::ValuePtr value;
    absl::flat_hash_set<uint32_t> pods;  // slots
    bool stale = true;
  };
  struct Event {
    Micros at;
    uint64_t number;
    Handle pod;     // which ends; without `call`
    uint32_t call;  // index + 1 in calls_; 0: the end of a pod
    bool operator>(const Event& o) const { return at != o.at ? at > o.at : number > o.number; }
  };

  // world.cc: time, and what the scheduler is shown.
  void ShowCluster();
  void Deliver();
  bool NothingWillHappen() const;
  Micros NextTime();
  void AdvanceTo(Micros now);
  void After(Micros delay, std::function<void()> what);
  template <typename T>
  void Show(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after);
  void Reply(const scheduler::Reply& reply);
  void Changed() { ++changes_, tried_ = 0; }
  void Throttle() const;
  void NoteNeverPlaced();
  bool Cut() const { return options_.cut != nullptr && options_.cut->load(std::memory_order_relaxed); }

  // world_pods.cc: pods that arrive, start, end and are evicted.
  void Arrive(const Arrival& a);
  PodState& Add(api::PodPtr object);
  void Place(PodState* p, NodeState* node);
  void Unplace(PodState* p);
  void Gone(PodState* p);
  void Started(PodState* p);
  // Deletes a pod as an eviction does: it leaves at once or after the delay, and comes again if it is one that does.
  void Evict(PodState* p);
  void Leave(PodState* p, bool comes_again);
  void Replace(const PodState& gone);
  void ComeAgain(const PodState& gone, uint8_t brief, Micros evicted_at);
  PodState* Find(const std::string& uid);
  PodState* Find(Handle h);
  Handle HandleOf(const PodState& p) const;
  std::string FreeName(const std::string& ns, std::string name);
  void Use(const api::PodTemplate& t, double by);
  const std::vector<int64_t>& RequestOf(const api::PodTemplate& t);
  void BindClaim(const api::PersistentVolumeClaim& claim, const std::string& volume);
  std::string WhyNotTried(const api::Pod& pod) const;
  void ChangeStatus(scheduler::RequestId id, const std::string& uid, std::function<void(api::Pod*)> change);
  void NotePlacement(PodState* p, std::string_view node);
  void NoteBudgets(const PodState& p, bool there);

  // world_nodes.cc: steps.
  void Do(const Step& step);
  void Join(const api::NodePtr& node);
  // Notes a step that finds nothing to do, so that people learn of it.
  void NoteIdleStep(std::string_view event, const std::string& node, std::string_view why);
  void StartDaemons(const api::Node& node);
  void LeaveNode(NodeState* node);
  void Fail(NodeState* node, Micros back_after);
  void EvictAfterFailure(NodeState* node);
  void StartDrain(NodeState* node, Micros back_after, std::vector<std::string> next);
  void Roll(Micros back_after, std::vector<std::string> nodes);
  void RetryDrain(NodeState* node);
  void ContinueDrain(NodeState* node);
  void EndDrain(NodeState* node);
  bool StaysAtDrain(const PodState& p) const;
  void ShowNode(NodeState* node);
  void CountOffered();
  NodeState* FindNode(std::string_view name);
  void ScaleTo(const std::string& workload, int64_t replicas);
  std::string WorkloadOf(const api::Pod& pod) const;
  bool BudgetsAllow(const PodState& p);
  void RefreshBudget(Budget* budget);
  void ShowBudgets();

  const Case what_;
  const Options options_;
  VirtualClock clock_;
  std::unique_ptr<recording::Recorder> recorder_;
  std::unique_ptr<recording::Tap> tap_;  // null without a recording
  std::unique_ptr<recording::Core> core_;
  scheduler::Scheduler* scheduler_ = nullptr;
  Outcome out_;

  std::unique_ptr<ArrivalSource> arrivals_;
  lab::TieBreaker ties_;
  Arrival next_arrival_;
  bool more_arrivals_ = false;
  size_t next_step_ = 0;

  std::deque<PodState> pods_;
  std::vector<uint32_t> free_slots_;
  absl::flat_hash_map<std::string, uint32_t> by_uid_;
  absl::flat_hash_set<std::string> names_;  // "namespace/name" of all pods
  std::map<std::string, NodeState, std::less<>> nodes_;
  size_t unplaced_ = 0;  // pods without a node
  std::vector<Budget> budgets_;
  world::Rules rules_;
  std::map<std::string, int64_t> replicas_;  // of workloads that were scaled, by WorkloadOf
  int64_t scaled_ = 0;                       // pods created since
  absl::flat_hash_map<std::string, std::shared_ptr<const api::PersistentVolumeClaim>> claims_;
  absl::flat_hash_map<std::string, std::shared_ptr<const api::PersistentVolume>> volumes_;

  std::deque<std::function<void()>> soon_;  // at the present time, in this order
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::function<void()>> calls_;
  std::vector<uint32_t> free_calls_;
  uint64_t last_event_ = 0, last_uid_ = 0, last_version_ = 1'000'000'000;
  size_t retries_ = 0;   // events that only try again to evict, or to place
  int64_t changes_ = 0;  // of the cluster: pods bound or gone, nodes
  int64_t tried_ = 0;    // pending pods that were tried since the last change
  size_t drains_ = 0;    // under way
  std::vector<double> used_, offered_;
  bool offered_stale_ = true;               // nodes have changed since offered_ was counted
  std::vector<const NodeState*> measured_;  // by number of the workload's node; null: it was never there
  size_t measured_of_ = 0;                  // nodes_.size() when measured_ was made
  using KeptRequest = std::pair<std::shared_ptr<const api::PodTemplate>, std::vector<int64_t>>;
  absl::flat_hash_map<const api::PodTemplate*, KeptRequest> requests_;  // with the template itself
  std::shared_ptr<const api::PodTemplate> last_template_;               // of the pod that is placed or goes
  int64_t decided_ = 0;
  util::Symbol last_namespace_;
  Waits* last_waits_ = nullptr;  // of last_namespace_
};

}  // namespace berth::simulate
