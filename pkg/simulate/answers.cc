#include "pkg/simulate/answers.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/util/status.h"

namespace berth::simulate {

using scheduler::Answer;
using scheduler::RequestId;

scheduler::Reply NotFound(RequestId id, std::string_view kind, std::string_view name) {
  scheduler::Reply r;
  r.id = id;
  r.answer.kind = Answer::Kind::kNotFound;
  r.answer.details_kind = std::string(kind);
  r.answer.message = absl::StrCat(util::ToAbsl(kind), "s \"", util::ToAbsl(name), "\" not found");
  return r;
}

scheduler::Reply DoneReply(RequestId id, api::PodPtr pod) {
  scheduler::Reply r;
  r.id = id;
  r.pod = std::move(pod);
  return r;
}

scheduler::Reply NotBound(RequestId id, const absl::Status& why) {
  scheduler::Reply r;
  r.id = id;
  r.answer.kind = Answer::Kind::kRefused;
  r.answer.message = util::Message(why);
  return r;
}

Answers::Answers(const Options& options, Timeline* timeline, Session* session, Measures* measures, Pods* pods,
                 Nodes* nodes, Volumes* volumes)
    : options_(options),
      timeline_(timeline),
      session_(session),
      measures_(measures),
      pods_(pods),
      nodes_(nodes),
      volumes_(volumes) {}

void Answers::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  absl::Status by_extender;
  if (binder != nullptr) by_extender = binder->Bind(*pod, pod->node_name.string());
  timeline_->After(options_.bind_delay, [this, id, pod, by_extender] {
    if (!by_extender.ok()) return session_->Reply(NotBound(id, by_extender));
    DoBind(id, pod);
  });
}

void Answers::DoBind(RequestId id, const api::PodPtr& wanted) {
  PodState* const p = pods_->table().Find(wanted->meta.uid);
  NodeState* const node = nodes_->Find(wanted->node_name.str());
  if (p == nullptr || p->leaving) return session_->Reply(NotFound(id, "pod", wanted->meta.name));
  if (node == nullptr || node->shown == nullptr) {
    return session_->Reply(NotFound(id, "node", wanted->node_name.str()));
  }
  const api::PodPtr before = p->object;
  auto bound = std::make_shared<api::Pod>(*before);
  bound->node_name = wanted->node_name;
  bound->scheduled.reset();
  bound->meta.resource_version = pods_->NextVersion();
  if (options_.start_delay == 0) bound->start_seconds = timeline_->clock().WallSeconds();
  pods_->Bind(p, node, bound);
  session_->Reply(DoneReply(id));
  session_->Show(before, p->object);
  session_->Changed();
  if (options_.start_delay == 0) return pods_->Started(p);
  timeline_->After(options_.start_delay, [this, h = PodTable::HandleOf(*p)] {
    if (PodState* started = pods_->table().Find(h)) pods_->Started(started);
  });
}

void Answers::ChangeStatus(RequestId id, const std::string& uid, std::function<void(api::Pod*)> change) {
  timeline_->After(options_.bind_delay, [this, id, uid, change = std::move(change)] {
    PodState* const p = pods_->table().Find(uid);
    if (p == nullptr) return session_->Reply(NotFound(id, "pod", uid));
    const api::PodPtr before = p->object;
    auto after = std::make_shared<api::Pod>(*before);
    change(after.get());
    after->meta.resource_version = pods_->NextVersion();
    p->object = after;
    session_->Reply(DoneReply(id, p->object));
    // The reply may have led to another change.
    if (pods_->table().Find(uid) != nullptr) session_->Show<api::Pod>(before, after);
  });
}

void Answers::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  ChangeStatus(id, pod->meta.uid, [c](api::Pod* p) { p->scheduled = c; });
}

void Answers::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  ChangeStatus(id, pod->meta.uid, [node = util::SharedSymbol(node)](api::Pod* p) { p->nominated_node_name = node; });
}

void Answers::PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& c,
                             std::optional<util::Symbol> node) {
  std::optional<util::SharedSymbol> kept;
  if (node) kept = util::SharedSymbol(*node);
  ChangeStatus(id, pod->meta.uid, [c, kept](api::Pod* p) {
    if (c) p->scheduled = *c;
    if (kept) p->nominated_node_name = *kept;
  });
}

void Answers::MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& /*target*/) {
  ChangeStatus(id, victim->meta.uid, [](api::Pod* p) { p->preempted_by_scheduler = true; });
}

void Answers::DeletePod(RequestId id, const api::PodPtr& pod) {
  timeline_->After(options_.bind_delay, [this, id, uid = pod->meta.uid, name = pod->meta.name] {
    if (pods_->table().Find(uid) == nullptr) return session_->Reply(NotFound(id, "pod", name));
    session_->Reply(DoneReply(id));
    PodState* const victim = pods_->table().Find(uid);
    if (victim == nullptr || victim->leaving) return;
    ++measures_->counts().victims;
    pods_->Evict(victim);
  });
}

void Answers::GetPod(RequestId id, const api::Pod& pod) {
  PodState* const read = pods_->table().Find(pod.meta.uid);
  if (read == nullptr) {
    return timeline_->After(options_.bind_delay, [this, id, uid = pod.meta.uid, name = pod.meta.name] {
      PodState* const p = pods_->table().Find(uid);
      session_->Reply(p == nullptr ? NotFound(id, "pod", name) : DoneReply(id, p->object));
    });
  }
  const auto answer = [this, id, h = PodTable::HandleOf(*read), asked = read->object] {
    PodState* p = pods_->table().Find(h);
    // Another pod may have got the uid.
    if (p == nullptr) p = pods_->table().Find(asked->meta.uid);
    session_->Reply(p == nullptr ? NotFound(id, "pod", asked->meta.name) : DoneReply(id, p->object));
  };
  const Micros delay = read->attempts.TakeDelayOfReading();
  if (delay == 0) return timeline_->After(options_.bind_delay, answer);
  timeline_->TryAfter(std::max(options_.bind_delay, delay), answer);
}

void Answers::GetNode(RequestId id, util::Symbol name) {
  timeline_->After(options_.bind_delay, [this, id, name = name.string()] {
    const NodeState* const node = nodes_->Find(name);
    session_->Reply(node == nullptr || node->shown == nullptr ? NotFound(id, "node", name) : DoneReply(id));
  });
}

void Answers::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& binding) {
  timeline_->After(options_.bind_delay, [this, id, claim = binding.claim, volume = binding.volume] {
    volumes_->Reserve(volume, claim, DoneReply(id));
  });
}

void Answers::UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) {
  timeline_->After(options_.bind_delay, [this, id, claim] { volumes_->Provision(claim, DoneReply(id)); });
}

void Answers::Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t /*round_robin*/) {
  ++measures_->counts().attempts;
  session_->BreakNextTie();
  PodState* const p = pods_->table().Find(pod->meta.uid);
  if (p == nullptr) return;
  if (p->attempts.Note(decision, reasons_.Of(decision), session_->changes(), timeline_->now())) session_->NoteTried();
}

void Answers::PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) {
  if (preemption.victims.empty()) return;
  ++measures_->counts().preemptions;
  session_->evictions().Note(*pod, preemption, timeline_->now());
}

}  // namespace berth::simulate
