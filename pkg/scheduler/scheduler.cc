// The inputs of the scheduler: changes from the informers, replies, and time; and the tables of pending pods.
//
// The watch may show an older state than the scheduler's own, because the scheduler's writes reach it through the watch
// with a delay. So the scheduler concludes nothing from the absence of a change: a pod is confirmed as bound only when
// the watch shows it with a node; a nomination that the scheduler has written counts until the watch shows the version
// that has it; and an assumed pod that is not confirmed in time is read before its resources are given to others.
#include "pkg/scheduler/scheduler.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>
#include <map>

#include "pkg/scheduler/algorithm/volumes/attached_volumes.h"
#include "pkg/scheduler/scheduler_internal.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// Returns whether Kubernetes' volume controller regards the claim as bound: both sides of the binding are written.
bool IsBound(const api::PersistentVolumeClaim& claim) {
  return !claim.volume_name.empty() && claim.bind_completed;
}

}  // namespace

Scheduler::Scheduler(Cache* cache, SchedulingQueue* queue, VolumeBinder* volume_binder, Actions* actions,
                     const util::Clock* clock, SchedulerOptions options)
    : cache_(cache),
      queue_(queue),
      volume_binder_(volume_binder),
      actions_(actions),
      clock_(clock),
      options_(std::move(options)),
      process_(*options_.process),
      log_(*process_.log),
      now_(clock->Steady()),
      by_reason_(FailureReasonCount()),
      backoff_(options_.initial_backoff, options_.max_backoff) {}

Scheduler::~Scheduler() = default;

void Scheduler::AddProfile(std::string_view name, GenericScheduler* algorithm) {
  profiles_[Symbol(name)] = algorithm;
}

std::string_view Scheduler::PlaceName(Place p) {
  static constexpr std::array<std::string_view, kPlaces> kNames = {
      "queued",       "backoff", "refetching", "writing-status", "preempting", "writing-volumes", "binding",
      "bind-unknown", "bound",   "verifying",  "deleting",       "gated",      "unsupported"};
  return kNames[static_cast<size_t>(p)];
}

// ---- bookkeeping --------------------------------------------------------------------------------

Scheduler::Pending* Scheduler::Find(const api::Pod& pod) {
  auto it = pending_.find(pod.meta.uid);
  return it == pending_.end() ? nullptr : it->second.get();
}

// Adds a pod to the tables of pending pods, but not to the queue.
Scheduler::Pending& Scheduler::NewPending(const api::PodPtr& pod, Place place) {
  auto& slot = pending_[pod->meta.uid];
  slot = std::make_unique<Pending>();
  slot->pod = pod;
  slot->place = place;
  slot->since = clock_->Steady();
  slot->position = pending_list_.size();
  pending_list_.push_back(slot.get());
  ++by_place_[static_cast<size_t>(place)];
  slot->written_nomination = pod->nominated_node_name;
  slot->claims = ClaimsOf(*pod);
  for (const std::string& claim : slot->claims) by_claim_[claim].insert(slot.get());
  return *slot;
}

// Moves a pod from one place to another and keeps what is counted by place. Does not add it to the queue or remove it
// from there.
void Scheduler::SetPlace(Pending& p, Place place) {
  --by_place_[static_cast<size_t>(p.place)];
  ++by_place_[static_cast<size_t>(place)];
  CountGated(p, -1);
  p.place = place;
  CountGated(p, 1);
  if (p.claims.empty()) return;
  if (place == Place::kUnsupported) {
    unsupported_with_claims_.insert(&p);
  } else {
    unsupported_with_claims_.erase(&p);
  }
}

// Adds `by` to the metric of gated pods if the pod is one. Called before and after its place changes.
void Scheduler::CountGated(const Pending& p, int by) {
  if (p.place == Place::kGated) metrics_.by_profile[p.pod->tmpl->scheduler_name.string()].gated += by;
}

void Scheduler::Enqueue(Pending& p) {
  StopWaiting(p);
  if (!p.pod->tmpl->scheduling_gates.empty()) {
    SetPlace(p, Place::kGated);
    log_.Gated(*p.pod);
    return;
  }
  SetPlace(p, Place::kQueued);
  queue_->Add(p.pod);
}

