// A cluster and the schedulers that decide on it. For tests only.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "pkg/release/release.h"
#include "pkg/releases/releases.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/policy/decode.h"
#include "pkg/scheduler/testing/new_objects.h"
#include "pkg/scheduler/testing/objects.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "pkg/util/clock.h"

namespace berth::scheduler::testing {

// A cluster that a test fills. Makes schedulers of single decisions; RunningScheduler adds the queue and the loop.
struct World {
  explicit World(const Release& r = releases::Of(release::Default()).decides)
      : release(&r), cache(r.describe_template) {}

  const Release* release;
  util::ManualClock clock;
  Cache cache;
  NominatedPods nominated;
  VolumeBinder binder{&cache, AlgorithmGates{}};

  void Nodes(std::initializer_list<api::NodePtr> nodes) {
    for (const api::NodePtr& n : nodes) cache.AddNode(n);
  }
  void Place(const api::PodPtr& pod, std::string_view node) { REQUIRE(cache.AddPod(Bound(pod, node)).ok()); }
  void Service(std::string_view name, std::string_view selector) {
    cache.listers().services.Set(
        Decoded(api::DecodeService, Cat("{", Meta(name), ",'spec':{'selector':{", selector, "}}}")));
  }
  void Claim(std::string_view name, std::string_view spec, std::string_view more_meta = {}) {
    cache.listers().claims.Set(
        Decoded(api::DecodePersistentVolumeClaim, Cat("{", Meta(name, more_meta), ",'spec':{", spec, "}}")));
  }
  void Volume(std::string_view name, std::string_view spec, std::string_view more_meta = {}) {
    cache.listers().volumes.Set(Decoded(
        api::DecodePersistentVolume,
        Cat("{'metadata':{'name':'", name, "','uid':'uid-", name, "'", More(more_meta), "},'spec':{", spec, "}}")));
  }
  void Class(std::string_view name, std::string_view members) {
    cache.listers().storage_classes.Set(
        Decoded(api::DecodeStorageClass, Cat("{'metadata':{'name':'", name, "'}", More(members), "}")));
  }
  void Budget(std::string_view name, std::string_view selector, int allowed, std::string_view ns = "default") {
    cache.listers().budgets.Set(
        Decoded(api::DecodePodDisruptionBudget,
                Cat("{'metadata':{'name':'", name, "','namespace':'", ns, "'},'spec':{'selector':{'matchLabels':{",
                    selector, "}}},'status':{'disruptionsAllowed':", std::to_string(allowed), "}}")));
  }

  FactoryArgs Args(bool pod_priority = false) {
    FactoryArgs a;
    a.release = release;
    a.cache = &cache;
    a.volume_binder = &binder;
    a.gates.algorithm.pod_priority = pod_priority;
    a.nominated = pod_priority ? &nominated : nullptr;
    return a;
  }
  std::unique_ptr<GenericScheduler> Provider(bool pod_priority = false) {
    return CreateFromProvider("DefaultProvider", Args(pod_priority)).value();
  }
  // Returns a scheduler for a Policy, as JSON with single quotes.
  std::unique_ptr<GenericScheduler> FromPolicy(std::string_view policy, bool pod_priority = false) {
    auto decoded = DecodePolicy(std::string_view(Quoted(policy)));
    INFO(decoded.status().message());
    REQUIRE(decoded.ok());
    auto made = CreateFromConfig(*decoded, Args(pod_priority));
    INFO(made.status().message());
    REQUIRE(made.ok());
    return std::move(*made);
  }
};

// Returns the name of the node, or the error when there is none.
inline std::string Outcome(const scheduler::Decision& d) {
  return d.host.empty() ? d.error : d.host.string();
}

// Returns the result of one predicate, named as in a Policy, for one node: "fits", the reasons joined by "; ", or
// "error: ...".
inline std::string Evaluated(World& world, const std::string& predicate, const api::PodPtr& pod,
                             std::string_view node) {
  FactoryArgs args = world.Args();
  auto scheduler = CreateFromKeys({predicate}, {}, args).value();
  size_t at = 0;
  while (scheduler->config().predicates[at].name != predicate) ++at;
  for (const auto& [name, results] : scheduler->EvaluatePredicates(pod)) {
    if (name.str() != node) continue;
    const auto& j = results[at];
    if (j.verdict == Verdict::kError) return Cat("error: ", j.error.text);
    if (j.verdict == Verdict::kFits) return "fits";
    std::string out;
    for (const FailureReason& r : j.reasons) out += (out.empty() ? "" : "; ") + r.text.string();
    return out;
  }
  return "no such node";
}

// Returns the scores of one priority in ascending order of node names. REQUIRES: there are at least two nodes, and all
// of them fit.
inline std::vector<int64_t> Scored(World& world, const std::string& priority, const api::PodPtr& pod) {
  auto scheduler = world.FromPolicy(Cat("{'predicates':[],'priorities':[{'name':'", priority, "','weight':1}]}"));
  DecisionTrace trace;
  scheduler::Decision d = scheduler->Schedule(pod, DecisionMode::kReference, &trace);
  INFO(d.error);
  REQUIRE(trace.priorities.size() == 1);
  return trace.priorities[0].scores;
}

}  // namespace berth::scheduler::testing
