#include "pkg/simulate/living_answers.h"

#include <algorithm>
#include <utility>

#include "pkg/simulate/answers.h"
#include "pkg/world/living/fields.h"

namespace berth::simulate {
namespace {

using scheduler::Answer;
using scheduler::RequestId;
using world::Value;

scheduler::Reply ReplyTo(RequestId id, const world::living::Written& written) {
  constexpr int kMissing = 404, kConflicts = 409, kServerFails = 500;
  scheduler::Reply r = DoneReply(id);
  if (!written) return r;
  r.answer.kind = written->code == kMissing       ? Answer::Kind::kNotFound
                  : written->code == kConflicts   ? Answer::Kind::kConflict
                  : written->code >= kServerFails ? Answer::Kind::kServerError
                                                  : Answer::Kind::kRefused;
  r.answer.message = written->message;
  return r;
}

void WriteCondition(std::string_view type, const api::PodCondition& c, absl::Time now, Value* pod) {
  world::living::SetCondition({type, c.status, c.reason, c.message}, now, pod);
}

}  // namespace

void LivingAnswers::Use(world::living::Cluster* cluster, StoreWatch* watch, std::string_view nomination_annotation) {
  cluster_ = cluster;
  watch_ = watch;
  nomination_annotation_ = nomination_annotation;
}

void LivingAnswers::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  absl::Status by_extender;
  if (binder != nullptr) by_extender = binder->Bind(*pod, pod->node_name.string());
  timeline_->After(options_.bind_delay, [this, id, pod, by_extender] {
    if (!by_extender.ok()) return session_->Reply(NotBound(id, by_extender));
    DoBind(id, *pod);
  });
}

void LivingAnswers::DoBind(RequestId id, const api::Pod& wanted) {
  const LivingPod* const p = pods_->Find(wanted.meta.uid);
  if (p == nullptr || p->leaving) return session_->Reply(NotFound(id, "pod", wanted.meta.name));
  if (cluster_->Get("Node", "", wanted.node_name.str()) == nullptr) {
    return session_->Reply(NotFound(id, "node", wanted.node_name.str()));
  }
  session_->Reply(ReplyTo(id, cluster_->Bind(wanted.meta.ns.str(), wanted.meta.name, wanted.node_name.str())));
  watch_->Flush();
}

void LivingAnswers::ChangePod(RequestId id, const api::Pod& pod, Change change) {
  timeline_->After(options_.bind_delay, [this, id, uid = pod.meta.uid, change = std::move(change)] {
    const LivingPod* const p = pods_->Find(uid);
    if (p == nullptr) return session_->Reply(NotFound(id, "pod", uid));
    const std::string ns = p->object->meta.ns.string(), name = p->object->meta.name;
    Value v = *cluster_->Get("Pod", ns, name);
    change(&v);
    scheduler::Reply reply = ReplyTo(id, cluster_->UpdateStatus("Pod", std::move(v)));
    reply.pod = watch_->Pod(ns, name);
    session_->Reply(reply);
    watch_->Flush();
  });
}

void LivingAnswers::Nominate(std::string_view node, Value* pod) const {
  Value& status = pod->Child("status");
  if (node.empty()) {
    status.Erase("nominatedNodeName");
  } else {
    status.Set("nominatedNodeName", Value::String(node));
  }
  if (nomination_annotation_.empty()) return;
  pod->Child("metadata").Child("annotations").Set(nomination_annotation_, Value::String(node));
}

void LivingAnswers::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  ChangePod(id, *pod, [this, c](Value* v) { WriteCondition("PodScheduled", c, timeline_->clock().Wall(), v); });
}

void LivingAnswers::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  ChangePod(id, *pod, [this, node = node.string()](Value* v) { Nominate(node, v); });
}

void LivingAnswers::PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& c,
                                   std::optional<util::Symbol> node) {
  std::optional<std::string> name;
  if (node) name = node->string();
  ChangePod(id, *pod, [this, c, name](Value* v) {
    if (c) WriteCondition("PodScheduled", *c, timeline_->clock().Wall(), v);
    if (name) Nominate(*name, v);
  });
}

