// What a scheduler of a release is made of, besides its rules: cache, queue, binders of volumes and sampler. The
// daemon, recordings, simulated time and experiments are all assembled here.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include <memory>
#include <optional>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler {

struct AssemblyConfig {
  const Release* decides = nullptr;  // REQUIRES: not null, as the next
  const Process* process = nullptr;
  SchedulerGates gates;
  // The share of nodes, in percent, that is looked at; absent: all.
  std::optional<int64_t> percentage;
  // How long pods wait after failed attempts, and at most without an event that may let them fit.
  absl::Duration initial_backoff = absl::Seconds(1), max_backoff = absl::Seconds(60);
  absl::Duration unschedulable_limit = absl::Seconds(60);
};

// The parts point to each other, so an Assembly is never moved. Its owner makes the schedulers with `args`.
struct Assembly {
  explicit Assembly(const AssemblyConfig& config);
  Assembly(const Assembly&) = delete;

  const AssemblyConfig config;
  Cache cache;
  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<VolumeBinder> volume_binder;  // for a release that does not provision claims, with VolumeScheduling
  std::unique_ptr<ClaimBinder> claim_binder;    // for one that does
  std::unique_ptr<NodeSampler> sampler;  // shared by all schedulers; null if the release always looks at all nodes
  // What schedulers are created with. The owner sets what does not depend on the release: the clock, extenders, the
  // weight of affinity.
  FactoryArgs args;

  // Says which scheduler decides about pods with this spec.schedulerName. It must outlive the assembly.
  void Register(Symbol scheduler_name, GenericScheduler* algorithm) { algorithms_[scheduler_name] = algorithm; }
  // Returns the options of a Scheduler that follow from the configuration.
  SchedulerOptions Options() const;

 private:
  void MakeQueue();
  void MakeBinder();

  absl::flat_hash_map<Symbol, GenericScheduler*> algorithms_;
};

}  // namespace berth::scheduler
