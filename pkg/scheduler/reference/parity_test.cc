// Compares the production schedulers of 1.10 with the independent reference, on random clusters with random histories:
// every predicate and every priority for every node, sequences of decisions, and preemption. Several schedulers share
// one cache.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

#include <catch2/catch.hpp>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/scheduler/reference/lockstep.h"
#include "pkg/scheduler/reference/reference.h"

namespace berth::scheduler::reference {
namespace {

using Failures = std::map<std::string, std::vector<std::string>>;

// Returns "node: reason; reason" for each node, with the reasons sorted. Catch can print this.
std::vector<std::string> Sorted(Failures f) {
  std::vector<std::string> out;
  for (auto& [node, reasons] : f) {
    std::sort(reasons.begin(), reasons.end());
    out.push_back(absl::StrCat(node, ": ", absl::StrJoin(reasons, "; ")));
  }
  return out;
}

std::vector<std::string> FailuresOf(const NodeFailures& failures) {
  Failures out;
  failures.ForEach([&](util::Symbol node, const std::vector<FailureReason>& reasons) {
    for (const FailureReason& r : reasons) {
      out[node.string()].push_back(r.text.string());
      if (r.unresolvable != Unresolvable(r.text.string())) out[node.string()].push_back("wrongly marked");
    }
  });
  return Sorted(out);
}

// Three schedulers with the same algorithm: one that decides by calling every rule and fills traces, one that decides
// incrementally, and the independent reference.
struct Contender {
  std::string name;
  std::unique_ptr<GenericScheduler> traced, plain;
  std::unique_ptr<Scheduler> reference;
};

void CompareEvaluations(Contender& c, const Lockstep& world, const api::PodPtr& pod) {
  std::vector<PredicateKey> keys = InOrder(c.reference->settings().predicates);
  auto all = c.traced->EvaluatePredicates(pod);
  REQUIRE(all.size() == world.model.listed());
  for (const auto& [node, evaluations] : all) {
    REQUIRE(evaluations.size() == keys.size());
    const NodeState& here = world.model.nodes.at(node.string());
    for (size_t i = 0; i < keys.size(); ++i) {
      Answer want = Evaluate(keys[i], Question{world.model, c.reference->settings(), *pod, here});
      const auto& got = evaluations[i];
      INFO(keys[i].name << " on " << node.string());
      CHECK((got.verdict == Verdict::kFits) == (want.error.empty() && want.fit));
      CHECK(got.error.text == want.error);
      std::vector<std::string> reasons;
      for (const FailureReason& r : got.reasons) reasons.push_back(r.text.string());
      std::sort(reasons.begin(), reasons.end());
      std::sort(want.reasons.begin(), want.reasons.end());
      CHECK(reasons == want.reasons);
    }
  }
}

void CompareTrace(const DecisionTrace& trace, const Decision& want) {
  std::vector<std::string> feasible;
  for (util::Symbol s : trace.feasible) feasible.push_back(s.string());
  CHECK(feasible == want.feasible);
  if (trace.failures != nullptr) CHECK(FailuresOf(*trace.failures) == Sorted(want.failures));
  CHECK(trace.totals.size() == want.totals.size());
  if (want.totals.size() != trace.totals.size() || trace.totals.empty()) return;
  for (size_t i = 0; i < feasible.size(); ++i) {
    INFO("on " << feasible[i]);
    for (const auto& p : trace.priorities) {
      INFO(p.name);
      REQUIRE(want.scores.contains(p.name));
      CHECK(p.scores[i] == want.scores.at(p.name).at(feasible[i]));
    }
    CHECK(trace.priorities.size() == want.scores.size());
    CHECK(trace.totals[i] == want.totals.at(feasible[i]));
  }
}

void ComparePreemption(GenericScheduler& scheduler, const Scheduler& reference, const Lockstep& world,
                       const api::PodPtr& pod, const scheduler::Decision& got, const Decision& want) {
  scheduler::Preemption p = scheduler.Preempt(pod, *got.failures);
  Preemption w = reference.Preempt(world.model, *pod, want.failures);
  std::vector<std::string> victims, clear;
  for (const api::PodPtr& v : p.victims) victims.push_back(v->meta.uid);
  for (const api::PodPtr& v : p.nominated_to_clear) clear.push_back(v->meta.uid);
  CHECK(p.node.string() == w.node);
  CHECK(victims == w.victims);
  CHECK(clear == w.nominated_to_clear);
  CHECK(p.error == "");
}

struct Tally {
  int placed = 0, unfit = 0, errors = 0, preempted = 0;
};

// Lets all contenders decide one pod and compares them. Returns the node that the leader chose.
std::string TryPod(std::vector<Contender>& contenders, Lockstep& world, const api::PodPtr& pod, size_t leader,
                   Tally* tally) {
  std::string host;
  for (size_t i = 0; i < contenders.size(); ++i) {
    Contender& c = contenders[i];
    INFO("pod " << pod->meta.Key() << " by " << c.name);
    Decision want = c.reference->Schedule(world.model, *pod);
    DecisionTrace trace;
    scheduler::Decision traced = c.traced->Schedule(pod, DecisionMode::kReference, &trace);
    scheduler::Decision plain = c.plain->Schedule(pod);
    for (const scheduler::Decision* got : {&traced, &plain}) {
      CHECK(got->host.string() == want.host);
      CHECK(got->error == want.error);
      CHECK((got->outcome == scheduler::Decision::Outcome::kUnfit) == want.unfit);
      CHECK((got->outcome == scheduler::Decision::Outcome::kPlaced) == !want.host.empty());
      CHECK(got->nodes == world.model.listed());
      if (want.unfit) {
        REQUIRE(got->failures != nullptr);
        CHECK(FailuresOf(*got->failures) == Sorted(want.failures));
      } else if (!want.host.empty()) {
        CHECK(got->feasible == want.feasible.size());
      }
    }
    CHECK(c.traced->last_node_index() == c.reference->last_node_index());
    CHECK(c.plain->last_node_index() == c.reference->last_node_index());
    if (!want.host.empty()) CompareTrace(trace, want);
    if (want.unfit) {
      ComparePreemption(*c.plain, *c.reference, world, pod, plain, want);
      tally->preempted += !c.reference->Preempt(world.model, *pod, want.failures).node.empty();
    }
    ++(want.unfit ? tally->unfit : want.host.empty() ? tally->errors : tally->placed);
    if (i == leader) host = want.host;
  }
  return host;
}

std::vector<Contender> MakeContenders(Lockstep* world, int policies = 2) {
  std::vector<Contender> out;
  auto args = [&](bool pod_priority, bool volume_scheduling) {
    FactoryArgs a;
    a.release = &releases::v1_10::Decides();
    a.cache = &world->cache;
    a.nominated = pod_priority ? &world->nominated : nullptr;
    a.volume_binder = volume_scheduling ? &world->binder : nullptr;
    a.gates.algorithm.pod_priority = pod_priority;
    a.gates.algorithm.volume_scheduling = volume_scheduling;
    return a;
  };
  auto add = [&](std::string name, Settings s, auto make) {
    Contender c;
    c.name = std::move(name);
    EffectiveAlgorithm effective;
    for (auto* scheduler : {&c.traced, &c.plain}) {
      auto made = make(&effective);
      INFO(c.name << ": " << made.status().message());
      REQUIRE(made.ok());
      *scheduler = std::move(*made);
    }
    std::vector<std::string> names;
    for (const PredicateKey& k : InOrder(s.predicates)) names.push_back(k.name);
    CHECK(effective.predicates == names);
    c.reference = std::make_unique<Scheduler>(std::move(s));
    out.push_back(std::move(c));
  };

  add("DefaultProvider", DefaultProviderSettings(),
      [&](EffectiveAlgorithm* e) { return CreateFromProvider("DefaultProvider", args(false, true), e); });
  Settings with_priority = DefaultProviderSettings();
  with_priority.pod_priority = true;
  add("DefaultProvider with PodPriority", with_priority,
      [&](EffectiveAlgorithm* e) { return CreateFromProvider("DefaultProvider", args(true, true), e); });
  add("ClusterAutoscalerProvider", ClusterAutoscalerProviderSettings(),
      [&](EffectiveAlgorithm* e) { return CreateFromProvider("ClusterAutoscalerProvider", args(false, true), e); });
  for (int i = 0; i < policies; ++i) {
    bool taints = world->random.Chance(20), limits = world->random.Chance(50);
    Settings s;
    s.pod_priority = world->random.Chance(50);
    s.volume_scheduling = world->random.Chance(80);
    Policy policy = RandomPolicy(&world->random, taints, limits, &s);
    bool pod_priority = s.pod_priority, volume_scheduling = s.volume_scheduling;
    add(absl::StrCat("policy ", i), s, [&](EffectiveAlgorithm* e) {
      FactoryArgs a = args(pod_priority, volume_scheduling);
      a.gates.taint_nodes_by_condition = taints;
      a.gates.resource_limits_priority_function = limits;
      return CreateFromConfig(policy, a, e);
    });
  }
  return out;
}

}  // namespace

TEST_CASE("random clusters: every decision is the reference's") {
  Tally tally;
  for (uint64_t seed : Seeds(120)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed);
    std::vector<Contender> contenders = MakeContenders(&world);
    for (int step = 0; step < 40; ++step) {
      INFO("step " << step);
      // There are pods with no change between them and pods with several.
      for (int n = world.random.Chance(50) ? 0 : world.random.Between(1, 4); n > 0; --n) world.Change();
      if (world.random.Chance(1)) world.Storm();
      auto pod = world.Pending();
      world.Unnominate(*pod);
      if (world.random.Chance(10)) CompareEvaluations(contenders.back(), world, pod);
      size_t leader = static_cast<size_t>(world.random.Below(static_cast<int>(contenders.size())));
      std::string host = TryPod(contenders, world, pod, leader, &tally);
      if (!host.empty()) {
        world.Assume(pod, host);
      } else {
        world.Nominate(pod);
      }
    }
  }
  // The test means something only if the random clusters produce every kind of outcome often.
  if (Seeds(120).size() >= 120) {
    CHECK(tally.placed > 4500);
    CHECK(tally.unfit > 2000);
    CHECK(tally.errors > 120);
    CHECK(tally.preempted > 220);
  }
}

