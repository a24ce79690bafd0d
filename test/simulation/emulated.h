// The release that the schedulers of a world emulate, and what the world must know of it: which configurations it
// reads, and what it does with pods, nodes and claims. All of it is read from what the release is, so that every
// release can be simulated and a new one needs no line here.
#pragma once
#include <absl/status/statusor.h>

#include <string>

#include "pkg/recording/format.h"
#include "pkg/release/release.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::simulation {

struct Emulated {
  // REQUIRES: a release of this name can be emulated.
  explicit Emulated(std::string_view name);

  const release::Id& id;
  const scheduler::Release& decides;
  const releases::DaemonForm& form;

  // Whether the release is configured by profiles of plugins alone, and not by Policies and providers.
  bool by_profiles = false;
  // Whether pods have priorities whatever the gates say.
  bool always_has_priorities = false;
  // Whether pods can wait for volumes with the gate VolumeScheduling, and whether they do unless it is off.
  bool can_schedule_volumes = false, schedules_volumes = false;
  // Whether nodes are chosen for claims that a provisioner fills, and claims are reserved until they are bound.
  bool provisions = false;
  // Whether the controllers of the release write a taint where a node is not ready.
  bool taints_by_condition = false;
  // Whether constraints on the spread of pods are understood. Otherwise such pods wait.
  bool spreads = false;

  // Returns how a scheduler is set up, but for its profiles.
  recording::CoreConfiguration Configuration(bool pod_priority, bool claims) const;
};

}  // namespace berth::simulation