// Looks at the profile's rules only when the release alone leaves fields that are not understood, because most pods
// have none.
UnknownPodFields Scheduler::UnknownFieldsOf(const api::PodTemplate& t) const {
  if (options_.ignore_unknown_fields) return {};
  UnknownPodFields unknown = FindUnknownPodFields(t, options_.understood_fields);
  if (unknown.ignored.none() && unknown.blocking.none()) return unknown;
  const auto profile = profiles_.find(t.scheduler_name);
  if (profile == profiles_.end()) return unknown;
  return FindUnknownPodFields(t, options_.understood_fields | PodFieldsUnderstoodBy(profile->second->config()));
}

PodFieldSet Scheduler::BlockingFieldsOf(const Pending& p) const {
  const api::PodTemplate& t = *p.pod->tmpl;
  PodFieldSet blocking = UnknownFieldsOf(t).blocking;
  constexpr auto kLimits = static_cast<size_t>(PodField::kCsiLimits);
  if (p.claims.empty() || options_.ignore_unknown_fields || options_.understood_fields[kLimits]) return blocking;
  if (!volumes::HasLimitedCsiVolumes(*cache_, *p.pod)) return blocking;
  const auto profile = profiles_.find(t.scheduler_name);
  blocking[kLimits] = profile == profiles_.end() || !PodFieldsUnderstoodBy(profile->second->config())[kLimits];
  return blocking;
}

void Scheduler::TryUnsupportedClaims() {
  if (unsupported_with_claims_.empty()) return;
  const std::vector<Pending*> pods(unsupported_with_claims_.begin(), unsupported_with_claims_.end());
  for (Pending* p : pods) {
    if (BlockingFieldsOf(*p).none()) Enqueue(*p);
  }
}

// Counts the templates with fields that this program does not know, and logs a warning for each.
void Scheduler::CountUnknownFields(const api::Pod& pod) {
  if (pod.tmpl->unknown_fields.empty()) return;
  auto& seen = templates_with_unknown_fields_[pod.tmpl.get()];
  // The address may have belonged to another template before.
  if (!seen.owner_before(pod.tmpl) && !pod.tmpl.owner_before(seen)) return;
  seen = pod.tmpl;
  for (const std::string& field : pod.tmpl->unknown_fields) {
    const bool listed = metrics_.unknown_fields.size() < kMostUnknownFields || metrics_.unknown_fields.contains(field);
    ++metrics_.unknown_fields[listed ? field : "others"];
  }
  LineAbout("A pod has fields that are newer than this program. They are ignored", pod)
      .Add("fields", absl::StrJoin(pod.tmpl->unknown_fields, ", "))
      .Warning();
  if (templates_with_unknown_fields_.size() < unknown_fields_sweep_) return;
  absl::erase_if(templates_with_unknown_fields_, [](const auto& entry) { return entry.second.expired(); });
  unknown_fields_sweep_ = std::max<size_t>(1024, 2 * templates_with_unknown_fields_.size());
}

// Counts the fields that are ignored, and logs a warning when a field is ignored for the first time.
void Scheduler::CountIgnoredFields(const api::PodTemplate& t) {
  const PodFieldSet ignored = UnknownFieldsOf(t).ignored;
  for (size_t i = 0; i < kPodFields; ++i) {
    if (!ignored[i] || metrics_.ignored_fields[i]++ > 0) continue;
    LOG(WARNING) << "Pods use a field that the emulated release does not understand; it is ignored: "
                 << PodFieldPath(static_cast<PodField>(i));
  }
}

void Scheduler::SetReasons(Pending& p, std::vector<FailureReasonId> reasons) {
  if (!p.reasons.empty()) --by_reason_[p.reasons[0]];
  p.reasons = std::move(reasons);
  if (!p.reasons.empty()) ++by_reason_[p.reasons[0]];
}

