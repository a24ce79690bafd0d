#include "test/simulation/checked_actions.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "test/simulation/network.h"
#include "test/simulation/world.h"

namespace berth::simulation {

using scheduler::RequestId;

namespace {

NodeView ViewOf(const api::Node& n) {
  NodeView v;
  v.name = n.meta.name;
  v.cordoned = n.unschedulable;
  for (const auto& [name, q] : n.allocatable) {
    if (name == util::Symbol("cpu")) v.milli_cpu = q.MilliValue();
    if (name == util::Symbol("memory")) v.memory_mib = q.Value() >> 20;
    if (name == util::Symbol("pods")) v.pods = q.Value();
  }
  for (const auto& [key, value] : n.labels) {
    if (key == util::Symbol("zone")) v.zone = value.str();
  }
  v.tainted = !n.taints.empty();
  for (const api::NodeCondition& c : n.conditions)
    v.ready &= c.type != util::Symbol("Ready") || c.status == util::Symbol("True");
  return v;
}

// Returns whether the condition holds for the pods with some choice of the unsure ones, all and none included.
bool WithSome(const std::vector<PodView>& unsure, const std::vector<PodView>& pods,
              const std::function<bool(const std::vector<PodView>&)>& condition) {
  const size_t choices = size_t{1} << std::min<size_t>(unsure.size(), 10);
  for (size_t choice = 0; choice < choices; ++choice) {
    std::vector<PodView> counted = pods;
    for (size_t i = 0; i < unsure.size(); ++i) {
      if ((choice >> i & 1) != 0) counted.push_back(unsure[i]);
    }
    if (condition(counted)) return true;
  }
  return false;
}

std::string NamesOn(const std::string& node, const std::vector<PodView>& pods) {
  std::vector<std::string> names;
  for (const PodView& p : pods) {
    if (p.node == node) names.push_back(p.host_port == 0 ? p.key : absl::StrCat(p.key, " (port ", p.host_port, ")"));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

void CheckedActions::Fail(std::string what) const {
  world_->Fail(absl::StrCat(process_, ": ", std::move(what)));
}

void CheckedActions::NotePort(const scheduler::Change<api::Pod>& c) {
  if (c.before == nullptr || c.before->node_name.empty() || (c.after != nullptr && !c.after->node_name.empty())) return;
  const PodView gone = world_->View(*c.before);
  if (gone.host_port == 0) return;
  for (const PodView& p : Placed(c.before->meta.uid)) {
    if (p.node == gone.node && p.host_port == gone.host_port) freed_ports_.insert({p.node, p.host_port});
  }
}

void CheckedActions::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  CheckBind(*pod);
  world_->Record(
      absl::StrCat(process_, " binds ", pod->meta.name, " ", pod->meta.uid, " to ", pod->node_name.string()));
  reserved_.erase(pod->meta.uid);
  open_[pod->meta.uid] = {id, pod};
  sent_[pod->meta.uid] = pod;
  inner_->Bind(id, pod, binder);
}

void CheckedActions::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  inner_->UpdatePodCondition(id, pod, c);
}

void CheckedActions::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  inner_->SetNominatedNode(id, pod, node);
}

void CheckedActions::PatchPodStatus(RequestId id, const api::PodPtr& pod,
                                    const std::optional<api::PodCondition>& scheduled,
                                    std::optional<util::Symbol> nominated_node) {
  inner_->PatchPodStatus(id, pod, scheduled, nominated_node);
}

void CheckedActions::MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& c) {
  inner_->MarkVictim(id, victim, c);
}

void CheckedActions::DeletePod(RequestId id, const api::PodPtr& pod) {
  CheckVictim(*pod);
  inner_->DeletePod(id, pod);
}

void CheckedActions::GetPod(RequestId id, const api::Pod& pod) {
  read_[id] = pod.meta.uid;
  inner_->GetPod(id, pod);
}

void CheckedActions::GetNode(RequestId id, util::Symbol name) {
  inner_->GetNode(id, name);
}

void CheckedActions::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& b) {
  inner_->UpdateVolume(id, b);
}

