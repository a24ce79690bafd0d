// A Scheduler together with everything that it needs to run. For tests only.
#pragma once
#include <memory>
#include <utility>

#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/testing/world.h"

namespace berth::scheduler::testing {

// A World with a Scheduler whose clock the test sets.
struct RunningScheduler : World {
  // If `registry` is null, the algorithms are those of the default release and of plugin/. The registry is copied.
  // Without a process, what happens around decisions is that of the default release, too.
  explicit RunningScheduler(Actions* actions, bool pod_priority = false, SchedulerOptions options = {},
                            const Registry* registry = nullptr)
      : RunningScheduler(releases::Of(release::Default()).decides, WithProcess(std::move(options)), actions,
                         pod_priority, registry) {}
  // Decides and proceeds as the release does, with pod priority.
  RunningScheduler(Actions* actions, const releases::Release& of)
      : RunningScheduler(of.decides, {.process = &of.process}, actions, true, nullptr) {}

  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<GenericScheduler> algorithm;
  std::unique_ptr<Scheduler> scheduler;

 private:
  static SchedulerOptions WithProcess(SchedulerOptions options) {
    if (options.process == nullptr) options.process = &releases::Of(release::Default()).process;
    return options;
  }
  RunningScheduler(const Release& decides, SchedulerOptions options, Actions* actions, bool pod_priority,
                   const Registry* registry)
      : World(decides),
        queue(options.process->requeues_at_once ? NewEventQueue()
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
};

}  // namespace berth::scheduler::testing
