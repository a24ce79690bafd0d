// A simulated cluster with the controllers and kubelets of pkg/world/living over the objects of a store: the parts of
// hollow-apiserver, in simulated time.
//
// At each time the work that is due is done first, one piece after another, and what it changes is shown to the
// scheduler as it happens. Then the scheduler decides, its requests are written, and what they make due is done, until
// nothing is left to do at that time.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/simulate/agenda.h"
#include "pkg/simulate/drains.h"
#include "pkg/simulate/living_answers.h"
#include "pkg/simulate/living_input.h"
#include "pkg/simulate/living_nodes.h"
#include "pkg/simulate/living_pods.h"
#include "pkg/simulate/loop.h"
#include "pkg/simulate/simulate.h"
#include "pkg/simulate/store_watch.h"
#include "pkg/store/simulation.h"

namespace berth::simulate {

// As Simulate. REQUIRES: options.controllers.
absl::StatusOr<Outcome> SimulateLiving(const Case& what, std::unique_ptr<ArrivalSource> arrivals,
                                       const Options& options);

// Returns what is wrong with the objects of an input for the API server of the release: file, line, object and field.
absl::Status CheckLivingInput(const lab::Scenario& scenario, const std::vector<Step>& steps, release::Version release);

class LivingCluster final : private Surroundings, private Drainable {
 public:
  // `what` and `options` must outlive the object.
  LivingCluster(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options);
  ~LivingCluster();

  // Stores the input, builds the scheduler and shows it the cluster. An error names file, line and object.
  absl::Status Start();
  void Run();
  absl::StatusOr<Outcome> Finish();

 private:
  class JobWatch;

  absl::Status StoreInput();
  absl::Status Store(const lab::Given& given);
  void StartControllers();
  world::living::PodPlan PlanOf(const world::Value& pod);
  // Does what controllers and kubelets have to do now.
  void Settle();
  void Arrive(const Arrival& a);
  void OnGone(const LivingPod& gone);

  void Deliver() override;
  bool NothingWillHappen() const override;
  Micros NextTime() const override;
  void AdvanceTo(Micros next) override;

  bool HasNode(const std::string& name) override;
  void Cordon(const std::string& name, bool cordoned) override;
  std::vector<std::string> PodsToLeave(const std::string& node) override;
  Eviction Evict(const std::string& node, const std::string& uid) override;

  void Do(const Step& step);
  void DoTo(const Step& step, const std::string& node);
  void Join(const Step& step);
  void Leave(const std::string& node);
  void Fail(const std::string& node, Micros back_after);
  void SetDown(const std::string& node, bool down);
  void Scale(const Step& step);
  void Restart(const std::string& workload);
  // Changes an object that is named as "KIND NAMESPACE/NAME", if it is there.
  template <typename F>
  void ChangeWorkload(const std::string& workload, F change);
  world::living::Cluster& cluster() { return simulation_->cluster(); }

  const Case& what_;
  const Options& options_;
  std::optional<LivingInput> input_;
  world::living::KubeletOptions kubelets_;
  Agenda agenda_;
  // Each reads and writes only those above it.
  Timeline timeline_;
  Session session_;
  Measures measures_;
  LivingNodes nodes_;
  LivingPods pods_;
  apiserver::Store store_;
  apiserver::Registry registry_;
  std::unique_ptr<JobWatch> jobs_;
  std::unique_ptr<apiserver::Simulation> simulation_;
  std::unique_ptr<StoreWatch> watch_;
  Drains drains_;
  LivingAnswers answers_;
  struct Name {
    std::string ns, name, uid;
  };
  absl::Status store_error_;                             // of a workload that came later
  std::vector<Name> ended_;                              // pods without a controller that have ended
  absl::flat_hash_map<std::string, uint64_t> failures_;  // how often each node has failed
};

}  // namespace berth::simulate
