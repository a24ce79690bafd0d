// The inputs of the scheduler: changes from the informers, replies, and time; and the tables of pending pods.
//
// The watch may show an older state than the scheduler's own, because the scheduler's writes reach it through the watch
// with a delay. So the scheduler concludes nothing from the absence of a change: a pod is confirmed as bound only when
// the watch shows it with a node; a nomination that the scheduler has written counts until the watch shows the version
// that has it; and an assumed pod that is not confirmed in time is read before its resources are given to others.
#include "pkg/scheduler/scheduler.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/scheduler/claim_writes.h"
#include "pkg/scheduler/scheduler_events.h"
#include "pkg/scheduler/uid_admission.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler {

Scheduler::Scheduler(Cache* cache, SchedulingQueue* queue, VolumeBinder* volume_binder, Actions* actions,
                     const util::Clock* clock, SchedulerOptions options)
    : state_(std::make_unique<SchedulingState>(cache, queue, volume_binder, actions, clock, std::move(options))),
      s_(*state_),
      pending_(state_->pending),
      uids_(std::make_unique<UidAdmission>(state_.get())),
      failures_(s_.process.requeues_at_once ? NewRequeueAfterFailure(state_.get())
                                            : NewRefetchAfterFailure(state_.get())),
      claims_(s_.options.claim_binder == nullptr
                  ? ClaimWritesBeforeAssuming(state_.get(), failures_.get())
                  : ClaimWritesBeforeBinding(state_.get(), failures_.get(), [this](PendingPod& p) { StartBind(p); })) {}

Scheduler::~Scheduler() = default;

void Scheduler::AddProfile(std::string_view name, GenericScheduler* algorithm) {
  BERTH_REQUIRES(algorithm != nullptr && pending_pods() == 0);
  s_.profiles[Symbol(name)] = algorithm;
}

// ---- pods ---------------------------------------------------------------------------------------

bool Scheduler::Ours(const api::Pod& pod) const {
  return s_.profiles.contains(pod.tmpl->scheduler_name);
}

void Scheduler::Apply(const Change<api::Pod>& shown) {
  s_.now = s_.clock->Steady();
  ApplyPod(shown);
  AdmitFreed();
  if (s_.process.measures_events) {
    ObserveEvents(LabelsOf(shown, [this](const api::Pod& pod) { return Ours(pod); }));
  }
}

void Scheduler::ObserveEvents(const std::vector<std::string_view>& labels) {
  if (labels.empty()) return;
  const absl::Duration took = s_.clock->Steady() - s_.now;
  for (const std::string_view label : labels) {
    if (!label.empty()) s_.metrics.events[label].Observe(took);
  }
}

void Scheduler::ApplyPod(const Change<api::Pod>& shown) {
  Change<api::Pod> c = shown;
  if (c.after != nullptr) c.after = s_.fields.AsTaken(c.after);
  if (c.before != nullptr && (c.after == nullptr || c.after->meta.uid != c.before->meta.uid)) PodGone(*c.before);
  if (c.after == nullptr || !uids_->Admit(c.after)) return;
  s_.fields.CountUnknown(*c.after);
  if (c.after->Finished()) {
    PodGone(*c.after);
  } else if (!c.after->node_name.empty()) {
    PodAssigned(c.after);
  } else {
    PodPending(c.after);
  }
}

namespace {

// Returns whether one resourceVersion is not older than another. They are compared as numbers, which they are in every
// API server. Returns false while `written` is not known yet.
bool AtLeastAsNew(std::string_view shown, std::string_view written) {
  uint64_t a = 0, b = 0;
  return absl::SimpleAtoi(util::ToAbsl(shown), &a) && absl::SimpleAtoi(util::ToAbsl(written), &b) && a >= b;
}

}  // namespace

// Handles a pod that has a node: updates the cache, and ends the pending state of the pod unless the answer to its bind
// is still open.
void Scheduler::PodAssigned(const api::PodPtr& pod) {
  const api::PodPtr known = s_.cache->GetPod(pod->meta.uid);
  const bool assumed = known != nullptr && s_.cache->IsAssumed(pod->meta.uid);
  if (known == nullptr || assumed) {
    if (pending_.Find(*pod) != nullptr) s_.log.PodRemoved(*pod, /*assigned=*/false);
    s_.log.PodAdded(*pod, /*assigned=*/true);
    if (auto s = s_.cache->AddPod(pod); !s.ok()) s_.log.CacheFailed("AddPod", *pod, util::Message(s));
    s_.ClusterChanged<api::Pod>(ClusterEvent::Kind::kAssignedPodAdd, {nullptr, pod});
  } else {
    if (auto s = s_.cache->UpdatePod(pod); !s.ok()) s_.log.CacheFailed("UpdatePod", *pod, util::Message(s));
    const EventObject<api::Pod> both = {known, pod};
    if (SpecOrMetadataChanged(*known, *pod)) s_.ClusterChanged(ClusterEvent::Kind::kAssignedPodUpdate, both);
    // Anti-affinity and spreading read labels of other pods, so new labels may let any pod fit.
    if (known->tmpl != pod->tmpl) {
      s_.ClusterChanged(ClusterEvent::Kind::kAssignedPodLabels, both);
      if (AsksForLess(*known->tmpl, *pod->tmpl)) s_.ClusterChanged(ClusterEvent::Kind::kAssignedPodScaleDown, both);
    }
  }

  PendingPod* p = pending_.Find(*pod);
  if (p == nullptr) return;
  switch (p->place) {
    case Place::kBinding:
      p->confirmed = true;  // BindAnswered does the rest
      break;
    case Place::kBindUnknown:
      BindOutcome(*p, {}, pod);
      break;
    default:
      s_.Erase(*p);
  }
}