// Removes a pod from all tables. `p` is invalid afterwards.
void Scheduler::Erase(Pending& p) {
  CancelRequest(p);
  StopWaiting(p);
  SetReasons(p, {});
  unsupported_with_claims_.erase(&p);
  for (const std::string& claim : p.claims) {
    auto it = by_claim_.find(claim);
    it->second.erase(&p);
    if (it->second.empty()) by_claim_.erase(it);
  }
  // The queue identifies pods by name, and another pod may have this name by now, so only a queued pod is removed
  // there.
  if (p.place == Place::kQueued) queue_->Delete(*p.pod);
  queue_->Settled(*p.pod);
  if (NominatedPods* nominated = queue_->nominated()) nominated->Remove(*p.pod);
  if (p.place == Place::kBinding || p.place == Place::kBindUnknown) --binds_in_flight_;
  if (p.place == Place::kWritingVolumes && options_.claim_binder != nullptr) {
    options_.claim_binder->Forget(p.attempt->reserved);
  }
  --by_place_[static_cast<size_t>(p.place)];
  CountGated(p, -1);
  pending_list_.back()->position = p.position;
  pending_list_[p.position] = pending_list_.back();
  pending_list_.pop_back();
  const api::PodPtr pod = p.pod;
  pending_.erase(pending_.find(pod->meta.uid));
  AdmitNextWithUid(pod->meta.uid);
}

RequestId Scheduler::Ask(Asked asked, Pending* p, std::string what) {
  const RequestId id = ++last_request_;
  if (p != nullptr) {
    CancelRequest(*p);
    p->request = id;
  }
  requests_[id] = {asked, p, std::move(what)};
  return id;
}

void Scheduler::CancelRequest(Pending& p) {
  if (p.request != 0) requests_.erase(p.request);
  p.request = 0;
}

void Scheduler::Wait(Pending& p, absl::Duration until) {
  StopWaiting(p);
  p.timer = {until, ++last_timer_};
  timers_[p.timer] = &p;
}

void Scheduler::StopWaiting(Pending& p) {
  if (p.timer.second != 0) timers_.erase(p.timer);
  p.timer.second = 0;
}

absl::Duration Scheduler::NextRetry(Pending& p) {
  p.retry_wait =
      p.retry_wait == absl::ZeroDuration() ? absl::Milliseconds(200) : std::min(p.retry_wait * 2, absl::Seconds(60));
  return p.retry_wait;
}

std::vector<std::string> ClaimsOf(const api::Pod& pod) {
  std::vector<std::string> claims;
  for (const api::Volume& v : pod.tmpl->volumes) {
    const std::string ns = pod.meta.ns.string();
    if (v.kind == api::Volume::Kind::kClaim) claims.push_back(absl::StrCat(ns, "/", v.id));
    if (v.kind == api::Volume::Kind::kEphemeral) claims.push_back(absl::StrCat(ns, "/", pod.meta.name, "-", v.id));
  }
  return claims;
}

void Scheduler::TryAgainNow(Pending& p) {
  switch (p.place) {
    case Place::kQueued:
      queue_->Update(p.pod, true, now_);
      break;
    case Place::kBackoff:
    case Place::kRefetching:
      CancelRequest(p);
      StopWaiting(p);
      Enqueue(p);
      break;
    case Place::kWritingStatus:
    case Place::kPreempting:
      p.changed = true;  // lets BackIntoQueue add it as ready
      break;
    default:
      break;
  }
}

// Lets the pods be tried again whose claims are all bound now: their back-off was for the claim.
void Scheduler::ClaimBound(const api::PersistentVolumeClaim& claim) {
  auto users = by_claim_.find(claim.meta.Key());
  if (users == by_claim_.end()) return;
  const std::vector<Pending*> pods(users->second.begin(), users->second.end());
  for (Pending* p : pods) {
    const bool all_bound = std::all_of(p->claims.begin(), p->claims.end(), [&](const std::string& key) {
      const auto other = cache_->listers().claims.Get(p->pod->meta.ns, key.substr(key.find('/') + 1));
      return other != nullptr && IsBound(*other);
    });
    if (!all_bound) continue;
    backoff_.Reset(Name(*p->pod));
    TryAgainNow(*p);
  }
}

// ---- pods ---------------------------------------------------------------------------------------

void Scheduler::Apply(const Change<api::Pod>& shown) {
  now_ = clock_->Steady();
  Change<api::Pod> c = shown;
  if (options_.ignore_unknown_fields && c.after != nullptr)
    c.after = WithoutUnknownFields(c.after, options_.understood_fields);
  if (c.before != nullptr && (c.after == nullptr || c.after->meta.uid != c.before->meta.uid)) PodGone(*c.before);
  if (c.after == nullptr || !Admit(c.after)) return;
  CountUnknownFields(*c.after);
  if (c.after->Finished()) {
    PodGone(*c.after);
  } else if (!c.after->node_name.empty()) {
    PodAssigned(c.after);
  } else {
    PodPending(c.after);
  }
}