void CheckedActions::UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) {
  inner_->UpdateClaim(id, claim);
}

void CheckedActions::RecordRelatedEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                                        std::string message, const api::PodPtr& related) {
  inner_->RecordRelatedEvent(pod, type, reason, std::move(message), related);
}

void CheckedActions::RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                                 std::string message) {
  if (reason == "FailedScheduling") reserved_.erase(pod->meta.uid);
  if (reason == "Scheduled") said_scheduled_.insert(pod->meta.uid);
  inner_->RecordEvent(pod, type, reason, std::move(message));
}

api::PodPtr CheckedActions::Answered(const scheduler::Reply& r) {
  if (auto read = read_.find(r.id); read != read_.end()) {
    // A pod that is gone, or has ended, cannot be bound any more and uses nothing, whatever its informer still shows.
    const bool gone = r.answer.kind == scheduler::Answer::Kind::kNotFound ||
                      (r.pod != nullptr && (r.pod->meta.uid != read->second || r.pod->Finished()));
    if (gone) {
      lost_.erase(read->second);
      over_.insert(read->second);
    }
    read_.erase(read);
    return nullptr;
  }
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->second.first != r.id) continue;
    if (r.answer.ok()) bound_[it->first] = it->second.second;
    // After a 5xx the server has nothing left to do; after a lost answer it may.
    const bool lost = r.answer.kind == scheduler::Answer::Kind::kLost;
    if (lost || r.answer.kind == scheduler::Answer::Kind::kServerError) {
      lost_[it->first] = {it->second.second->node_name, lost ? world_->loop.now() : -kLatest};
    }
    const api::PodPtr pod = it->second.second;
    open_.erase(it);
    return r.answer.ok() ? pod : nullptr;
  }
  return nullptr;
}

void CheckedActions::CheckTold(const api::Pod& pod) {
  if (!said_scheduled_.contains(pod.meta.uid))
    Fail(absl::StrCat("bound ", pod.meta.name, " and has not said so in an event"));
}

// No second node while a bind is unanswered, and no node over what it has, as far as this process can know.
void CheckedActions::CheckBind(const api::Pod& pod) {
  world_->CountDecision();
  if (auto it = open_.find(pod.meta.uid); it != open_.end()) {
    Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " while its bind to ",
                      it->second.second->node_name.string(), " is open"));
  }
  if (auto it = lost_.find(pod.meta.uid);
      it != lost_.end() && it->second.first != pod.node_name && world_->loop.now() - it->second.second < kLatest) {
    Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " while a bind to ",
                      it->second.first.string(), " that was lost may still be carried out"));
  }
  if (auto it = bound_.find(pod.meta.uid); it != bound_.end() && it->second->node_name != pod.node_name) {
    Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " and was bound to ",
                      it->second->node_name.string(), " before"));
  }
  // The same bind again, as the answer was lost, is no new decision: the node may be another by now.
  if (auto it = lost_.find(pod.meta.uid); it != lost_.end() && it->second.first == pod.node_name) return;
  for (const auto& [key, p] : pods_) {
    if (p->meta.uid == pod.meta.uid && !p->node_name.empty() && p->node_name != pod.node_name) {
      Fail(absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), " though it is shown on ",
                        p->node_name.string()));
    }
  }
  if (!WaitsForClaims(pod)) CheckNode(pod, Placed(pod.meta.uid));
}

bool CheckedActions::WaitsForClaims(const api::Pod& pod) const {
  return world_->emulated.provisions && !pod.tmpl->volumes.empty();
}