// Handles a pod without a node.
void Scheduler::PodPending(const api::PodPtr& pod) {
  PendingPod* p = pending_.Find(*pod);
  if (!Ours(*pod)) {
    // Kubernetes does not let spec.schedulerName change. If it does change, the pod is left to the other scheduler,
    // unless its bind is already under way.
    if (p != nullptr && p->place != Place::kBinding && p->place != Place::kBindUnknown) s_.Erase(*p);
    return;
  }
  if (p == nullptr) {
    if (s_.cache->GetPod(pod->meta.uid) != nullptr) {
      // A bound pod never loses its node. Either this change is old, or the API server has lost data.
      if (VLOG_IS_ON(1)) {
        LineAbout("A bound pod appeared without a node; reading it again from the API server", *pod).Info(1);
      }
      Verify(pending_.Add(pod, Place::kVerifying, s_.clock->Steady()));
      return;
    }
    s_.log.PodAdded(*pod, /*assigned=*/false);
    s_.fields.CountIgnored(*pod->tmpl);
    s_.Enqueue(pending_.Add(pod, Place::kQueued, s_.clock->Steady()));
    return;
  }

  const bool changed = SpecOrMetadataChanged(*p->pod, *pod);
  if (p->place == Place::kPreempting) p->gone = false;  // the watch had shown an old state
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
  const api::PodPtr before = std::exchange(p->pod, newest);
  if (before->nominated_node_name != newest->nominated_node_name) s_.NominationEnded(before);
  const bool waiting = p->place == Place::kQueued || p->place == Place::kBackoff || p->place == Place::kRefetching;
  if (waiting && pod->meta.deleting()) {
    // The next attempt would find out that the pod is being deleted, but the pod may be gone by then.
    pending_.CancelRequest(*p);
    pending_.StopWaiting(*p);
    if (p->place == Place::kQueued) s_.queue->Delete(*newest);
    return SkipDeleting(*p);
  }
  switch (p->place) {
    case Place::kQueued:
      s_.queue->Update(newest, changed, s_.now);
      break;
    case Place::kGated:
    case Place::kUnsupported:
      if (changed) s_.Enqueue(*p);
      break;
    case Place::kBackoff:
    case Place::kRefetching:
      if (changed) s_.TryAgainNow(*p);
      break;
    default:
      p->changed |= changed;
  }
}

void Scheduler::AdmitFreed() {
  while (const api::PodPtr pod = uids_->NextFreed()) ApplyPod({nullptr, pod});
}

// Handles a pod that was deleted or has finished.
void Scheduler::PodGone(const api::Pod& pod) {
  if (!uids_->Owns(pod)) {
    uids_->Drop(pod);
    return;
  }
  const api::PodPtr known = s_.cache->GetPod(pod.meta.uid);
  PendingPod* p = pending_.Find(pod);
  if (known != nullptr || p != nullptr) s_.log.PodRemoved(pod, /*assigned=*/p == nullptr || p->confirmed);
  if (known != nullptr) {
    if (auto s = s_.cache->RemovePod(*known); !s.ok()) s_.log.CacheFailed("RemovePod", *known, util::Message(s));
    s_.ClusterChanged<api::Pod>(ClusterEvent::Kind::kAssignedPodDelete, {known, nullptr});
  }
  if (p != nullptr && p->place == Place::kBinding) {
    p->gone = true;  // BindAnswered does the rest
    return;
  }
  if (p != nullptr) {
    const api::PodPtr last = p->pod;
    if (pending_.WaitsFor(*p, RequestKind::kVictim)) {
      // The event that says why the victim had to go is written when its deletion is answered, and then the pod is
      // erased.
      p->gone = true;
      s_.queue->nominated()->Remove(*last);
    } else {
      s_.Erase(*p);
    }
    return s_.NominationEnded(last);
  }
  s_.freed_uids.push_back(pod.meta.uid);
}

// ---- everything else ----------------------------------------------------------------------------