void LivingAnswers::MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& target) {
  ChangePod(id, *victim,
            [this, target](Value* v) { WriteCondition("DisruptionTarget", target, timeline_->clock().Wall(), v); });
}

void LivingAnswers::DeletePod(RequestId id, const api::PodPtr& pod) {
  timeline_->After(options_.bind_delay, [this, id, uid = pod->meta.uid, name = pod->meta.name] {
    LivingPod* const p = pods_->Find(uid);
    if (p == nullptr) return session_->Reply(NotFound(id, "pod", name));
    if (!p->leaving) ++measures_->counts().victims;
    p->is_evicted = true;
    const std::string ns = p->object->meta.ns.string();
    const auto written =
        cluster_->Delete("Pod", ns, name, {.grace_seconds = {}, .uid = uid, .propagation = "Background"});
    session_->Reply(ReplyTo(id, written));
    watch_->Flush();
  });
}

void LivingAnswers::GetPod(RequestId id, const api::Pod& pod) {
  LivingPod* const tried = pods_->Find(pod.meta.uid);
  const auto answer = [this, id, uid = pod.meta.uid, name = pod.meta.name] {
    const LivingPod* const p = pods_->Find(uid);
    session_->Reply(p == nullptr ? NotFound(id, "pod", name) : DoneReply(id, p->object));
  };
  const Micros delay = tried == nullptr ? 0 : tried->attempts.TakeDelayOfReading();
  if (delay == 0) return timeline_->After(options_.bind_delay, answer);
  timeline_->TryAfter(std::max(options_.bind_delay, delay), answer);
}

void LivingAnswers::GetNode(RequestId id, util::Symbol name) {
  timeline_->After(options_.bind_delay, [this, id, name = name.string()] {
    session_->Reply(cluster_->Get("Node", "", name) == nullptr ? NotFound(id, "node", name) : DoneReply(id));
  });
}

void LivingAnswers::ChangeOther(RequestId id, std::string_view kind, const api::ObjectMeta& meta, Change change) {
  timeline_->After(options_.bind_delay,
                   [this, id, kind, ns = meta.ns.string(), name = meta.name, change = std::move(change)] {
                     const world::ValuePtr found = cluster_->Get(kind, ns, name);
                     if (found == nullptr) return session_->Reply(NotFound(id, kind, name));
                     Value v = *found;
                     change(&v);
                     session_->Reply(ReplyTo(id, cluster_->UpdateStatus(kind, std::move(v))));
                     watch_->Flush();
                   });
}

void LivingAnswers::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& binding) {
  const api::ObjectMeta& claim = binding.claim->meta;
  ChangeOther(
      id, "PersistentVolume", binding.volume->meta,
      [ns = claim.ns.string(), name = claim.name, uid = claim.uid, mark = binding.set_bound_by_controller](Value* v) {
        Value ref = Value::Object(
            {{"kind", "PersistentVolumeClaim"}, {"namespace", ns}, {"name", name}, {"uid", uid}, {"apiVersion", "v1"}});
        v->Child("spec").Set("claimRef", std::move(ref));
        if (!mark) return;
        v->Child("metadata").Child("annotations").Set("pv.kubernetes.io/bound-by-controller", Value::String("yes"));
      });
}

void LivingAnswers::UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) {
  ChangeOther(id, "PersistentVolumeClaim", claim->meta, [node = claim->selected_node.value_or("")](Value* v) {
    v->Child("metadata").Child("annotations").Set("volume.kubernetes.io/selected-node", Value::String(node));
  });
}

void LivingAnswers::Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t /*round_robin*/) {
  ++measures_->counts().attempts;
  session_->BreakNextTie();
  LivingPod* const p = pods_->Find(pod->meta.uid);
  if (p == nullptr) return;
  if (p->attempts.Note(decision, reasons_.Of(decision), session_->changes(), timeline_->now())) session_->NoteTried();
}

void LivingAnswers::PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) {
  if (preemption.victims.empty()) return;
  ++measures_->counts().preemptions;
  session_->evictions().Note(*pod, preemption, timeline_->now());
}

}  // namespace berth::simulate