std::vector<PodView> CheckedActions::Placed(const std::string& without_uid) {
  std::vector<PodView> pods;
  std::set<std::string> pending;
  for (const auto& [key, p] : pods_) {
    if (p->node_name.empty()) pending.insert(p->meta.uid);
    if (!p->node_name.empty() && p->meta.uid != without_uid) pods.push_back(world_->View(*p));
  }
  // Our own binds that the watch does not show yet. They count only while it shows the pod as pending: one that is gone
  // uses nothing. A bind whose answer was an error, or lost, counts when the server has carried it out.
  std::map<std::string, api::PodPtr> unseen = bound_;
  unseen.insert(reserved_.begin(), reserved_.end());
  for (const auto& [uid, entry] : open_) unseen[uid] = entry.second;
  for (const auto& [uid, p] : sent_) {
    if (world_->CarriedOut(process_, uid) == p->node_name.str()) unseen[uid] = p;
  }
  for (const auto& [uid, p] : unseen) {
    if (uid != without_uid && pending.contains(uid) && !over_.contains(uid)) pods.push_back(world_->View(*p));
  }
  const auto forget = [&](std::map<std::string, api::PodPtr>* m) {
    for (auto it = m->begin(); it != m->end();) it = pending.contains(it->first) ? std::next(it) : m->erase(it);
  };
  forget(&sent_);
  forget(&reserved_);
  return pods;
}

std::vector<PodView> CheckedActions::Unsure(const std::string& without_uid, const std::string& app) const {
  std::vector<PodView> pods;
  for (const auto& [uid, p] : sent_) {
    if (uid == without_uid || open_.contains(uid) || bound_.contains(uid) || over_.contains(uid)) continue;
    if (world_->CarriedOut(process_, uid) == p->node_name.str()) continue;
    PodView v = world_->View(*p);
    if (app.empty() || v.app == app) pods.push_back(std::move(v));
  }
  return pods;
}

std::vector<NodeView> CheckedActions::Nodes() const {
  std::vector<NodeView> out;
  for (const auto& [key, n] : nodes_) out.push_back(ViewOf(*n));
  return out;
}

void CheckedActions::CheckNode(const api::Pod& pod, const std::vector<PodView>& pods) const {
  const std::vector<NodeView> nodes = Nodes();
  const auto at =
      std::find_if(nodes.begin(), nodes.end(), [&](const NodeView& n) { return n.name == pod.node_name.str(); });
  if (at == nodes.end()) {
    return Fail(
        absl::StrCat("pod ", pod.meta.name, " is bound to ", pod.node_name.string(), ", a node that is not there"));
  }
  const NodeView& n = *at;
  const PodView v = world_->View(pod);
  const auto use = Use(pods);
  const auto used_here = use.find(n.name);
  const NodeUse used = used_here == use.end() ? NodeUse{} : used_here->second;
  const std::string what = absl::StrCat("pod ", pod.meta.name, " is bound to ", n.name);
  if (n.cordoned) Fail(absl::StrCat(what, ", which is cordoned"));
  if (used.milli_cpu + v.milli_cpu > n.milli_cpu || used.memory_mib + v.memory_mib > n.memory_mib ||
      used.pods + 1 > n.pods) {
    Fail(absl::StrCat(what, " and needs ", v.milli_cpu, "m and ", v.memory_mib, " MiB, where ", used.milli_cpu, "m of ",
                      n.milli_cpu, "m, ", used.memory_mib, " of ", n.memory_mib, " MiB and ", used.pods, " of ", n.pods,
                      " pods are in use: ", NamesOn(n.name, pods)));
  }
  if (v.host_port != 0 && used.ports.contains(v.host_port) && !freed_ports_.contains({n.name, v.host_port})) {
    Fail(absl::StrCat(what, ", where port ", v.host_port, " is taken by one of ", NamesOn(n.name, pods)));
  }
  if ((v.alone && used.apps.contains(v.app)) || used.lonely_apps.contains(v.app)) {
    Fail(absl::StrCat(what, " against an anti-affinity"));
  }
  if (!v.zone.empty() && n.zone != v.zone) Fail(absl::StrCat(what, " in another zone"));
  if (!pod.tmpl->scheduling_gates.empty()) Fail(absl::StrCat(what, " though it has scheduling gates"));
  if (v.max_skew > 0 && !world_->emulated.spreads)
    Fail(absl::StrCat(what, " by a release that cannot know how to spread it"));
  const bool even = WithSome(Unsure(pod.meta.uid, v.app), pods,
                             [&](const std::vector<PodView>& counted) { return !TooUneven(v, n, nodes, counted); });
  if (!even) Fail(absl::StrCat(what, ", which makes its app too uneven over the zones"));
}