namespace {

// Returns whether one of the pod's amounts became smaller or was dropped, as at the end of a resize in place.
bool AsksForLess(const api::PodTemplate& before, const api::PodTemplate& after) {
  const auto shrank = [](const api::ResourceList& was, const api::ResourceList& is) {
    if (was == is) return false;
    const std::map<Symbol, api::Quantity> now(is.begin(), is.end());
    return std::any_of(was.begin(), was.end(), [&](const auto& entry) {
      const auto it = now.find(entry.first);
      return it == now.end() || it->second < entry.second;
    });
  };
  const auto any_shrank = [&](const std::vector<api::Container>& was, const std::vector<api::Container>& is) {
    for (size_t i = 0; i < was.size(); ++i) {
      if (shrank(was[i].requests, i < is.size() ? is[i].requests : api::ResourceList())) return true;
    }
    return false;
  };
  return any_shrank(before.containers, after.containers) || any_shrank(before.init_containers, after.init_containers) ||
         shrank(before.pod_requests, after.pod_requests);
}

// Returns whether one resourceVersion is not older than another. They are compared as numbers, which they are in every
// API server. Returns false while `written` is not known yet.
bool AtLeastAsNew(const std::string& shown, const std::string& written) {
  uint64_t a = 0, b = 0;
  return absl::SimpleAtoi(shown, &a) && absl::SimpleAtoi(written, &b) && a >= b;
}

}  // namespace

// Handles a pod that has a node: updates the cache, and ends the pending state of the pod unless the answer to its bind
// is still open.
void Scheduler::PodAssigned(const api::PodPtr& pod) {
  const api::PodPtr known = cache_->GetPod(pod->meta.uid);
  const bool assumed = known != nullptr && cache_->IsAssumed(pod->meta.uid);
  if (known == nullptr || assumed) {
    if (auto s = cache_->AddPod(pod); !s.ok()) log_.CacheFailed("AddPod", *pod, util::Message(s));
    Happened(ClusterEvent::Kind::kAssignedPodAdd, pod.get());
  } else {
    if (auto s = cache_->UpdatePod(pod); !s.ok()) log_.CacheFailed("UpdatePod", *pod, util::Message(s));
    if (SpecOrMetadataChanged(*known, *pod)) Happened(ClusterEvent::Kind::kAssignedPodUpdate, pod.get());
    // Anti-affinity and spreading read labels of other pods, so new labels may let any pod fit.
    if (known->tmpl != pod->tmpl) {
      Happened(ClusterEvent::Kind::kAssignedPodLabels);
      if (AsksForLess(*known->tmpl, *pod->tmpl)) Happened(ClusterEvent::Kind::kAssignedPodScaleDown);
    }
  }

  Pending* p = Find(*pod);
  if (p == nullptr) return;
  switch (p->place) {
    case Place::kBinding:
      p->confirmed = true;  // BindAnswered does the rest
      break;
    case Place::kBindUnknown:
      BindOutcome(*p, {}, pod);
      break;
    default:
      Erase(*p);
  }
}