// Large clusters use other code than small ones: sets of ranks become bitmaps, labels have many values, and the logs of
// changes do not reach back.
TEST_CASE("random clusters of 90 nodes: every decision is the reference's") {
  Tally tally;
  for (uint64_t seed : Seeds(12)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed + 2000000, /*large=*/true);
    std::vector<Contender> contenders = MakeContenders(&world, 0);
    for (int n = 150; n > 0; --n) world.Change();
    std::shared_ptr<api::Pod> last;
    for (int step = 0; step < 24; ++step) {
      INFO("step " << step);
      for (int n = world.random.Chance(60) ? 0 : world.random.Between(1, 4); n > 0; --n) world.Change();
      if (step == 11) world.Storm();
      auto pod = world.Pending();
      if (last != nullptr && world.random.Chance(60)) {  // another pod of the same template
        auto name = pod->meta;
        pod = std::make_shared<api::Pod>(*last);
        name.ns = pod->meta.ns;
        pod->meta = name;
      }
      last = pod;
      world.Unnominate(*pod);
      std::string host = TryPod(contenders, world, pod, static_cast<size_t>(step) % 2, &tally);
      if (!host.empty()) {
        world.Assume(pod, host);
      } else {
        world.Nominate(pod);
      }
    }
  }
  CHECK(tally.placed > 0);
}

