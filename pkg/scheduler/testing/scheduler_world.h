// Pods, nodes and a scheduler to test with. For tests only.
#pragma once
#include <absl/strings/str_cat.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "pkg/util/clock.h"

namespace berth::scheduler::testing {

struct PodArgs {
  int64_t cpu = 1;  // whole cpus
  int32_t priority = 0;
  std::string scheduler = "default-scheduler";
  std::string ns = "default";
  std::string claim = {};
};

inline std::shared_ptr<api::Pod> NewPod(const std::string& name, const PodArgs& args = {}) {
  api::PodTemplate t;
  t.ns = Symbol(args.ns);
  t.scheduler_name = Symbol(args.scheduler);
  t.priority = args.priority;
  api::Container c;
  c.requests = {{Symbol("cpu"), api::Quantity::FromInt(args.cpu)}};
  t.containers.push_back(c);
  if (!args.claim.empty()) t.volumes.emplace_back().id = args.claim;
  auto p = std::make_shared<api::Pod>();
  p->meta.name = name;
  p->meta.ns = t.ns;
  p->meta.uid = "uid-" + name;
  p->meta.resource_version.push_back('1');
  p->tmpl = api::PodTemplate::Intern(std::move(t));
  return p;
}

inline api::NodePtr NewNode(const std::string& name, int64_t cpu, std::string_view label = {}) {
  auto n = std::make_shared<api::Node>();
  n->meta.name = name;
  n->meta.uid = "uid-" + name;
  if (!label.empty()) n->labels = api::Labels({{Symbol("label"), Symbol(label)}});
  n->allocatable = {{Symbol("cpu"), api::Quantity::FromInt(cpu)},
                    {Symbol("memory"), api::Quantity::FromInt(int64_t{1} << 40)},
                    {Symbol("pods"), api::Quantity::FromInt(110)}};
  n->conditions = {{Symbol("Ready"), Symbol("True")}};
  return n;
}

// A scheduler with everything it needs, on a clock that is moved by hand.
struct World {
  // `registry` is null for the algorithms of release 1.10 with those of plugin/; it is copied.
  explicit World(Actions* actions, bool pod_priority = false, SchedulerOptions options = {},
                 const Registry* registry = nullptr)
      : queue(options.process->requeues_at_once ? NewEventQueue()
              : pod_priority                    ? NewPriorityQueue()
                                                : NewFifo()),
        volume_binder(&cache, AlgorithmGates{}) {
    FactoryArgs args;
    args.cache = &cache;
    args.nominated = queue->nominated();
    args.volume_binder = &volume_binder;
    args.gates.algorithm.pod_priority = pod_priority;
    args.clock = &clock;
    args.registry = registry;
    algorithm = CreateFromProvider("DefaultProvider", std::move(args)).value();
    options.pod_priority = pod_priority;
    scheduler = std::make_unique<Scheduler>(&cache, queue.get(), &volume_binder, actions, &clock, std::move(options));
    scheduler->AddProfile("default-scheduler", algorithm.get());
  }

  util::ManualClock clock;
  Cache cache;
  std::unique_ptr<SchedulingQueue> queue;
  VolumeBinder volume_binder;
  std::unique_ptr<GenericScheduler> algorithm;
  std::unique_ptr<Scheduler> scheduler;
};

}  // namespace berth::scheduler::testing
