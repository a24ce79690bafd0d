// A scheduler with everything that it needs. For tests only.
#pragma once
#include <memory>
#include <utility>

#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler::testing {

// A world with a running scheduler, on a clock that is moved by hand.
struct RunningScheduler : World {
  // `registry` is null for the algorithms of release 1.10 with those of plugin/; it is copied.
  explicit RunningScheduler(Actions* actions, bool pod_priority = false, SchedulerOptions options = {},
                            const Registry* registry = nullptr)
      : queue(options.process->requeues_at_once ? NewEventQueue()
              : pod_priority                    ? NewPriorityQueue()
                                                : NewFifo()) {
    FactoryArgs args = Args(pod_priority);
    args.nominated = queue->nominated();
    args.clock = &clock;
    args.registry = registry;
    algorithm = CreateFromProvider("DefaultProvider", std::move(args)).value();
    options.pod_priority = pod_priority;
    scheduler = std::make_unique<Scheduler>(&cache, queue.get(), &binder, actions, &clock, std::move(options));
    scheduler->AddProfile("default-scheduler", algorithm.get());
  }

  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<GenericScheduler> algorithm;
  std::unique_ptr<Scheduler> scheduler;
};

}  // namespace berth::scheduler::testing
