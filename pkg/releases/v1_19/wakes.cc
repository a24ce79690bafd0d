// Which events wake pods in release 1.19: any of those that it listens to wakes every pod that waits. Source:
// pkg/scheduler/eventhandlers.go and internal/queue (1.19). That a placed pod can shrink is newer; the room counts as
// that of a deleted pod.
#include "pkg/releases/v1_19/decides.h"

namespace berth::releases::v1_19 {

const scheduler::Wakes& RejectionWakes() {
  using scheduler::EventsOf;
  using enum scheduler::ClusterEvent::Kind;
  constexpr scheduler::EventSet kPods =
      EventsOf({kAssignedPodAdd, kAssignedPodUpdate, kAssignedPodDelete, kAssignedPodScaleDown});
  constexpr scheduler::EventSet kNodes =
      EventsOf({kNodeAdd, kNodeBecameSchedulable, kNodeAllocatable, kNodeLabels, kNodeTaints, kNodeConditions});
  constexpr scheduler::EventSet kVolumes =
      EventsOf({kPersistentVolumeAdd, kPersistentVolumeUpdate, kPersistentVolumeClaimAdd, kPersistentVolumeClaimUpdate,
                kCsiNodeAdd, kCsiNodeUpdate, kStorageClassAdd});
  constexpr scheduler::EventSet kServices = EventsOf({kServiceAdd, kServiceUpdate, kServiceDelete});
  static constexpr scheduler::Wakes kWakes = {.noticed = kPods | kNodes | kVolumes | kServices,
                                              .rules = {},
                                              .queue = {.looks_at_nodes = false,
                                                        .errors_wait_for_events = true,
                                                        .counts_any_node_change = true,
                                                        .updates_end_backoff = true}};
  return kWakes;
}

}  // namespace berth::releases::v1_19