void Scheduler::Apply(const Change<api::Node>& c) {
  s_.now = s_.clock->Steady();
  if (c.after == nullptr) {
    s_.cache->RemoveNode(c.before->meta.name);
    s_.log.NodeChanged(c.before.get(), nullptr);
    s_.ClusterChanged<api::Node>(ClusterEvent::Kind::kNodeDelete, {c.before, nullptr});
    if (s_.process.measures_events) ObserveEvents(LabelsOf(c));
    return;
  }
  if (c.before != nullptr && c.before->SchedulesLike(*c.after)) return;  // such as a heartbeat
  s_.cache->AddNode(c.after);
  s_.log.NodeChanged(c.before.get(), c.after.get());
  s_.ClusterChanged<api::Node>(c.before == nullptr ? ClusterEvent::Kind::kNodeAdd : NodeChange(*c.before, *c.after),
                               {c.before, c.after});
  if (s_.process.measures_events) ObserveEvents(LabelsOf(c));
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
  s_.now = s_.clock->Steady();
  Store(s_.cache, c);
  if constexpr (std::is_same_v<T, api::PersistentVolume>) claims_->VolumeChanged(c);
  if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) claims_->ClaimChanged(c);
  if constexpr (std::is_same_v<T, api::PersistentVolume> || std::is_same_v<T, api::PersistentVolumeClaim> ||
                std::is_same_v<T, api::StorageClass> || std::is_same_v<T, api::CsiNode>) {
    s_.TryUnsupportedClaims();
  }
  const std::optional<Kind> event = EventOf(c);
  if (event) {
    if constexpr (std::is_constructible_v<EventObjects, EventObject<T>>) {
      s_.ClusterChanged<T>(*event, {c.before, c.after});
    } else {
      s_.ClusterChanged(*event);
    }
  }
  if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) claims_->AfterClaimEvent(c);
  AdmitFreed();
  if (!event || !s_.process.measures_events) return;
  constexpr bool kIsClass = std::is_same_v<T, api::DeviceClass>;
  if constexpr (kIsClass || std::is_same_v<T, api::ResourceSlice>) {
    ObserveEvents(LabelsOfDevices(kIsClass, c.before == nullptr));
  } else {
    ObserveEvents(LabelsOfStored(*event, c.before == nullptr));
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
  const std::optional<Request> request = pending_.TakeRequest(reply.id);
  if (!request) return;
  s_.now = s_.clock->Steady();
  Replied(*request, Checked(*request, reply));
  AdmitFreed();
}

void Scheduler::Replied(const Request& request, const Reply& r) {
  switch (request.kind) {
    case RequestKind::kBind:
      return BindAnswered(*request.pod, r.answer);
    case RequestKind::kBindOutcome:
      return BindOutcome(*request.pod, r.answer, r.pod);
    case RequestKind::kVerify:
      return Verified(*request.pod, r.answer, r.pod);
    case RequestKind::kVolume:
      return claims_->Written(*request.pod, r.answer);
    case RequestKind::kNode:
      if (r.answer.kind == Answer::Kind::kNotFound) s_.cache->RemoveNode(request.what);
      return;
    default:
      return failures_->Replied(request, r);
  }
}

void Scheduler::Tick() {
  s_.now = s_.clock->Steady();
  while (!s_.Saturated()) {
    PendingPod* p = pending_.TakeEnded(s_.now);
    if (p == nullptr) break;
    TimeUp(*p);
  }
  AdmitFreed();
  s_.queue->Flush(s_.now);
  if (s_.now < next_expiry_) return;
  next_expiry_ = s_.now + absl::Seconds(1);
  s_.backoff.Collect(s_.now);
  for (const api::PodPtr& pod : s_.cache->Expire(s_.now)) {
    ++s_.metrics.expired;
    // The pod may be bound and the watch far behind. So it is assumed again and keeps its resources until it was read.
    (void)s_.cache->AssumePod(pod);
    PendingPod* p = pending_.Find(*pod);
    if (p == nullptr) {
      p = &pending_.Add(pod, Place::kVerifying, s_.now);
    } else {
      pending_.SetPlace(*p, Place::kVerifying);
    }
    Verify(*p);
  }
}

// Continues what the pod has waited for.
void Scheduler::TimeUp(PendingPod& p) {
  switch (p.place) {
    case Place::kBackoff:
    case Place::kRefetching:
      failures_->TimeUp(p);
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
      claims_->TimeUp(p);
      break;
    case Place::kUnsupported:
      s_.Enqueue(p);
      break;
    default:
      LOG(DFATAL) << "a timer ran out for pod " << Name(*p.pod) << ", which is " << PlaceName(p.place);
  }
}

absl::Duration Scheduler::NextDeadline() const {
  absl::Duration next = s_.queue->NextFlush();
  if (!s_.Saturated()) next = std::min(next, pending_.FirstTimer());
  if (s_.cache->assumed_count() > 0) next = std::min(next, next_expiry_);
  return next;
}

}  // namespace berth::scheduler
