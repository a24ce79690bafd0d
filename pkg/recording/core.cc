#include "pkg/recording/core.h"

#include <absl/strings/str_cat.h>

#include "pkg/scheduler/algorithmprovider/releases.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/util/status.h"

namespace berth::recording {

using scheduler::GenericScheduler;

absl::StatusOr<std::unique_ptr<Core>> Core::Make(const CoreConfiguration& config, const Surroundings& around) {
  const scheduler::Release* release = scheduler::algorithmprovider::FindRelease(config.release);
  if (release == nullptr) {
    return util::InvalidArgument(absl::StrCat("release \"", config.release, "\" is not known; known are ",
                                              scheduler::algorithmprovider::ReleaseNames()));
  }
  std::unique_ptr<Core> core(new Core(*release));
  scheduler::FactoryArgs args;
  args.release = release;
  scheduler::AlgorithmGates& gates = args.gates.algorithm;
  gates.pod_priority = config.Gate("PodPriority");
  gates.volume_scheduling = config.Gate("VolumeScheduling");
  gates.block_volume = config.Gate("BlockVolume");
  gates.storage_object_in_use_protection = config.Gate("StorageObjectInUseProtection");
  args.gates.taint_nodes_by_condition = config.Gate("TaintNodesByCondition");
  args.gates.resource_limits_priority_function = config.Gate("ResourceLimitsPriorityFunction");

  scheduler::QueueOptions q;
  q.initial_backoff = config.initial_backoff;
  q.max_backoff = config.max_backoff;
  q.unschedulable_limit = config.unschedulable_limit;
  core->queue = gates.pod_priority ? scheduler::NewPriorityQueue(q) : scheduler::NewFifo();
  if (gates.volume_scheduling) core->volume_binder = std::make_unique<scheduler::VolumeBinder>(&core->cache, gates);
  args.cache = &core->cache;
  args.nominated = core->queue->nominated();
  args.volume_binder = core->volume_binder.get();
  args.hard_pod_affinity_symmetric_weight = config.hard_pod_affinity_symmetric_weight;
  args.make_extender = around.make_extender;

  scheduler::SchedulerOptions o;
  o.pod_priority = gates.pod_priority;
  o.initial_backoff = config.initial_backoff;
  o.max_backoff = config.max_backoff;
  o.max_requests_in_flight = static_cast<size_t>(config.max_requests_in_flight);
  o.observer = around.observer;
  core->scheduler = std::make_unique<scheduler::Scheduler>(&core->cache, core->queue.get(), core->volume_binder.get(),
                                                           around.actions, around.clock, std::move(o));
  for (const ProfileSource& p : config.profiles) {
    Profile profile;
    absl::StatusOr<std::unique_ptr<GenericScheduler>> built;
    if (!p.policy.empty()) {
      auto policy = scheduler::DecodePolicy(p.policy);
      if (!policy.ok()) return policy.status();
      built = scheduler::CreateFromConfig(*policy, args, &profile.effective);
    } else if (!p.configuration.empty()) {
      return util::InvalidArgument(absl::StrCat("scheduler ", p.scheduler_name,
                                                ": a KubeSchedulerConfiguration cannot be replayed by this program"));
    } else {
      built = scheduler::CreateFromProvider(p.provider, args, &profile.effective);
    }
    if (!built.ok()) {
      return util::InvalidArgument(absl::StrCat("scheduler ", p.scheduler_name, ": ", util::Message(built.status())));
    }
    profile.algorithm = *std::move(built);
    core->scheduler->AddProfile(p.scheduler_name, profile.algorithm.get());
    core->profiles[p.scheduler_name] = std::move(profile);
  }
  return core;
}

Core::Profile* Core::ProfileOf(const api::Pod& pod) {
  auto it = profiles.find(pod.tmpl->scheduler_name.string());
  return it == profiles.end() ? nullptr : &it->second;
}

}  // namespace berth::recording