// Handles a pod without a node.
void Scheduler::PodPending(const api::PodPtr& pod) {
  Pending* p = Find(*pod);
  if (!Ours(*pod)) {
    // Kubernetes does not let spec.schedulerName change. If it does change, the pod is left to the other scheduler,
    // unless its bind is already under way.
    if (p != nullptr && p->place != Place::kBinding && p->place != Place::kBindUnknown) Erase(*p);
    return;
  }
  if (p == nullptr) {
    if (cache_->GetPod(pod->meta.uid) != nullptr) {
      // A bound pod never loses its node. Either this change is old, or the API server has lost data.
      if (VLOG_IS_ON(1)) {
        LineAbout("A pod that was bound is shown without a node. Asking the API server which is true", *pod).Info(1);
      }
      Verify(NewPending(pod, Place::kVerifying));
      return;
    }
    CountIgnoredFields(*pod->tmpl);
    Enqueue(NewPending(pod, Place::kQueued));
    return;
  }

  const bool changed = SpecOrMetadataChanged(*p->pod, *pod);
  if (!p->nomination) p->written_nomination = pod->nominated_node_name;
  api::PodPtr newest = pod;
  if (p->nomination) {
    if (pod->nominated_node_name == p->nomination->first ||
        AtLeastAsNew(pod->meta.resource_version, p->nomination->second)) {
      p->nomination.reset();
    } else {
      newest = WithNomination(*pod, p->nomination->first);
    }
  }
  p->pod = newest;
  const bool waiting = p->place == Place::kQueued || p->place == Place::kBackoff || p->place == Place::kRefetching;
  if (waiting && pod->meta.deleting()) {
    // The next attempt would find out that the pod is being deleted, but the pod may be gone by then.
    CancelRequest(*p);
    StopWaiting(*p);
    if (p->place == Place::kQueued) queue_->Delete(*newest);
    return SkipDeleting(*p);
  }
  switch (p->place) {
    case Place::kQueued:
      queue_->Update(newest, changed, now_);
      break;
    case Place::kGated:
    case Place::kUnsupported:
      if (changed) Enqueue(*p);
      break;
    case Place::kBackoff:
    case Place::kRefetching:
      if (changed) TryAgainNow(*p);
      break;
    default:
      p->changed |= changed;
  }
}

// Handles a pod that was deleted or has finished.
void Scheduler::PodGone(const api::Pod& pod) {
  if (!IsOwnerOfUid(pod)) {
    auto others = duplicates_.find(pod.meta.uid);
    if (others == duplicates_.end()) return;
    others->second.erase(pod.meta.Key());
    if (others->second.empty()) duplicates_.erase(others);
    return;
  }
  const api::PodPtr known = cache_->GetPod(pod.meta.uid);
  if (known != nullptr) {
    if (auto s = cache_->RemovePod(*known); !s.ok()) log_.CacheFailed("RemovePod", *known, util::Message(s));
    Happened(ClusterEvent::Kind::kAssignedPodDelete, &pod);
  }
  Pending* p = Find(pod);
  if (p != nullptr && p->place == Place::kBinding) {
    p->gone = true;  // BindAnswered does the rest
    return;
  }
  if (p != nullptr) return Erase(*p);
  AdmitNextWithUid(pod.meta.uid);
}

// ---- everything else ----------------------------------------------------------------------------

void Scheduler::Apply(const Change<api::Node>& c) {
  now_ = clock_->Steady();
  if (c.after == nullptr) {
    cache_->RemoveNode(c.before->meta.name);
    log_.NodeChanged(c.before.get(), nullptr);
    return Happened(ClusterEvent::Kind::kNodeDelete);
  }
  if (c.before != nullptr && c.before->SchedulesLike(*c.after)) return;  // such as a heartbeat
  cache_->AddNode(c.after);
  log_.NodeChanged(c.before.get(), c.after.get());
  Happened(c.before == nullptr ? ClusterEvent::Kind::kNodeAdd : NodeChange(*c.before, *c.after), nullptr,
           c.after.get());
}

