// The answers to the scheduler's requests.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/validation/value.h"
#include "pkg/lab/experiment.h"
#include "pkg/simulate/world.h"
#include "pkg/util/status.h"

namespace berth::simulate {

using scheduler::Answer;
using scheduler::RequestId;

namespace {

scheduler::Reply NotFound(RequestId id, std::string_view kind, std::string_view name) {
  scheduler::Reply r;
  r.id = id;
  r.answer.kind = Answer::Kind::kNotFound;
  r.answer.details_kind = std::string(kind);
  r.answer.message = absl::StrCat(util::ToAbsl(kind), "s \"", util::ToAbsl(name), "\" not found");
  return r;
}

scheduler::Reply Done(RequestId id, api::PodPtr pod = nullptr) {
  scheduler::Reply r;
  r.id = id;
  r.pod = std::move(pod);
  return r;
}

// Returns the object with another resourceVersion and further members, also in the JSON that recordings have.
template <typename T>
std::shared_ptr<T> Changed(const T& object, const std::function<void(validation::Value*)>& members) {
  auto copy = std::make_shared<T>(object);
  if (object.meta.fields == nullptr) return copy;
  auto fields = validation::ParseJson(*object.meta.fields);
  if (!fields.ok()) return copy;
  members(&*fields);
  copy->meta.fields = std::make_shared<const std::string>(validation::ToJson(*fields));
  return copy;
}

}  // namespace

void World::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  absl::Status by_extender;
  if (binder != nullptr) by_extender = binder->Bind(*pod, pod->node_name.string());
  After(options_.bind_delay, [this, id, pod, by_extender] {
    PodState* const p = Find(pod->meta.uid);
    NodeState* const node = FindNode(pod->node_name.str());
    if (!by_extender.ok()) {
      scheduler::Reply r;
      r.id = id;
      r.answer.kind = Answer::Kind::kRefused;
      r.answer.message = util::Message(by_extender);
      return Reply(r);
    }
    if (p == nullptr || p->leaving) return Reply(NotFound(id, "pod", pod->meta.name));
    if (node == nullptr || node->shown == nullptr) return Reply(NotFound(id, "node", pod->node_name.str()));
    const api::PodPtr before = p->object;
    auto bound = std::make_shared<api::Pod>(*before);
    bound->node_name = pod->node_name;
    bound->scheduled.reset();
    bound->meta.resource_version = absl::StrCat(++last_version_);
    if (options_.start_delay == 0) bound->start_seconds = clock_.WallSeconds();
    p->object = bound;
    NotePlacement(p, bound->node_name.str());
    Place(p, node);
    Reply(Done(id));
    Show(before, p->object);
    Changed();
    if (options_.start_delay == 0) return Started(p);
    After(options_.start_delay, [this, h = HandleOf(*p)] {
      if (PodState* started = Find(h)) Started(started);
    });
  });
}

// Changes a pod after the delay of requests, and shows it.
void World::ChangeStatus(RequestId id, const std::string& uid, std::function<void(api::Pod*)> change) {
  After(options_.bind_delay, [this, id, uid, change = std::move(change)] {
    PodState* const p = Find(uid);
    if (p == nullptr) return Reply(NotFound(id, "pod", uid));
    const api::PodPtr before = p->object;
    auto after = std::make_shared<api::Pod>(*before);
    change(after.get());
    after->meta.resource_version = absl::StrCat(++last_version_);
    p->object = after;
    Reply(Done(id, p->object));
    // The reply may have led to another change.
    if (PodState* const still = Find(uid); still != nullptr) Show<api::Pod>(before, after);
  });
}

void World::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  ChangeStatus(id, pod->meta.uid, [c](api::Pod* p) { p->scheduled = c; });
}

void World::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  ChangeStatus(id, pod->meta.uid, [node = util::SharedSymbol(node)](api::Pod* p) { p->nominated_node_name = node; });
}

void World::PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& c,
                           std::optional<util::Symbol> node) {
  std::optional<util::SharedSymbol> kept;
  if (node) kept = util::SharedSymbol(*node);
  ChangeStatus(id, pod->meta.uid, [c, kept](api::Pod* p) {
    if (c) p->scheduled = *c;
    if (kept) p->nominated_node_name = *kept;
  });
}

void World::MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& /*target*/) {
  ChangeStatus(id, victim->meta.uid, [](api::Pod* p) { p->preempted_by_scheduler = true; });
}

void World::DeletePod(RequestId id, const api::PodPtr& pod) {
  After(options_.bind_delay, [this, id, uid = pod->meta.uid, name = pod->meta.name] {
    PodState* const p = Find(uid);
    if (p == nullptr) return Reply(NotFound(id, "pod", name));
    Reply(Done(id));
    PodState* const victim = Find(uid);
    if (victim == nullptr || victim->leaving) return;
    ++out_.victims;
    Evict(victim);
  });
}

// A queue without back-off tries a pod that met an error again as soon as it is read, so that time would never go on.
// From the second time on, reading takes a second, and then longer, up to about a minute.
void World::GetPod(RequestId id, const api::Pod& pod) {
  constexpr uint8_t kMostDoublings = 6;
  PodState* const tried = Find(pod.meta.uid);
  const bool spins = tried != nullptr && tried->spins;
  Micros delay = options_.bind_delay;
  if (spins) delay = std::max(delay, kSecond << tried->spun);
  if (spins && tried->spun < kMostDoublings) ++tried->spun;
  retries_ += spins;
  After(delay, [this, id, spins, uid = pod.meta.uid, name = pod.meta.name] {
    retries_ -= spins;
    PodState* const p = Find(uid);
    Reply(p == nullptr ? NotFound(id, "pod", name) : Done(id, p->object));
  });
}

