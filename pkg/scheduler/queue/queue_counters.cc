#include "pkg/scheduler/queue/queue_counters.h"

namespace berth::scheduler {
namespace {

using Kind = ClusterEvent::Kind;

// Returns the name of a Kind or Cause as in Kubernetes 1.29 internal/queue/events.go.
// NOLINT(readability-function-size): one case for each name.
std::string_view NameOf(size_t cause) {
  switch (cause) {
    case QueueCounters::kPoppedEarly:
      return "PopFromBackoffQ";
    case QueueCounters::kPodAdd:
      return "PodAdd";
    case QueueCounters::kPodUpdate:
      return "PodUpdate";
    case QueueCounters::kAttemptFailed:
      return "ScheduleAttemptFailure";
    case QueueCounters::kBackoffOver:
      return "BackoffComplete";
    default:
      break;
  }
  switch (static_cast<Kind>(cause)) {
    case Kind::kAssignedPodAdd:
      return "AssignedPodAdd";
    case Kind::kAssignedPodUpdate:
    case Kind::kAssignedPodScaleDown:
      return "AssignedPodUpdate";
    case Kind::kAssignedPodDelete:
      return "AssignedPodDelete";
    case Kind::kNodeAdd:
      return "NodeAdd";
    case Kind::kNodeBecameSchedulable:
      return "NodeSpecUnschedulableChange";
    case Kind::kNodeAllocatable:
      return "NodeAllocatableChange";
    case Kind::kNodeLabels:
      return "NodeLabelChange";
    case Kind::kNodeTaints:
      return "NodeTaintChange";
    case Kind::kNodeConditions:
      return "NodeConditionChange";
    case Kind::kPersistentVolumeAdd:
      return "PvAdd";
    case Kind::kPersistentVolumeUpdate:
      return "PvUpdate";
    case Kind::kPersistentVolumeClaimAdd:
      return "PvcAdd";
    case Kind::kPersistentVolumeClaimUpdate:
      return "PvcUpdate";
    case Kind::kStorageClassAdd:
      return "StorageClassAdd";
    case Kind::kStorageClassUpdate:
      return "StorageClassUpdate";
    case Kind::kCsiNodeAdd:
      return "CSINodeAdd";
    case Kind::kCsiNodeUpdate:
      return "CSINodeUpdate";
    case Kind::kCsiDriverAdd:
      return "CSIDriverAdd";
    case Kind::kCsiDriverUpdate:
      return "CSIDriverUpdate";
    case Kind::kCsiStorageCapacityAdd:
      return "CSIStorageCapacityAdd";
    case Kind::kCsiStorageCapacityUpdate:
      return "CSIStorageCapacityUpdate";
    case Kind::kServiceAdd:
      return "ServiceAdd";
    case Kind::kServiceUpdate:
      return "ServiceUpdate";
    case Kind::kServiceDelete:
      return "ServiceDelete";
    case Kind::kUnschedulableTimeout:
      return "UnschedulableTimeout";
    default:
      return "WildCardEvent";
  }
}

}  // namespace

QueueCounts QueueCounters::Counts(bool names_resources) const {
  static constexpr std::array<std::string_view, kParts> kQueues = {"active", "backoff", "unschedulable"};
  QueueCounts counts;
  for (size_t cause = 0; cause < kCauses; ++cause) {
    for (size_t part = 0; part < kParts; ++part) {
      const uint64_t pods = came_[cause][part];
      if (pods == 0) continue;
      const bool is_event = names_resources && cause < EventsInFlight::kKinds;
      std::string_view name = is_event ? LabelOf(static_cast<Kind>(cause)) : std::string_view();
      if (names_resources && cause == kPodAdd) name = "UnschedulablePodAdd";
      if (names_resources && cause == kPodUpdate) name = "UnschedulablePodUpdate";
      counts.incoming.push_back({name.empty() ? NameOf(cause) : name, kQueues[part], pods});
    }
  }
  for (const auto& [key, pods] : rejected_) counts.rejected.push_back({key.first, key.second, pods});
  for (const auto& [key, took] : hints_) {
    const auto& [plugin, event, may_help] = key;
    counts.hints.push_back({plugin, event, may_help, took});
  }
  return counts;
}

}  // namespace berth::scheduler
