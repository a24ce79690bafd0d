#include "pkg/lab/simulation_v1_29.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <variant>

namespace berth::lab {

namespace v1_29 = scheduler::reference::v1_29;
using scheduler::Decision;
using scheduler::Symbol;

void SimulationV1_29::Add(const api::Object& object) {
  std::visit(
      [&](const auto& o) {
        using T = std::remove_cvref_t<decltype(*o)>;
        if constexpr (std::is_same_v<T, api::Node>) world_.AddNode(o);
        if constexpr (std::is_same_v<T, api::Service>) world_.services.Set(o);
        if constexpr (std::is_same_v<T, api::ReplicationController>) world_.replication_controllers.Set(o);
        if constexpr (std::is_same_v<T, api::ReplicaSet>) world_.replica_sets.Set(o);
        if constexpr (std::is_same_v<T, api::StatefulSet>) world_.stateful_sets.Set(o);
        if constexpr (std::is_same_v<T, api::PersistentVolume>) world_.volumes.Set(o);
        if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) world_.claims.Set(o);
        if constexpr (std::is_same_v<T, api::StorageClass>) world_.storage_classes.Set(o);
        if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) world_.budgets.Set(o);
        if constexpr (std::is_same_v<T, api::Namespace>) world_.namespaces.Set(o);
        if constexpr (std::is_same_v<T, api::CsiNode>) world_.csi_nodes.Set(o);
        if constexpr (std::is_same_v<T, api::CsiDriver>) world_.csi_drivers.Set(o);
        if constexpr (std::is_same_v<T, api::CsiStorageCapacity>) world_.csi_capacities.Set(o);
        if constexpr (std::is_same_v<T, api::VolumeAttachment>) world_.attachments.Set(o);
      },
      object);
}

absl::StatusOr<std::unique_ptr<SimulationV1_29>> SimulationV1_29::Make(const Scenario& scenario,
                                                                       const Algorithm& algorithm) {
  namespace configuration = scheduler::configuration;
  std::unique_ptr<SimulationV1_29> sim(new SimulationV1_29);
  sim->preempts_ = algorithm.preempt;
  for (const api::Object& o : scenario.cluster) sim->Add(o);
  for (const api::Object& o : scenario.cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod == nullptr || (*pod)->Finished()) continue;
    sim->world_.AddPod(*pod);
    sim->pods_[(*pod)->meta.Key()] = *pod;
  }
  std::vector<configuration::ResolvedProfile> profiles;
  if (algorithm.profiles) {
    profiles = *algorithm.profiles;
  } else {
    profiles.push_back(configuration::DefaultProfile(configuration::PluginCatalogue::InTree()));
  }
  sim->scheduler_ = std::make_unique<v1_29::Scheduler>(&sim->world_, std::move(profiles));
  for (const api::PodPtr& pod : scenario.pending) {
    sim->pods_[pod->meta.Key()] = pod;
    sim->scheduler_->AddNominated(pod);
  }
  return sim;
}

namespace {

// Scores by node name, as traces have them.
void FillTrace(const v1_29::Decision& made, scheduler::DecisionTrace* trace) {
  std::vector<size_t> order(made.feasible.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return made.feasible[a] < made.feasible[b]; });
  for (size_t i : order) {
    trace->feasible.push_back(Symbol(made.feasible[i]));
    if (!made.totals.empty()) trace->totals.push_back(made.totals[i]);
  }
  for (const auto& [plugin, scores] : made.scores) {
    scheduler::DecisionTrace::Priority& p = trace->priorities.emplace_back();
    p.name = plugin;
    for (size_t i : order) p.scores.push_back(scores[i]);
  }
  trace->ties = made.ties.size();
}

}  // namespace

Decision SimulationV1_29::Place(const api::PodPtr& pod, scheduler::DecisionTrace* trace) {
  v1_29::Decision made = scheduler_->ScheduleOne(pod, preempts_);
  fields_ = {};
  fields_.not_attempted = made.not_attempted;
  fields_.ties = made.ties;
  fields_.preemption_error = made.preemption_error;
  Decision d;
  d.nodes = world_.nodes().size();
  d.feasible = made.feasible.size();
  d.host = Symbol(made.host);
  d.error = made.not_attempted.empty() ? made.error : made.not_attempted;
  d.outcome = !made.host.empty()   ? Decision::Outcome::kPlaced
              : made.unschedulable ? Decision::Outcome::kUnfit
                                   : Decision::Outcome::kError;
  auto failures = std::make_shared<scheduler::NodeFailures>();
  for (const auto& [node, status] : made.failures) {
    const bool unresolvable = status.code == v1_29::Status::Code::kUnschedulableAndUnresolvable;
    fields_.rejections[node] = status.plugin + (unresolvable ? " UnschedulableAndUnresolvable" : " Unschedulable");
    std::vector<scheduler::FailureReason> reasons;
    for (const std::string& reason : status.reasons) reasons.push_back({Symbol(reason), unresolvable});
    failures->AddNew(Symbol(node), reasons);
  }
  d.failures = failures;
  if (trace != nullptr) {
    trace->failures = failures;
    FillTrace(made, trace);
  }
  preemption_tried_ = made.preemption.has_value();
  preemption_ = {};
  if (made.preemption) {
    preemption_.node = Symbol(made.preemption->node);
    for (const std::string& victim : made.preemption->victims) {
      auto it = pods_.find(victim);
      if (it != pods_.end()) preemption_.victims.push_back(it->second);
    }
    for (const std::string& name : made.preemption->nominated_to_clear) {
      preemption_.nominated_to_clear.push_back(pods_.at(name));
    }
  }
  return d;
}

}  // namespace berth::lab
