#include "pkg/lab/simulation_v1_29.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <variant>

#include "pkg/scheduler/algorithmprovider/v1_29.h"

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
                                                                       const Algorithm& algorithm,
                                                                       scheduler::Cache* cache) {
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
  sim->cache_ = cache;
  for (const configuration::ResolvedProfile& p : profiles) {
    std::optional<scheduler::AlgorithmConfig> config = scheduler::algorithmprovider::AlgorithmOf(p, cache);
    if (!config) continue;
    auto profile = std::make_unique<Profile>();
    profile->config = std::move(*config);
    profile->scheduler = std::make_unique<scheduler::IncrementalScheduler>(cache, &profile->config);
    sim->incremental_.emplace(p.scheduler_name, std::move(profile));
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

// Nothing when only the reference scheduler can decide, or say why the pod is not placed.
std::optional<Decision> SimulationV1_29::PlaceIncrementally(const api::PodPtr& pod) {
  const api::PodTemplate& t = *pod->tmpl;
  // Resource names that 1.10 does not count are left to the reference.
  auto known = [](const api::Container& c) {
    return std::all_of(c.requests.begin(), c.requests.end(), [](const auto& r) {
      return r.first.str().find("kubernetes.io/") == std::string_view::npos &&
             !r.first.str().starts_with("attachable-volumes-");
    });
  };
  if (!t.volumes.empty() || !t.scheduling_gates.empty() || !pod->nominated_node_name.empty() || pod->meta.deleting() ||
      scheduler_->has_nominated() || !std::all_of(t.containers.begin(), t.containers.end(), known) ||
      !std::all_of(t.init_containers.begin(), t.init_containers.end(), known)) {
    return std::nullopt;
  }
  auto profile = incremental_.find(t.scheduler_name.str());
  if (profile == incremental_.end() || cache_->node_count() == 0) return std::nullopt;
  const auto answer = profile->second->scheduler->Place(pod, nullptr, scheduler_->last_node_index());
  if (answer.outcome != scheduler::IncrementalScheduler::Answer::Outcome::kPlaced) return std::nullopt;
  auto placed = std::make_shared<api::Pod>(*pod);
  placed->node_name = answer.host;
  placed_.push_back(std::move(placed));
  Decision d;
  d.outcome = Decision::Outcome::kPlaced;
  d.nodes = cache_->node_count();
  d.feasible = answer.feasible;
  d.host = answer.host;
  return d;
}

// The reference's own picture of the cluster gets what was placed without it.
void SimulationV1_29::CatchUp() {
  for (const api::PodPtr& pod : placed_) world_.AddPod(pod);
  placed_.clear();
}

Decision SimulationV1_29::Place(const api::PodPtr& pod, scheduler::DecisionTrace* trace) {
  if (trace == nullptr) {
    if (std::optional<Decision> d = PlaceIncrementally(pod)) {
      fields_ = {};
      preemption_tried_ = false;
      return *d;
    }
  }
  CatchUp();
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