// What is kept for one class of pods must not be used for pods that differ from it in a single field.
TEST_CASE("random clusters: pods that differ in one thing are told apart") {
  Tally tally;
  for (uint64_t seed : Seeds(60)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed + 3000000);
    world.character.volumes = world.character.mistakes = world.character.conditions = world.character.absurd = 0;
    world.character.taints = world.character.ports = 40;
    world.character.pod_affinity = seed % 3 == 0 ? 20 : 0;
    std::vector<Contender> contenders = MakeContenders(&world, 2);
    for (int n = 20; n > 0; --n) world.Change();
    int number = 1000;
    for (int round = 0; round < 6; ++round) {
      std::vector<std::shared_ptr<const api::PodTemplate>> family = {RandomTemplate(&world.random, world.character)};
      for (int n = 5; n > 0; --n) {
        family.push_back(RandomSibling(&world.random, world.character, *world.random.Of(family)));
      }
      for (const auto& tmpl : family) {
        auto pod = NewPod(number++, tmpl);
        std::string host = TryPod(contenders, world, pod, static_cast<size_t>(round) % contenders.size(), &tally);
        if (!host.empty() && world.random.Chance(50)) world.Assume(pod, host);
      }
    }
  }
  if (Seeds(60).size() >= 60) CHECK(tally.placed > 4000);
}

