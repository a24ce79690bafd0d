#include "pkg/scheduler/assembly/assembly.h"

#include "pkg/scheduler/pod_fields.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

namespace {

// Returns `c` with priorities where the release cannot be without them: it has no gate PodPriority, whatever a caller
// or a recording says, and its queue always has nominations.
AssemblyConfig WithGatesOfRelease(AssemblyConfig c) {
  BERTH_REQUIRES(c.decides != nullptr && c.process != nullptr);
  if (c.process->requeues_at_once) c.gates.algorithm.pod_priority = true;
  return c;
}

}  // namespace

Assembly::Assembly(const AssemblyConfig& c)
    : config(WithGatesOfRelease(c)), cache(c.decides->describe_template, c.decides->cache) {
  MakeQueue();
  MakeBinder();
  if (config.decides->sampling != nullptr) {
    sampler = std::make_unique<NodeSampler>(&cache, *config.decides->sampling, config.percentage.value_or(100));
  }
  args.release = config.decides;
  args.gates = config.gates;
  args.cache = &cache;
  args.nominated = queue->nominated();
  args.volume_binder = volume_binder.get();
  args.claim_binder = claim_binder.get();
  args.sampler = config.percentage ? sampler.get() : nullptr;
  args.sampler_without_scores = sampler.get();
}

void Assembly::MakeQueue() {
  if (config.process->requeues_at_once) {
    EventQueueOptions q;
    q.initial_backoff = config.initial_backoff;
    q.max_backoff = config.max_backoff;
    q.unschedulable_limit = config.unschedulable_limit;
    q.wakes = config.decides->wakes;
    q.may_fit = [this](const api::Pod& pod, const api::Node& node) {
      const auto it = algorithms_.find(pod.tmpl->scheduler_name);
      return it == algorithms_.end() || it->second->PassesNodePredicates(pod, Symbol::Find(node.meta.name));
    };
    q.may_help = [this](const api::Pod& pod, Symbol rule, const ClusterEvent& event) {
      const auto it = algorithms_.find(pod.tmpl->scheduler_name);
      return it == algorithms_.end() || it->second->MayHelp(rule, pod, event);
    };
    q.asks_by_template = true;  // what they ask reads nothing else of such pods
    q.read_clock = [this] { return args.clock == nullptr ? absl::ZeroDuration() : args.clock->Steady(); };
    queue = NewEventQueue(q);
    return;
  }
  QueueOptions q;
  q.wakes = config.decides->wakes;
  q.initial_backoff = config.initial_backoff;
  q.max_backoff = config.max_backoff;
  q.unschedulable_limit = config.unschedulable_limit;
  const bool priorities = config.gates.algorithm.pod_priority;
  const bool by_priority = priorities && config.decides->orders_queue_by_priority;
  queue = by_priority ? NewPriorityQueue(q) : NewFifo(/*has_nominations=*/priorities);
}

void Assembly::MakeBinder() {
  const Release& release = *config.decides;
  const AlgorithmGates& gates = config.gates.algorithm;
  if (release.plugins != nullptr) {
    claim_binder = std::make_unique<ClaimBinder>(&cache, release.claims, release.volume_rules);
  } else if (gates.volume_scheduling && release.provisions_claims) {
    ClaimRules rules = release.claims;
    rules.compares_modes = gates.block_volume;
    claim_binder = std::make_unique<ClaimBinder>(&cache, rules);
  } else if (gates.volume_scheduling) {
    volume_binder = std::make_unique<VolumeBinder>(&cache, gates, release.claims.lists_by_specification);
  }
}

SchedulerOptions Assembly::Options() const {
  SchedulerOptions o;
  o.pod_priority = config.gates.algorithm.pod_priority;
  o.orders_queue_by_priority = config.decides->orders_queue_by_priority;
  o.process = config.process;
  o.understood_fields = PodFieldsUnderstoodBy(config.decides->version);
  o.claim_binder = claim_binder.get();
  o.initial_backoff = config.initial_backoff;
  o.max_backoff = config.max_backoff;
  return o;
}

}  // namespace berth::scheduler
