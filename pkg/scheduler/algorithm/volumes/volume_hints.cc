// Queueing hints of the plugins about volumes. Source: EventsToRegister and the functions isSchedulableAfter... of
// volumerestrictions, nodevolumelimits, volumebinding and volumezone in pkg/scheduler/framework/plugins (1.36).
#include <algorithm>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/algorithm/volumes/zone_columns.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"

namespace berth::scheduler::volumes {
namespace {

using Kind = api::Volume::Kind;

bool HasClaim(const api::Volume& v) {
  return v.kind == Kind::kClaim || v.kind == Kind::kEphemeral;
}

// Returns whether the event is about a claim of the pod. An event without its claim is.
bool IsOwnClaim(const api::Pod& pod, const ClusterEvent& e) {
  const api::PersistentVolumeClaim* claim = e.After<api::PersistentVolumeClaim>();
  return claim == nullptr || hints::UsesClaim(pod, claim->meta.ns, claim->meta.name);
}

// Returns whether a driver of the CSINode may attach more volumes than before. A driver without a limit before or
// after the change does not count.
bool AttachesMore(const api::CsiNode& before, const api::CsiNode& after) {
  return std::any_of(after.drivers.begin(), after.drivers.end(), [&](const api::CsiNode::Driver& now) {
    return now.limit && std::any_of(before.drivers.begin(), before.drivers.end(), [&](const api::CsiNode::Driver& was) {
             return was.name == now.name && was.limit && *was.limit < *now.limit;
           });
  });
}

// Returns whether the storage takes larger volumes than before.
bool HoldsMore(const api::CsiStorageCapacity& before, const api::CsiStorageCapacity& after) {
  const auto limit = [](const api::CsiStorageCapacity& c) {
    return c.maximum_volume_size ? c.maximum_volume_size : c.capacity;
  };
  return limit(after) && (!limit(before) || *limit(before) < *limit(after));
}

bool SameTopologies(const api::StorageClass& a, const api::StorageClass& b) {
  return std::equal(a.allowed_topologies.begin(), a.allowed_topologies.end(), b.allowed_topologies.begin(),
                    b.allowed_topologies.end(),
                    [](const auto& x, const auto& y) { return x.expressions == y.expressions; });
}

// Returns whether the labels differ in a zone or a region.
bool ZonesDiffer(const api::Labels& a, const api::Labels& b) {
  return std::ranges::any_of(ZoneColumns::Labels(), [&](Symbol key) { return a.Get(key) != b.Get(key); });
}

// Calls f with the objects before and after; returns true where one of them is missing.
template <typename T, typename F>
bool Both(const ClusterEvent& e, F f) {
  const T *before = e.Before<T>(), *after = e.After<T>();
  return before == nullptr || after == nullptr || f(*before, *after);
}

}  // namespace

bool RestrictionsLifted(const api::Pod& pod, const ClusterEvent& e) {
  if (e.kind == ClusterEvent::Kind::kPersistentVolumeClaimAdd) return IsOwnClaim(pod, e);
  const api::Pod* gone = e.Before<api::Pod>();
  if (e.kind != ClusterEvent::Kind::kAssignedPodDelete || gone == nullptr) return true;
  if (gone->meta.ns != pod.meta.ns) return false;
  const auto& freed = gone->tmpl->volumes;
  return std::any_of(pod.tmpl->volumes.begin(), pod.tmpl->volumes.end(), [&](const api::Volume& mine) {
    return std::any_of(freed.begin(), freed.end(), [&](const api::Volume& v) {
      return DisksConflict(mine, v) || (mine.kind == Kind::kClaim && v.kind == Kind::kClaim && mine.id == v.id);
    });
  });
}

bool VolumeRoomMade(const api::Pod& pod, const ClusterEvent& e) {
  using enum ClusterEvent::Kind;
  const auto& volumes = pod.tmpl->volumes;
  switch (e.kind) {
    case kPersistentVolumeClaimAdd:
      return IsOwnClaim(pod, e);
    case kCsiNodeUpdate:
      return Both<api::CsiNode>(e, AttachesMore);
    case kAssignedPodDelete: {
      const api::Pod* gone = e.Before<api::Pod>();
      if (gone == nullptr) return true;
      const auto& freed = gone->tmpl->volumes;
      return hints::HadPlace(*gone) && std::any_of(freed.begin(), freed.end(), [](const api::Volume& v) {
               return HasClaim(v) || !CsiDriverOf(InTreePluginOf(v)).empty();
             });
    }
    case kVolumeAttachmentDelete: {
      const api::VolumeAttachment* gone = e.Before<api::VolumeAttachment>();
      return gone == nullptr || std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& v) {
               return v.kind == Kind::kClaim || (!CsiDriverOf(InTreePluginOf(v)).empty() &&
                                                 CsiDriverOf(InTreePluginOf(v)) == gone->attacher.str());
             });
    }
    default:
      return true;
  }
}

bool ClaimsMadeBindable(const api::Pod& pod, const ClusterEvent& e) {
  using enum ClusterEvent::Kind;
  switch (e.kind) {
    case kPersistentVolumeClaimAdd:
    case kPersistentVolumeClaimUpdate:
      return IsOwnClaim(pod, e);
    case kStorageClassUpdate:
      return Both<api::StorageClass>(e, [](const auto& was, const auto& is) { return !SameTopologies(was, is); });
    case kCsiNodeUpdate:
      return Both<api::CsiNode>(
          e, [](const auto& was, const auto& is) { return was.migrated_plugins != is.migrated_plugins; });
    case kCsiDriverUpdate:
      // Whether the pod has an inline volume of the driver is not known here, so that each pod is woken.
      return Both<api::CsiDriver>(
          e, [](const auto& was, const auto& is) { return was.storage_capacity && !is.storage_capacity; });
    case kCsiStorageCapacityUpdate:
      return Both<api::CsiStorageCapacity>(e, HoldsMore);
    default:
      return true;
  }
}

bool ZonesMadeToMatch(const api::Pod& pod, const ClusterEvent& e) {
  using enum ClusterEvent::Kind;
  switch (e.kind) {
    case kPersistentVolumeClaimAdd:
    case kPersistentVolumeClaimUpdate:
      return IsOwnClaim(pod, e);
    case kPersistentVolumeUpdate:
      return Both<api::PersistentVolume>(
          e, [](const auto& was, const auto& is) { return ZonesDiffer(was.labels, is.labels); });
    default:
      return true;
  }
}

}  // namespace berth::scheduler::volumes
