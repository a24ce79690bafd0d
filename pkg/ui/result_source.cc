// Runs the scenario once and keeps what the page would see if the scheduler had just stopped.
#include "pkg/ui/result_source.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/lab/simulation.h"
#include "pkg/scheduler/failure_reasons.h"

namespace berth::ui {
namespace {

std::vector<scheduler::FailureReasonId> ReasonsOf(const scheduler::Decision& d) {
  if (d.failures == nullptr) {
    const bool no_nodes = d.outcome == scheduler::Decision::Outcome::kNoNodes;
    return {no_nodes ? scheduler::NoNodesReason() : scheduler::ReasonOfError(d.error_kind)};
  }
  std::vector<scheduler::FailureReasonId> ids = scheduler::DistinctReasons(*d.failures);
  std::sort(ids.begin() + (ids.empty() ? 0 : 1), ids.end());
  return ids;
}

api::PodPtr WithMessage(const api::Pod& pod, const std::string& message) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->scheduled = api::PodCondition{"False", "Unschedulable", message, "", ""};
  return copy;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResultSource>> ResultSource::Make(const lab::Scenario& scenario,
                                                                 const util::Clock* clock) {
  auto made = lab::Simulation::Make(scenario);
  if (!made.ok()) return made.status();
  lab::Simulation& sim = **made;
  std::unique_ptr<ResultSource> r(new ResultSource(clock));
  scheduler::SchedulerMetrics& m = r->snapshot_->metrics;
  std::set<std::string> names;
  for (const api::PodPtr& pod : scenario.pending) {
    const scheduler::Decision d = sim.Place(pod);
    r->history_.Decided(pod, d, 0);
    names.insert(pod->tmpl->scheduler_name.string());
    if (d.outcome == scheduler::Decision::Outcome::kPlaced) {
      ++m.scheduled;
      ++m.bound;
      continue;
    }
    ++(d.outcome == scheduler::Decision::Outcome::kUnfit ? m.unschedulable : m.errors);
    r->pending_->push_back({WithMessage(*pod, d.error), scheduler::Scheduler::Place::kQueued, 1, ReasonsOf(d)});
  }
  r->CopyCluster(scenario, sim.cache());
  CopyNodes(sim.cache(), r->snapshot_.get());
  r->snapshot_->time = clock->Wall();
  r->snapshot_->pods = sim.cache().pod_count();
  r->snapshot_->pending = r->pending_->size();
  r->snapshot_->queue.unschedulable = r->pending_->size();
  r->snapshot_->by_place[static_cast<size_t>(scheduler::Scheduler::Place::kQueued)] = r->pending_->size();
  // A result has only one algorithm, whichever scheduler a pod names.
  r->cluster_->ForEachPod([&](const api::Pod& pod) { names.insert(pod.tmpl->scheduler_name.string()); });
  names.insert("default-scheduler");
  for (const std::string& name : names) r->algorithms_.by_scheduler[name] = scenario.algorithm;
  api::JsonWriter j;
  j.Object().Member("emulatedVersion", sim.release().name).Key("predicates").Texts(sim.effective().predicates);
  j.Key("priorities").Object();
  for (const auto& [name, weight] : sim.effective().priorities) j.Member(name, weight);
  r->configuration_ = j.End().End().Finish("json");
  return r;
}

void ResultSource::CopyCluster(const lab::Scenario& scenario, const scheduler::Cache& cache) {
  auto others = std::make_shared<std::vector<api::Object>>();
  for (const api::Object& o : scenario.cluster) {
    if (!std::holds_alternative<api::NodePtr>(o) && !std::holds_alternative<api::PodPtr>(o)) others->push_back(o);
  }
  cluster_->others.push_back(std::move(others));
  for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
    auto row = std::make_shared<Cluster::Row>();
    row->node = cache.row(r).node;
    for (const scheduler::PlacedPod& p : cache.row(r).pods) row->pods.push_back(p.pod);
    cluster_->rows.push_back(std::move(row));
  }
  for (const PendingPod& p : *pending_) cluster_->pending.push_back(p.pod);
}

}  // namespace berth::ui