TEST_CASE("many pods of one kind, one after another, with two nodes to a rack") {
  using util::Symbol;
  // All by rack: the pods' anti-affinity, the anti-affinity of other pods, preferred affinity, preferred anti-affinity,
  // and spreading.
  for (int kind = 0; kind < 5; ++kind) {
    INFO("kind " << kind);
    Tally tally;
    Lockstep world(4, /*large=*/true);
    std::vector<Contender> contenders = MakeContenders(&world, 0);
    api::PodTemplate t, other;
    t.ns = other.ns = Symbol("default");
    t.labels = api::Labels({{Symbol("app"), Symbol("same")}});
    other.labels = api::Labels({{Symbol("app"), Symbol("other")}});
    t.containers.resize(1);
    other.containers.resize(1);
    auto term = [&](const char* app) {
      api::PodAffinityTerm a;
      a.selector.selector = api::Selector::FromMap(api::Labels({{Symbol("app"), Symbol(app)}}));
      a.namespaces = {t.ns};
      a.topology_key = Symbol("rack");
      return a;
    };
    if (kind == 0) t.affinity.pod_anti.emplace().required = {term("same")};
    if (kind == 1) other.affinity.pod_anti.emplace().required = {term("same")};
    if (kind == 2) t.affinity.pod.emplace().preferred = {{10, term("other")}};
    if (kind == 3) t.affinity.pod_anti.emplace().preferred = {{10, term("same")}, {3, term("other")}};
    if (kind == 4) {
      auto service = std::make_shared<api::Service>();
      service->meta.name = "same";
      service->meta.ns = t.ns;
      service->selector = t.labels;
      world.cache.listers().services.Set(service);
      world.model.services[{"default", "same"}] = service;
    }
    auto tmpl = api::PodTemplate::Intern(t), other_tmpl = api::PodTemplate::Intern(other);
    for (int i = 0; i < 60; ++i) {
      auto pod = NewPod(5000 + i, i % 6 == 5 ? other_tmpl : tmpl);
      std::string host = TryPod(contenders, world, pod, 0, &tally);
      if (!host.empty()) world.Assume(pod, host);
    }
    CHECK(tally.placed > 90);
  }
}

TEST_CASE("random clusters: a pod with every predicate evaluated on every node") {
  for (uint64_t seed : Seeds(100)) {
    INFO("BERTH_RANDOM_SEED=" << seed);
    Lockstep world(seed + 1000000);
    std::vector<Contender> contenders = MakeContenders(&world);
    for (int step = 0; step < 12; ++step) {
      for (int n = 6; n > 0; --n) world.Change();
      auto pod = world.Pending();
      for (Contender& c : contenders) {
        INFO("step " << step << " pod " << pod->meta.Key() << " by " << c.name);
        CompareEvaluations(c, world, pod);
      }
    }
  }
}

}  // namespace berth::scheduler::reference