// A victim must make room for a pod that is more important, on the node that was chosen for that pod.
void CheckedActions::CheckVictim(const api::Pod& victim) const {
  world_->Record(absl::StrCat(process_, " evicts ", victim.meta.name));
  if (!victims_.contains(victim.meta.uid)) {
    Fail(absl::StrCat("pod ", victim.meta.name, " is evicted from ", victim.node_name.string(),
                      ", and was not chosen to be"));
  }
  int32_t highest = INT32_MIN;
  for (const auto& [key, p] : pods_) {
    const PodView v = world_->View(*p);
    if (p->node_name.empty() && !v.never_preempts) highest = std::max(highest, v.priority);
  }
  if (world_->View(victim).priority >= highest) {
    Fail(absl::StrCat("pod ", victim.meta.name, " is evicted, and no pending pod is more important"));
  }
}

void CheckedActions::Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t) {
  if (!decision.difference.empty()) {
    Fail(absl::StrCat("two ways to decide about ", pod->meta.name, " differ: ", decision.difference));
  }
  reserved_.erase(pod->meta.uid);
  if (!decision.host.empty() && WaitsForClaims(*pod)) {
    auto placed = std::make_shared<api::Pod>(*pod);
    placed->node_name = decision.host;
    CheckNode(*placed, Placed(pod->meta.uid));
    reserved_[pod->meta.uid] = std::move(placed);
  }
  if (decision.host.empty()) {
    found_on_[pod->meta.uid] = nodes_;
  } else {
    found_on_.erase(pod->meta.uid);
  }
}

// No eviction that does not help, and none that is not needed.
void CheckedActions::PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) {
  if (preemption.node.empty()) return;
  if (preemption.victims.empty()) {
    nominees_.insert({pod->meta.uid, preemption.node.string()});
    return;
  }
  const PodView p = world_->View(*pod);
  const std::string node = preemption.node.string();
  const std::string what = absl::StrCat("for ", pod->meta.name, " pods are to be evicted from ", node);
  if (p.never_preempts) Fail(absl::StrCat(what, ", and it must never preempt"));
  const std::vector<NodeView> nodes = Nodes();
  const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const NodeView& n) { return n.name == node; });
  if (at == nodes.end()) return Fail(absl::StrCat(what, ", a node that is not there"));
  std::set<std::string> victims;
  for (const api::PodPtr& v : preemption.victims) {
    victims.insert(v->meta.name);
    victims_.insert(v->meta.uid);
    if (v->node_name != preemption.node) Fail(absl::StrCat(what, ", and ", v->meta.name, " is not there"));
    if (world_->View(*v).priority >= p.priority)
      Fail(absl::StrCat(what, ", and ", v->meta.name, " is no less important"));
  }
  const auto fits = [&](const std::vector<PodView>& others) {
    const auto use = Use(others);
    const auto used = use.find(node);
    return WhyNot(p, *at, used == use.end() ? NodeUse{} : used->second).empty() && !TooUneven(p, *at, nodes, others);
  };
  std::vector<PodView> kept, gone;
  for (PodView& v : Placed(pod->meta.uid))
    (v.node == node && victims.contains(v.key) ? gone : kept).push_back(std::move(v));
  // Release 1.29 takes a victim of the same app off the count of its zone even when that pod, being deleted already,
  // was not counted there.
  const bool miscounted = p.max_skew > 0 && std::any_of(gone.begin(), gone.end(),
                                                        [&](const PodView& v) { return v.deleting && v.app == p.app; });
  const std::vector<PodView> unsure = Unsure(pod->meta.uid, p.app);
  // The victims free their ports, also those that other pods have too.
  PodView portless = p;
  const auto frees = [&](const PodView& v) { return v.host_port == p.host_port; };
  if (freed_ports_.contains({node, p.host_port}) || std::any_of(gone.begin(), gone.end(), frees))
    portless.host_port = 0;
  const auto fits_then = [&](const std::vector<PodView>& others) {
    return WhyNot(portless, *at, Use(others)[node]).empty() && !TooUneven(p, *at, nodes, others);
  };
  if (!miscounted && !WithSome(unsure, kept, fits_then)) {
    const std::string why = WhyNot(p, *at, Use(kept)[node]);
    Fail(absl::StrCat(what, ", where it does not fit even then: ", why.empty() ? "too uneven" : why, " beside ",
                      NamesOn(node, kept)));
  }
  // The room beside it may be needed by pods that are nominated to the node, and by those whose bind may yet be carried
  // out.
  std::vector<PodView> full = kept;
  for (const auto& [key, q] : pods_) {
    const auto sent = sent_.find(q->meta.uid);
    const bool sent_there = sent != sent_.end() && sent->second->node_name == preemption.node;
    if (!q->node_name.empty() || q->meta.uid == pod->meta.uid) continue;
    if (std::any_of(kept.begin(), kept.end(), [&](const PodView& k) { return k.key == q->meta.name; })) continue;
    if (!sent_there && q->nominated_node_name != preemption.node && !nominees_.contains({q->meta.uid, node})) continue;
    full.push_back(world_->View(*q));
    full.back().node = node;
  }
  nominees_.insert({pod->meta.uid, node});
  for (const PodView& v : gone) {
    full.push_back(v);
    const auto fits_not = [&](const std::vector<PodView>& others) { return !fits(others); };
    if (!WithSome(unsure, full, fits_not)) Fail(absl::StrCat(what, ", and ", v.key, " need not go"));
    full.pop_back();
  }
  if (world_->emulated.decides.counts_budgets) CheckBudgets(*pod, gone, what);
}