namespace {

using Kind = ClusterEvent::Kind;

// Applies the change to the cache's store of the kind.
template <typename T>
void Store(Cache* cache, const Change<T>& c) {
  auto& store = cache->listers().Of<T>();
  if (c.after != nullptr) {
    store.Set(c.after);
  } else {
    store.Remove(c.before->meta.ns, c.before->meta.name);
  }
}

// Returns the event for the queue, or nothing if no event is passed to the queue for this change.
template <typename T>
std::optional<Kind> EventOf(const Change<T>& c) {
  constexpr bool kOtherEvents = std::is_same_v<T, api::CsiNode> || std::is_same_v<T, api::CsiDriver> ||
                                std::is_same_v<T, api::CsiStorageCapacity> || std::is_same_v<T, api::ResourceClaim> ||
                                std::is_same_v<T, api::ResourceSlice> || std::is_same_v<T, api::DeviceClass> ||
                                std::is_same_v<T, api::VolumeAttachment>;
  if constexpr (std::is_same_v<T, api::Service>) {
    if (c.after == nullptr) return Kind::kServiceDelete;
    return c.before == nullptr ? Kind::kServiceAdd : Kind::kServiceUpdate;
  }
  if constexpr (std::is_same_v<T, api::StorageClass>) {
    if (c.before != nullptr && c.after != nullptr) return Kind::kStorageClassUpdate;
    const bool late = c.after != nullptr && c.after->binding_mode == "WaitForFirstConsumer";
    return late ? Kind::kStorageClassAdd : Kind::kStorageClassOther;
  }
  if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) {
    if (c.after == nullptr) return Kind::kPersistentVolumeClaimDelete;
    return c.before == nullptr ? Kind::kPersistentVolumeClaimAdd : Kind::kPersistentVolumeClaimUpdate;
  }
  if constexpr (std::is_same_v<T, api::VolumeAttachment>) {
    return c.after == nullptr ? std::optional(Kind::kVolumeAttachmentDelete) : std::nullopt;
  }
  if (c.after == nullptr) return std::nullopt;
  if constexpr (std::is_same_v<T, api::ResourceClaim>) {
    return c.before == nullptr ? Kind::kResourceClaimAdd : Kind::kResourceClaimUpdate;
  }
  if constexpr (std::is_same_v<T, api::ResourceSlice> || std::is_same_v<T, api::DeviceClass>) {
    return Kind::kDevicesChange;
  }
  if constexpr (std::is_same_v<T, api::PersistentVolume>) {
    return c.before == nullptr ? Kind::kPersistentVolumeAdd : Kind::kPersistentVolumeUpdate;
  }
  if constexpr (std::is_same_v<T, api::CsiNode>) return c.before ? Kind::kCsiNodeUpdate : Kind::kCsiNodeAdd;
  if constexpr (std::is_same_v<T, api::CsiDriver>) return c.before ? Kind::kCsiDriverUpdate : Kind::kCsiDriverAdd;
  if constexpr (std::is_same_v<T, api::CsiStorageCapacity>) {
    return c.before ? Kind::kCsiStorageCapacityUpdate : Kind::kCsiStorageCapacityAdd;
  }
  if constexpr (!kOtherEvents) return std::nullopt;
}

}  // namespace

template <typename T>
void Scheduler::ApplyStored(const Change<T>& c) {
  now_ = clock_->Steady();
  Store(cache_, c);
  if constexpr (std::is_same_v<T, api::PersistentVolume>) {
    const std::string& name = (c.after ? c.after : c.before)->meta.name;
    if (volume_binder_ != nullptr) volume_binder_->VolumeChanged(name);
    if (options_.claim_binder != nullptr) {
      options_.claim_binder->VolumeChanged(name);
      for (const auto& v : {c.before, c.after}) {
        if (v != nullptr && v->claim_ref) ReservedClaimChanged(absl::StrCat(v->claim_ref->ns, "/", v->claim_ref->name));
      }
    }
  }
  if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) {
    if (options_.claim_binder != nullptr) {
      const api::ObjectMeta& meta = (c.after ? c.after : c.before)->meta;
      options_.claim_binder->ClaimChanged(meta.ns, meta.name);
      ReservedClaimChanged(meta.Key());
    }
  }
  if constexpr (std::is_same_v<T, api::PersistentVolume> || std::is_same_v<T, api::PersistentVolumeClaim> ||
                std::is_same_v<T, api::StorageClass> || std::is_same_v<T, api::CsiNode>) {
    TryUnsupportedClaims();
  }
  if (const std::optional<Kind> event = EventOf(c)) Happened(*event);
  if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) {
    if (options_.claim_binder != nullptr) return;  // in 1.29 the event wakes the pods that it concerns
    if (c.after != nullptr && IsBound(*c.after) && (c.before == nullptr || !IsBound(*c.before))) ClaimBound(*c.after);
  }
}

#define BERTH_APPLIED(type, ...)                      \
  void Scheduler::Apply(const Change<api::type>& c) { \
    ApplyStored(c);                                   \
  }
BERTH_STORED_KINDS(BERTH_APPLIED)
#undef BERTH_APPLIED

// ---- replies and time ---------------------------------------------------------------------------

