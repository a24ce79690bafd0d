// Nodes that come, go, fail and are drained, budgets, and workloads that are scaled.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/validation/value.h"
#include "pkg/lab/edit.h"
#include "pkg/lab/expand.h"
#include "pkg/simulate/times.h"
#include "pkg/simulate/world.h"
#include "pkg/util/status.h"
#include "pkg/world/budget.h"

namespace berth::simulate {
namespace {

// How long `kubectl drain` waits before it asks again for an eviction that a budget has refused.
constexpr Micros kEvictionRetry = 5 * kSecond;

}  // namespace

World::NodeState* World::FindNode(std::string_view name) {
  auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

void World::Do(const Step& step) {
  if (step.kind == Step::Kind::kJoin) {
    Join(step.joins);
    return StartDaemons(*step.joins);
  }
  if (step.kind == Step::Kind::kScale) return ScaleTo(step.workload, step.replicas);
  if (step.kind == Step::Kind::kRoll) {
    std::vector<std::string> all = step.nodes;
    std::reverse(all.begin(), all.end());
    return Roll(step.back_after, std::move(all));
  }
  for (const std::string& name : step.nodes) {
    NodeState* const node = FindNode(name);
    const bool fails = step.kind == Step::Kind::kFail, drains = step.kind == Step::Kind::kDrain;
    const char* const event = fails ? "fail" : drains ? "drain" : "leave";
    if (node == nullptr || node->shown == nullptr) {
      NoteIdleStep(event, name, "is not there");
    } else if (fails && node->failed) {
      NoteIdleStep(event, name, "has failed already");
    } else if (drains && node->draining) {
      NoteIdleStep(event, name, "is being drained already");
    } else if (fails) {
      Fail(node, step.back_after);
    } else if (drains) {
      StartDrain(node, step.back_after, {});
    } else {
      LeaveNode(node);
    }
  }
}

void World::NoteIdleStep(std::string_view event, const std::string& node, std::string_view why) {
  if (out_.idle_steps++ > 0) return;
  out_.first_idle_step =
      absl::StrCat(TimeText(clock_.now()), ": ", util::ToAbsl(event), " ", node, ": the node ", util::ToAbsl(why));
}

void World::Join(const api::NodePtr& node) {
  NodeState& n = nodes_[node->meta.name];
  if (n.shown != nullptr) return;
  n.plain = node;
  n.cordoned = n.failed = false;
  ShowNode(&n);
}

// The pods of DaemonSets are on a new node at once, as are those of the nodes of the input.
void World::StartDaemons(const api::Node& node) {
  NodeState* const state = FindNode(node.meta.name);
  for (const api::PodPtr& pod : lab::DaemonPodsOn(node, *what_.scenario)) {
    auto own = std::make_shared<api::Pod>(*pod);
    own->meta.name = FreeName(own->meta.ns.string(), std::move(own->meta.name));
    own->meta.resource_version = absl::StrCat(++last_version_);
    if (by_uid_.contains(own->meta.uid)) continue;
    PodState& p = Add(std::move(own));
    p.from_start = p.was_placed = p.ready = true;
    Place(&p, state);
    Show<api::Pod>(nullptr, p.object);
  }
}

// Shows a node in its present state.
void World::ShowNode(NodeState* node) {
  const api::NodePtr before = node->shown;
  const bool plain = !node->cordoned && !node->failed;
  node->shown = plain ? node->plain : WithState(*node->plain, node->cordoned, node->failed);
  Show(before, node->shown);
  Changed();
  offered_stale_ = true;
}

// Sums up what the nodes offer that are there and have not failed, if nodes have changed.
void World::CountOffered() {
  if (!std::exchange(offered_stale_, false)) return;
  std::fill(offered_.begin(), offered_.end(), 0);
  const auto& names = what_.workload->node_names();
  if (measured_of_ != nodes_.size()) {
    measured_.clear();
    for (const util::Symbol name : names) measured_.push_back(FindNode(name.str()));
    measured_of_ = nodes_.size();
  }
  for (size_t n = 0; n < names.size(); ++n) {
    const NodeState* const node = measured_[n];
    if (node == nullptr || node->shown == nullptr || node->failed) continue;
    for (size_t r = 0; r < offered_.size(); ++r) offered_[r] += static_cast<double>(what_.workload->allocatable(n, r));
  }
}

// The node and its pods are gone. Those of DaemonSets end with it.
void World::LeaveNode(NodeState* node) {
  const api::NodePtr before = std::exchange(node->shown, nullptr);
  Show<api::Node>(before, nullptr);
  Changed();
  offered_stale_ = true;
  const std::vector<uint32_t> pods = node->pods;
  for (uint32_t slot : pods) {
    PodState& p = pods_[slot];
    ++out_.evictions;
    const bool again = p.again && !StaysAtDrain(p);
    if (!again && !StaysAtDrain(p)) ++out_.lost;
    p.leaving = true;
    p.comes_again = p.leaving && again;
    Gone(&p);
  }
  if (node->draining) EndDrain(node);
}

void World::Fail(NodeState* node, Micros back_after) {
  node->failed = true;
  const uint64_t failure = ++node->failures;
  ShowNode(node);
  After(options_.eviction_delay, [this, node, failure] {
    if (node->failed && node->failures == failure) EvictAfterFailure(node);
  });
  if (back_after == kNever) return;
  After(back_after, [this, node, failure] {
    if (node->shown == nullptr || node->failures != failure) return;
    node->failed = false;
    ShowNode(node);
  });
}

// The pods of the node are deleted. No kubelet confirms that, and the controllers do not wait for it.
void World::EvictAfterFailure(NodeState* node) {
  const std::vector<uint32_t> pods = node->pods;
  for (uint32_t slot : pods) {
    PodState& p = pods_[slot];
    if (StaysAtDrain(p)) continue;
    ++out_.evictions;
    if (!p.again) ++out_.lost;
    p.comes_again = p.again;
    p.leaving = true;
    Gone(&p);
  }
}

bool World::StaysAtDrain(const PodState& p) const {
  const auto& controller = p.object->tmpl->controller;
  if (controller && (controller->kind.str() == "DaemonSet" || controller->kind.str() == "Node")) return true;
  return false;
}

// ---- drains -------------------------------------------------------------------------------------

// Drains the last of the nodes; the others follow when it is back.
void World::Roll(Micros back_after, std::vector<std::string> nodes) {
  while (!nodes.empty()) {
    const std::string name = std::move(nodes.back());
    nodes.pop_back();
    NodeState* const node = FindNode(name);
    if (node != nullptr && node->shown != nullptr && !node->draining) {
      return StartDrain(node, back_after, std::move(nodes));
    }
    NoteIdleStep("roll", name, node != nullptr && node->draining ? "is being drained already" : "is not there");
  }
}

void World::StartDrain(NodeState* node, Micros back_after, std::vector<std::string> next) {
  node->draining = node->cordoned = true;
  node->back_after = back_after;
  node->next = std::move(next);
  node->refused.clear();
  node->drain = out_.drains.size();
  out_.drains.push_back({node->plain->meta.name, clock_.now(), kNever, 0});
  ++drains_;
  ShowNode(node);
  RetryDrain(node);
}

void World::RetryDrain(NodeState* node) {
  const std::vector<uint32_t> pods = node->pods;
  for (uint32_t slot : pods) {
    PodState& p = pods_[slot];
    if (p.object == nullptr || p.node != node || p.leaving || StaysAtDrain(p)) continue;
    ShowBudgets();
    if (!BudgetsAllow(p)) {
      if (node->refused.insert(slot).second) ++out_.refusals;
      continue;
    }
    ++out_.drains[node->drain].evictions;
    Evict(&p);
    if (!node->draining) return;
  }
  node->retried_at = changes_;
  ContinueDrain(node);
  if (!node->draining) return;
  ++retries_;
  After(kEvictionRetry, [this, node, drain = node->drain] {
    --retries_;
    if (node->draining && node->drain == drain) RetryDrain(node);
  });
}

// Ends the drain if the node is empty.
void World::ContinueDrain(NodeState* node) {
  const bool empty =
      std::all_of(node->pods.begin(), node->pods.end(), [this](uint32_t slot) { return StaysAtDrain(pods_[slot]); });
  if (empty) EndDrain(node);
}

void World::EndDrain(NodeState* node) {
  node->draining = false;
  --drains_;
  out_.drains[node->drain].empty = clock_.now();
  if (node->back_after == kNever) return Roll(kNever, std::move(node->next));
  After(std::max<Micros>(node->back_after, 1), [this, node, drain = node->drain] {
    if (node->drain != drain) return;
    if (node->shown != nullptr) {
      node->cordoned = false;
      ShowNode(node);
    }
    Roll(node->back_after, std::move(node->next));
  });
}

// ---- budgets ------------------------------------------------------------------------------------

// Notes for the budgets that a pod is there, or is gone, or has changed.
void World::NoteBudgets(const PodState& p, bool there) {
  for (Budget& b : budgets_) {
    if (b.object->meta.ns != p.object->meta.ns || !b.object->selector.selector.Matches(p.object->tmpl->labels))
      continue;
    if (there) {
      b.pods.insert(p.slot);
    } else {
      b.pods.erase(p.slot);
    }
    b.stale = true;
  }
}

void World::RefreshBudget(Budget* budget) {
  budget->stale = false;
  std::vector<world::PodOfBudget> pods;
  std::map<std::string, int64_t> of_controller;
  for (uint32_t slot : budget->pods) {
    const PodState& p = pods_[slot];
    world::PodOfBudget& pod = pods.emplace_back();
    pod.ready = p.ready && (p.node == nullptr || !p.node->failed);
    pod.terminating = p.leaving;
    pod.controller = WorkloadOf(*p.object);
    if (!pod.controller.empty()) ++of_controller[pod.controller];
  }
  for (world::PodOfBudget& pod : pods) {
    if (pod.controller.empty() || pod.controller.starts_with("Job ")) continue;
    const auto known = replicas_.find(pod.controller);
    pod.scale = known == replicas_.end() ? of_controller[pod.controller] : known->second;
  }
  const world::BudgetState state = world::StateOfBudget(*budget->value, pods);
  if (state.disruptions_allowed == budget->object->disruptions_allowed) return;
  auto changed = std::make_shared<api::PodDisruptionBudget>(*budget->object);
  changed->disruptions_allowed = static_cast<int32_t>(state.disruptions_allowed);
  if (changed->meta.fields != nullptr) {
    if (auto fields = validation::ParseJson(*changed->meta.fields); fields.ok()) {
      fields->Child("status").Set("disruptionsAllowed", validation::Value::Int(state.disruptions_allowed));
      changed->meta.fields = std::make_shared<const std::string>(validation::ToJson(*fields));
    }
  }
  const std::shared_ptr<const api::PodDisruptionBudget> before = std::exchange(budget->object, changed);
  Show<api::PodDisruptionBudget>(before, changed);
}

// Lets the disruption controller write the states that have changed.
void World::ShowBudgets() {
  for (Budget& b : budgets_) {
    if (b.stale) RefreshBudget(&b);
  }
}

bool World::BudgetsAllow(const PodState& p) {
  if (!options_.budgets || p.object->node_name.empty()) return true;
  return std::all_of(budgets_.begin(), budgets_.end(), [&](const Budget& b) {
    if (!b.pods.contains(p.slot) || b.object->disruptions_allowed > 0) return true;
    if (p.ready) return false;
    world::BudgetState state;
    return world::LetsUnreadyPodGo(rules_, *b.value, state);
  });
}

// ---- workloads ----------------------------------------------------------------------------------

// Returns the key of the topmost controller of the pod: "Deployment default/web"; empty if it has none.
std::string World::WorkloadOf(const api::Pod& pod) const {
  const auto& c = pod.tmpl->controller;
  if (!c) return {};
  std::string key = lab::ObjectKey(c->kind.str(), pod.meta.ns.str(), c->name);
  auto scale = what_.scenario->scales.find(key);
  return scale == what_.scenario->scales.end() || scale->second.owner.empty() ? key : scale->second.owner;
}

// As a ReplicaSet does it: pods without a node go first, then those that have not started, then the youngest.
void World::ScaleTo(const std::string& workload, int64_t replicas) {
  replicas_[workload] = replicas;
  std::vector<PodState*> pods;
  for (PodState& p : pods_) {
    if (p.object != nullptr && !p.leaving && WorkloadOf(*p.object) == workload) pods.push_back(&p);
  }
  for (Budget& b : budgets_) b.stale = true;
  const auto have = static_cast<int64_t>(pods.size());
  if (have > replicas) {
    std::sort(pods.begin(), pods.end(), [](const PodState* a, const PodState* b) {
      const auto rank = [](const PodState* p) {
        return std::tuple(p->node != nullptr, p->ready, -p->arrived, p->object->meta.name);
      };
      return rank(a) < rank(b);
    });
    std::vector<Handle> going;
    for (int64_t i = 0; i < have - replicas; ++i) going.push_back(HandleOf(*pods[static_cast<size_t>(i)]));
    for (Handle h : going) {
      PodState* const p = Find(h);
      if (p != nullptr && !p->was_placed) NotePlacement(p, {});
      if (p != nullptr) Leave(p, false);
    }
    return;
  }
  const auto like = what_.workload_pods->find(workload);
  for (int64_t i = have; i < replicas && like != what_.workload_pods->end(); ++i) {
    Arrival a;
    a.pod = like->second;
    a.name = absl::StrCat(like->second->meta.name, "-scaled-", ++scaled_);
    Arrive(a);
  }
}

}  // namespace berth::simulate