// Reports only what is certain: of the chosen victims, those whose budget allows no disruption; of the other nodes,
// those that are as they were when the pod was decided, and that have room when pods without a budget are evicted and
// all pods that may count there are counted.
void CheckedActions::CheckBudgets(const api::Pod& pod, const std::vector<PodView>& victims, const std::string& what) {
  const PodView preemptor = world_->View(pod);
  if (preemptor.max_skew > 0) return;  // evictions may make the spread worse, so there is no simple answer
  const auto budget_of = [&](const PodView& v) {
    const auto it = budgets_.find("default/budget-" + v.app);
    return it == budgets_.end() ? nullptr : it->second.get();
  };
  const auto violates = [&](const PodView& v) {
    const api::PodDisruptionBudget* budget = budget_of(v);
    return budget != nullptr && budget->disruptions_allowed <= 0;
  };
  const auto violating = std::find_if(victims.begin(), victims.end(), violates);
  if (violating == victims.end()) return;
  std::vector<PodView> others = Placed("");
  for (const PodView& v : Unsure("", "")) others.push_back(v);
  for (const auto& [key, q] : pods_) {
    if (!q->node_name.empty() || q->meta.name == preemptor.key) continue;
    PodView v = world_->View(*q);
    const auto nominated_to = [&](const std::string& node) {
      v.node = node;
      v.priority = INT32_MAX;  // not to be evicted
      others.push_back(v);
    };
    if (!q->nominated_node_name.empty()) nominated_to(q->nominated_node_name.string());
    for (const auto& [uid, node] : nominees_) {
      if (uid == q->meta.uid) nominated_to(node);
    }
  }
  const auto& found_on = found_on_[pod.meta.uid];
  for (const NodeView& n : Nodes()) {
    const auto before = found_on.find(n.name);
    if (before == found_on.end() || before->second != nodes_.at(n.name)) continue;
    std::vector<PodView> kept;
    for (const PodView& o : others) {
      if (o.node != n.name || o.priority >= preemptor.priority || budget_of(o) != nullptr) kept.push_back(o);
    }
    if (WhyNot(preemptor, n, Use(kept)[n.name]).empty()) {
      Fail(absl::StrCat(what, ", which violates the budget of ", violating->key, ", though evictions from ", n.name,
                        " would suffice without violating any"));
    }
  }
}

}  // namespace berth::simulation
