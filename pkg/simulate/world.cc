#include "pkg/simulate/world.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <utility>

#include "pkg/simulate/living_cluster.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::simulate {

World::World(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options)
    : what_(what),
      options_(options),
      agenda_(what.steps, std::move(arrivals)),
      session_(options, &timeline_),
      measures_(what, options, &timeline_,
                [this] { return what_.workload->Fragmentation(what_.workload->Free(session_.cache())); }),
      workloads_(*what.scenario),
      budgets_(what, options, &session_, &table_, &workloads_),
      pods_(
          options, &timeline_, &session_, &measures_, &table_, &budgets_,
          [this](std::string_view name) { return nodes_.Find(name); },
          [this](const PodState& gone, NodeState* node) { OnGone(gone, node); }),
      nodes_(what, options, &timeline_, &session_, &pods_),
      controllers_(what, &timeline_, &pods_, &budgets_, &workloads_),
      drains_(&timeline_, &session_, &measures_, this),
      volumes_(&session_, &pods_),
      answers_(options, &timeline_, &session_, &measures_, &pods_, &nodes_, &volumes_) {}

absl::Status World::Start() {
  BERTH_RETURN_IF_ERROR(session_.Start(&answers_, &answers_));
  ShowCluster();
  if (options_.began) options_.began(session_.cache());
  return agenda_.Start();
}

// Shows what is there at the beginning, as the daemon's first lists do: kind by kind, pods last.
void World::ShowCluster() {
  ShowNodes();
  api::StoredKinds::ForEach([&]<typename T>() {
    for (const api::Object& o : what_.scenario->cluster) {
      const auto* object = std::get_if<api::Ptr<T>>(&o);
      if (object == nullptr) continue;
      if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) {
        budgets_.Add(*object);
      }
      if constexpr (std::is_same_v<T, api::PersistentVolumeClaim> || std::is_same_v<T, api::PersistentVolume>) {
        session_.Show<T>(nullptr, volumes_.Add(*object));
      } else {
        session_.Show<T>(nullptr, *object);
      }
    }
  });
  ShowPods();
  budgets_.Show();
}

void World::ShowNodes() {
  absl::flat_hash_set<std::string> joining;
  for (const Step& s : *what_.steps) {
    if (s.kind == Step::Kind::kJoin) joining.insert(s.nodes[0]);
  }
  for (const api::Object& o : what_.scenario->cluster) {
    const auto* node = std::get_if<api::NodePtr>(&o);
    if (node != nullptr && !joining.contains((*node)->meta.name)) nodes_.Join(*node);
  }
}

void World::ShowPods() {
  for (const api::Object& o : what_.scenario->cluster) {
    const auto* pod = std::get_if<api::PodPtr>(&o);
    if (pod == nullptr || (*pod)->Finished()) continue;
    table_.TakeName((*pod)->meta.ns.string(), (*pod)->meta.name);
    PodState& p = pods_.AddBound(*pod, nodes_.Find((*pod)->node_name.str()));
    p.again = (*pod)->tmpl->controller.has_value();
  }
}

void World::Deliver() {
  timeline_.RunDue();
  agenda_.RunDue(
      timeline_.now(), [this](const Step& step) { Do(step); }, [this](const Arrival& a) { pods_.Arrive(a); });
  timeline_.RunSoon();
  budgets_.Show();
}

bool World::NothingWillHappen() const {
  return agenda_.IsOver() && timeline_.OnlyTries() && session_.HasTriedAll() && drains_.HaveTried();
}

Micros World::NextTime() const {
  return std::min(timeline_.Next(), agenda_.Next());
}

void World::AdvanceTo(Micros next) {
  measures_.HoldUntil(next, table_.unplaced(), nodes_.Offered());
  timeline_.AdvanceTo(next);
}

void World::Run() {
  measures_.counts().cut = RunToTheEnd(options_, this, &session_, &timeline_);
}

absl::StatusOr<Outcome> World::Finish() {
  if (!measures_.counts().cut) BERTH_RETURN_IF_ERROR(agenda_.status());
  pods_.NoteNeverPlaced();
  BERTH_RETURN_IF_ERROR(session_.Finish());
  Outcome& counts = measures_.counts();
  counts.nodes = session_.cache().node_count();
  counts.most_pods = table_.most();
  counts.renamed = table_.renamed();
  return measures_.Finish();
}

void World::OnGone(const PodState& gone, NodeState* node) {
  if (gone.comes_again) controllers_.Replace(gone);
  if (node != nullptr) drains_.OnGone(node->plain->meta.name);
}

// ---- drains -------------------------------------------------------------------------------------

bool World::HasNode(const std::string& name) {
  const NodeState* const node = nodes_.Find(name);
  return node != nullptr && node->shown != nullptr;
}

void World::Cordon(const std::string& name, bool cordoned) {
  nodes_.Cordon(nodes_.Find(name), cordoned);
}

std::vector<std::string> World::PodsToLeave(const std::string& node) {
  std::vector<std::string> uids;
  for (uint32_t slot : nodes_.Find(node)->pods) {
    const api::Pod& pod = *table_.At(slot).object;
    if (!StaysOnNode(pod)) uids.push_back(pod.meta.uid);
  }
  return uids;
}

Drainable::Eviction World::Evict(const std::string& node, const std::string& uid) {
  PodState* const p = table_.Find(uid);
  if (p == nullptr || p->node != nodes_.Find(node) || p->leaving) return Eviction::kNotNeeded;
  budgets_.Show();
  if (!budgets_.Allow(*p)) return Eviction::kRefused;
  pods_.Evict(p);
  return Eviction::kDone;
}

// ---- steps --------------------------------------------------------------------------------------

void World::Do(const Step& step) {
  session_.evictions().Reset();
  switch (step.kind) {
    case Step::Kind::kJoin:
      if (NodeState* node = nodes_.Join(step.joins)) controllers_.StartDaemons(node);
      return;
    case Step::Kind::kScale:
      return controllers_.ScaleTo(step.workload, step.replicas);
    case Step::Kind::kRestart:
      return;  // there is no controller that would replace pods
    case Step::Kind::kRoll:
      return drains_.Roll(step.back_after, {step.nodes.rbegin(), step.nodes.rend()});
    default:
      for (const std::string& name : step.nodes) DoTo(step, name);
  }
}

void World::DoTo(const Step& step, const std::string& name) {
  NodeState* const node = nodes_.Find(name);
  const bool fails = step.kind == Step::Kind::kFail, drains = step.kind == Step::Kind::kDrain;
  const char* const event = fails ? "fail" : drains ? "drain" : "leave";
  if (!HasNode(name)) return measures_.NoteIdleStep(event, name, "is not there");
  if (fails) {
    if (node->failed) return measures_.NoteIdleStep(event, name, "has failed already");
    return nodes_.Fail(node, step.back_after);
  }
  if (drains) {
    if (drains_.IsDraining(name)) return measures_.NoteIdleStep(event, name, "is being drained already");
    return drains_.Start(name, step.back_after);
  }
  nodes_.Leave(node);
  drains_.OnLeft(name);
}

absl::StatusOr<Outcome> Simulate(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options) {
  BERTH_REQUIRES(options.record_dir.empty() ||
                 (options.guest == nullptr && options.ties.kind == lab::Ties::Kind::kTurn));
  if (options.controllers) return SimulateLiving(what, std::move(arrivals), options);
  World world(what, std::move(arrivals), options);
  BERTH_RETURN_IF_ERROR(world.Start());
  world.Run();
  return world.Finish();
}

}  // namespace berth::simulate