void World::GetNode(RequestId id, util::Symbol name) {
  After(options_.bind_delay, [this, id, name = name.string()] {
    const NodeState* const node = FindNode(name);
    Reply(node == nullptr || node->shown == nullptr ? NotFound(id, "node", name) : Done(id));
  });
}

// The volume is reserved for the claim, and the volume controller binds the claim to it.
void World::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& binding) {
  After(options_.bind_delay, [this, id, claim = binding.claim, volume = binding.volume] {
    std::shared_ptr<const api::PersistentVolume>& known = volumes_[volume->meta.name];
    auto reserved = berth::simulate::Changed(*volume, [&](validation::Value* fields) {
      validation::Value ref;
      ref.Set("kind", validation::Value::String("PersistentVolumeClaim"));
      ref.Set("namespace", validation::Value::String(claim->meta.ns.str()));
      ref.Set("name", validation::Value::String(claim->meta.name));
      ref.Set("uid", validation::Value::String(claim->meta.uid));
      fields->Child("spec").Set("claimRef", std::move(ref));
    });
    reserved->claim_ref = api::PersistentVolume::ClaimRef{claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
    reserved->meta.resource_version = absl::StrCat(++last_version_);
    const std::shared_ptr<const api::PersistentVolume> before = std::exchange(known, reserved);
    Reply(Done(id));
    Show<api::PersistentVolume>(before, reserved);
    BindClaim(*claim, volume->meta.name);
  });
}

void World::BindClaim(const api::PersistentVolumeClaim& claim, const std::string& volume) {
  std::shared_ptr<const api::PersistentVolumeClaim>& known = claims_[claim.meta.Key()];
  auto bound = berth::simulate::Changed(known != nullptr ? *known : claim, [&](validation::Value* fields) {
    fields->Child("spec").Set("volumeName", validation::Value::String(volume));
    validation::Value& annotations = fields->Child("metadata").Child("annotations");
    annotations.Set("pv.kubernetes.io/bind-completed", validation::Value::String("yes"));
    if (claim.selected_node) {
      annotations.Set("volume.kubernetes.io/selected-node", validation::Value::String(*claim.selected_node));
    }
    fields->Child("status").Set("phase", validation::Value::String("Bound"));
  });
  // The claim as the scheduler wrote it has the node; what is known of it may be older.
  if (claim.selected_node) bound->selected_node = claim.selected_node;
  bound->volume_name = volume;
  bound->bind_completed = true;
  bound->phase = "Bound";
  bound->meta.resource_version = absl::StrCat(++last_version_);
  const std::shared_ptr<const api::PersistentVolumeClaim> before = std::exchange(known, bound);
  Show<api::PersistentVolumeClaim>(before, bound);
  Changed();
}

// A volume is provisioned for the claim at once, on the node that was chosen.
void World::UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) {
  After(options_.bind_delay, [this, id, claim] {
    auto volume = std::make_shared<api::PersistentVolume>();
    volume->meta.name = absl::StrCat("pvc-", claim->meta.uid.empty() ? claim->meta.name : claim->meta.uid);
    volume->meta.uid = volume->meta.name;
    volume->capacity = claim->request;
    volume->access_modes = claim->access_modes;
    volume->storage_class_name = claim->Class();
    volume->claim_ref = api::PersistentVolume::ClaimRef{claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
    volume->meta.fields = std::make_shared<const std::string>(absl::StrCat(
        "{\"metadata\":{\"name\":\"", volume->meta.name, "\",\"uid\":\"", volume->meta.uid,
        "\"},\"spec\":{\"capacity\":{\"storage\":\"", claim->request.String(), "\"},\"claimRef\":{",
        "\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"", claim->meta.ns.string(), "\",\"name\":\"",
        claim->meta.name, "\",\"uid\":\"", claim->meta.uid, "\"},\"storageClassName\":\"", claim->Class(), "\"}}"));
    volumes_[volume->meta.name] = volume;
    Reply(Done(id));
    Show<api::PersistentVolume>(nullptr, volume);
    BindClaim(*claim, volume->meta.name);
  });
}

// ---- what the scheduler decides -----------------------------------------------------------------

void World::Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t /*round_robin*/) {
  ++out_.attempts;
  BreakNextTie();
  PodState* const p = Find(pod->meta.uid);
  if (p == nullptr) return;
  ++p->attempts;
  p->spins = p->tried_at == changes_ && p->last_attempt == clock_.now();
  p->last_attempt = clock_.now();
  if (decision.outcome == scheduler::Decision::Outcome::kUnfit) p->spun = 0;
  if (decision.outcome == scheduler::Decision::Outcome::kPlaced) return;
  p->why = lab::MainReason(decision);
  if (p->tried_at == changes_) return;
  p->tried_at = changes_;
  ++tried_;
}

void World::BreakNextTie() {
  if (const auto number = ties_.Next()) core_->SetTurn(*number);
}

void World::PreemptionChosen(const api::PodPtr& /*pod*/, const scheduler::Preemption& preemption) {
  if (!preemption.victims.empty()) ++out_.preemptions;
}

}  // namespace berth::simulate