void Scheduler::Apply(const Reply& reply) {
  auto it = requests_.find(reply.id);
  if (it == requests_.end()) return;
  now_ = clock_->Steady();
  const Request request = std::move(it->second);
  requests_.erase(it);
  if (request.pod != nullptr) request.pod->request = 0;
  const Reply r = Checked(request, reply);
  switch (request.asked) {
    case Asked::kBind:
      return BindAnswered(*request.pod, r.answer);
    case Asked::kBindOutcome:
      return BindOutcome(*request.pod, r.answer, r.pod);
    case Asked::kCondition: {
      Pending& p = *request.pod;
      if (r.answer.ok()) {
        if (r.pod != nullptr) p.pod = r.pod;
        p.unwritten.reset();
      } else if (r.answer.kind != Answer::Kind::kConflict) {
        // After a conflict, the condition is written again when the pod has been read. After any other error, it is
        // left to the next attempt.
        if (!p.unsupported) p.unwritten.reset();
        LOG(WARNING) << "Cannot update the PodScheduled condition of pod " << Name(*p.pod) << ": " << r.answer.message;
      }
      return StatusDone(p);
    }
    case Asked::kLateCondition:
      if (!r.answer.ok()) {
        LOG(WARNING) << "Cannot update the PodScheduled condition of pod " << request.what << ": " << r.answer.message;
      }
      return;
    case Asked::kRefetch:
      return Refetched(*request.pod, r.answer, r.pod);
    case Asked::kPreemptor:
      if (process_.requeues_at_once) return PreemptorRead(*request.pod, r.answer, r.pod);
      return Preempt(*request.pod, r.answer, r.pod);
    case Asked::kNominate:
      return Nominated(*request.pod, r.answer, r.pod);
    case Asked::kVictim:
      return process_.requeues_at_once ? VictimEvicted(*request.pod, r.answer) : VictimDeleted(*request.pod, r.answer);
    case Asked::kVictimCondition:
      return VictimMarked(*request.pod, r.answer);
    case Asked::kStatusPatch:
      return StatusPatched(request.what, r);
    case Asked::kClearNomination:
      if (!r.answer.ok()) LOG(ERROR) << "Cannot remove nominated node annotation of pod: " << r.answer.message;
      return;
    case Asked::kReservation:
      return ReservationWritten(*request.pod, r.answer);
    case Asked::kVolume:
      return VolumeWritten(*request.pod, r.answer);
    case Asked::kVerify:
      return Verified(*request.pod, r.answer, r.pod);
    case Asked::kNode:
      if (r.answer.kind == Answer::Kind::kNotFound) cache_->RemoveNode(request.what);
      return;
  }
}

void Scheduler::Tick() {
  now_ = clock_->Steady();
  while (!timers_.empty() && timers_.begin()->first.first <= now_ && !Saturated()) {
    Pending* p = timers_.begin()->second;
    StopWaiting(*p);
    TimeUp(*p);
  }
  queue_->Flush(now_);
  if (now_ < next_expiry_) return;
  next_expiry_ = now_ + absl::Seconds(1);
  backoff_.Collect(now_);
  for (const api::PodPtr& pod : cache_->Expire(now_)) {
    ++metrics_.expired;
    // The pod may be bound and the watch far behind. So it is assumed again and keeps its resources until it was read.
    (void)cache_->AssumePod(pod);
    Pending* p = Find(*pod);
    if (p == nullptr) {
      p = &NewPending(pod, Place::kVerifying);
    } else {
      SetPlace(*p, Place::kVerifying);
    }
    Verify(*p);
  }
}

// Continues what the pod has waited for.
void Scheduler::TimeUp(Pending& p) {
  switch (p.place) {
    case Place::kBackoff:
    case Place::kRefetching:
      Refetch(p);
      break;
    case Place::kBinding:
      Bind(p);
      break;
    case Place::kBindUnknown:
      AskBindOutcome(p);
      break;
    case Place::kVerifying:
      Verify(p);
      break;
    case Place::kWritingVolumes:
      ReservationTimedOut(p);
      break;
    case Place::kUnsupported:
      Enqueue(p);
      break;
    default:
      LOG(DFATAL) << "a timer ran out for pod " << Name(*p.pod) << ", which is " << PlaceName(p.place);
  }
}

absl::Duration Scheduler::NextDeadline() const {
  absl::Duration next = queue_->NextFlush();
  if (!timers_.empty() && !Saturated()) next = std::min(next, timers_.begin()->first.first);
  if (cache_->assumed_count() > 0) next = std::min(next, next_expiry_);
  return next;
}

}  // namespace berth::scheduler
