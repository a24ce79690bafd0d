// Small clusters in simulated time.
#include "pkg/simulate/simulate.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>

#include "pkg/api/scheduling_fields.h"
#include "pkg/scheduler/testing/objects.h"
#include "pkg/simulate/configuration.h"
#include "pkg/simulate/input.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

using scheduler::testing::Asks;
using scheduler::testing::Cat;
using scheduler::testing::NodeOf;
using scheduler::testing::PodOf;

constexpr Micros kHour = 3'600 * kSecond;

// A cluster, what arrives, and what comes of it.
struct Tried {
  Tried() {
    api::KeepSchedulingFields();
    scenario.algorithm.release = *release::Named("1.29");
  }
  void Node(const std::string& name, const std::string& cpu = "4") {
    scenario.cluster.emplace_back(
        NodeOf(name, Cat("'kubernetes.io/hostname':'", name, "'"), "", Cat("'cpu':'", cpu, "','pods':'110'")));
  }
  void Arrives(const std::string& name, Micros at, Micros duration, const std::string& cpu, int priority = 0,
               const std::string& labels = "") {
    Arrival a;
    a.at = at;
    a.duration = duration;
    a.pod = PodOf(name, Cat(Asks(Cat("'cpu':'", cpu, "'")), ",'priority':", std::to_string(priority)), labels);
    a.as_is = true;
    arrivals.push_back(a);
  }
  Outcome Run() {
    auto configuration = ConfigurationOf(scenario.algorithm, "", "");
    REQUIRE(configuration.ok());
    options.configuration = *configuration;
    placements.clear();
    options.placement = [this](const Placement& p) {
      placements.push_back(absl::StrCat(std::string(p.pod.substr(8)), p.node.empty() ? " never" : " on ",
                                        std::string(p.node), " after ",
                                        p.node.empty() ? "" : absl::StrCat((p.placed - p.arrived) / kSecond)));
    };
    ArrivalFacts facts;
    for (const Arrival& a : arrivals) facts.Add(a);
    const lab::Workload workload(ToMeasure(scenario, steps, facts.sample));
    absl::flat_hash_map<std::string, api::PodPtr> workload_pods;
    for (const Arrival& a : arrivals) {
      if (a.pod->tmpl->controller) workload_pods.emplace("ReplicaSet default/web", a.pod);
    }
    auto outcome =
        Simulate({&scenario, &workload, &steps, &workload_pods, facts.last_end}, SourceOf(arrivals), options);
    INFO(util::Message(outcome.status()));
    REQUIRE(outcome.ok());
    return *std::move(outcome);
  }
  std::string Placements() const { return absl::StrJoin(placements, "; "); }

  lab::Scenario scenario;
  std::vector<Step> steps;
  std::vector<Arrival> arrivals;
  Options options;
  std::vector<std::string> placements;
};

const char* const kReleases[] = {"1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36"};

}  // namespace

TEST_CASE("a pod waits until another one ends") {
  for (const char* release : kReleases) {
    Tried t;
    t.scenario.algorithm.release = *release::Named(release);
    t.Node("n1");
    t.Arrives("first", 0, kHour, "3");
    t.Arrives("second", 60 * kSecond, kHour, "3");
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(o.pods == 2);
    CHECK(o.placed == 2);
    CHECK(o.never_placed == 0);
    REQUIRE(t.placements.size() == 2);
    CHECK(t.placements[0] == "first on n1 after 0");
    // It is tried again when the first one ends (1.29), or at the end of its back-off, which is at most a minute.
    CHECK(o.waits.max() >= 3'540 * kSecond);
    CHECK(o.waits.max() <= 3'600 * kSecond);
    CHECK(o.makespan() >= 2 * kHour);
  }
}

TEST_CASE("what fits nowhere is never placed, and the simulation ends") {
  for (const char* release : kReleases) {
    Tried t;
    t.scenario.algorithm.release = *release::Named(release);
    t.Node("n1");
    t.Arrives("fits", 0, kNever, "1");
    t.Arrives("huge", 0, kHour, "9");
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(o.placed == 1);
    CHECK(o.never_placed == 1);
    CHECK(o.never_placed_why == std::map<std::string, int64_t>{{"Insufficient cpu", 1}});
    CHECK(o.end < kHour);
    CHECK_FALSE(o.cut);
  }
}

TEST_CASE("a pod that meets an error again and again does not stop the clock") {
  for (const char* release : kReleases) {
    for (const char* gate : {"", "PodPriority"}) {
      Tried t;
      t.scenario.algorithm.release = *release::Named(release);
      if (*gate != '\0') t.scenario.algorithm.gates[gate] = true;
      t.Node("n1");
      Arrival a;
      a.pod = PodOf("claims", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
      a.as_is = true;
      t.arrivals.push_back(a);
      t.Arrives("fits", kHour, kHour, "1");
      api::Document document;
      REQUIRE(document
                  .Parse(scheduler::testing::Quoted(
                      "{'metadata':{'name':'c','namespace':'default','uid':'c'},'spec':{'storageClassName':'now'}}"))
                  .ok());
      t.scenario.cluster.emplace_back(*api::DecodePersistentVolumeClaim(document.root()));
      const Outcome o = t.Run();
      INFO(release << " " << gate << ": " << t.Placements() << ", " << o.attempts << " attempts");
      CHECK(o.placed + o.never_placed == 2);
      CHECK(t.Placements().find("fits on n1 after 0") != std::string::npos);
      CHECK(o.attempts < 400);
    }
  }
}

TEST_CASE("a volume is provisioned for a claim that waits, at the first attempt") {
  for (const char* release : {"1.13", "1.19", "1.29", "1.36"}) {
    Tried t;
    t.scenario.algorithm.release = *release::Named(release);
    t.Node("n1");
    Arrival a;
    a.pod = PodOf("claims", "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
    a.as_is = true;
    t.arrivals.push_back(a);
    api::Document claim, storage;
    REQUIRE(claim
                .Parse(scheduler::testing::Quoted(
                    "{'metadata':{'name':'c','namespace':'default','uid':'c'},'spec':{'storageClassName':'later',"
                    "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}"))
                .ok());
    REQUIRE(
        storage
            .Parse(scheduler::testing::Quoted("{'metadata':{'name':'later','uid':'s'},'provisioner':'example.com/p',"
                                              "'volumeBindingMode':'WaitForFirstConsumer'}"))
            .ok());
    t.scenario.cluster.emplace_back(*api::DecodePersistentVolumeClaim(claim.root()));
    t.scenario.cluster.emplace_back(*api::DecodeStorageClass(storage.root()));
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(t.Placements() == "claims on n1 after 0");
    CHECK(o.attempts == 1);
  }
}

TEST_CASE("a pod may name one claim in several volumes") {
  for (const char* release : kReleases) {
    Tried t;
    t.scenario.algorithm.release = *release::Named(release);
    t.Node("n1");
    Arrival a;
    a.pod = PodOf("twice",
                  "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}},"
                  "{'name':'w','persistentVolumeClaim':{'claimName':'c'}}]");
    a.as_is = true;
    t.arrivals.push_back(a);
    api::Document claim, volume;
    REQUIRE(claim
                .Parse(scheduler::testing::Quoted(
                    "{'metadata':{'name':'c','namespace':'default','uid':'c','annotations':{"
                    "'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'pv'},'status':{'phase':'Bound'}}"))
                .ok());
    REQUIRE(volume.Parse(scheduler::testing::Quoted("{'metadata':{'name':'pv','uid':'pv'},'spec':{}}")).ok());
    t.scenario.cluster.emplace_back(*api::DecodePersistentVolumeClaim(claim.root()));
    t.scenario.cluster.emplace_back(*api::DecodePersistentVolume(volume.root()));
    INFO(release);
    CHECK(t.Run().placed == 1);
  }
}

TEST_CASE("equal inputs give equal outcomes") {
  Tried t;
  for (int i = 0; i < 5; ++i) t.Node(absl::StrCat("n", i));
  for (int i = 0; i < 200; ++i) {
    t.Arrives(absl::StrCat("p", i), (i * 37 % 100) * kSecond, (i * 53 % 300) * kSecond, absl::StrCat(1 + i % 3), i % 4);
  }
  const Outcome first = t.Run();
  const std::string placements = t.Placements();
  const Outcome second = t.Run();
  CHECK(t.Placements() == placements);
  CHECK(first.end == second.end);
  CHECK(first.attempts == second.attempts);
  CHECK(first.placed == 200);
}

TEST_CASE("a more important pod takes the place of another, which comes again") {
  Tried t;
  t.Node("n1");
  t.Arrives("low", 0, kHour, "3");
  t.Arrives("high", 60 * kSecond, kHour, "3", 10);
  const Outcome o = t.Run();
  INFO(t.Placements());
  CHECK(o.preemptions == 1);
  CHECK(o.victims == 1);
  CHECK(o.evictions == 1);
  CHECK(o.pods == 2);
  CHECK(o.placed == 2);
  REQUIRE(t.placements.size() == 3);
  CHECK(t.placements[0] == "low on n1 after 0");
  CHECK(t.placements[1].starts_with("high on n1"));
  CHECK(t.placements[2].starts_with("low on n1"));
  CHECK(o.makespan() >= 2 * kHour + 60 * kSecond);
  CHECK(o.absent >= kHour);
}

TEST_CASE("delays of binding and of starting") {
  Tried t;
  t.Node("n1");
  t.Arrives("p", 0, kHour, "1");
  t.options.bind_delay = 2 * kSecond;
  t.options.start_delay = 30 * kSecond;
  const Outcome o = t.Run();
  CHECK(t.Placements() == "p on n1 after 2");
  CHECK(o.makespan() == kHour + 32 * kSecond);
}

TEST_CASE("a node that joins takes what waits, and one that leaves gives it back") {
  Tried t;
  t.Node("n1", "1");
  t.Arrives("p", 0, kNever, "3");
  Step join{.at = 600 * kSecond, .kind = Step::Kind::kJoin, .nodes = {"n2"}};
  join.joins = NodeOf("n2", "'kubernetes.io/hostname':'n2'", "", "'cpu':'4','pods':'110'");
  t.steps = {join, {.at = kHour, .kind = Step::Kind::kLeave, .nodes = {"n2"}}};
  const Outcome o = t.Run();
  REQUIRE(t.placements.size() == 1);
  CHECK(t.placements[0].starts_with("p on n2 after 6"));
  CHECK(o.evictions == 1);
  CHECK(o.nodes == 1);
}

TEST_CASE("the pods of a node that fails come again elsewhere after five minutes") {
  for (const char* release : kReleases) {
    Tried t;
    t.scenario.algorithm.release = *release::Named(release);
    t.Node("n1");
    t.Arrives("p", 0, kNever, "3");
    Step join{.at = 60 * kSecond, .kind = Step::Kind::kJoin, .nodes = {"n2"}};
    join.joins = NodeOf("n2", "'kubernetes.io/hostname':'n2'", "", "'cpu':'4','pods':'110'");
    t.steps = {join, {.at = kHour, .kind = Step::Kind::kFail, .nodes = {"n1"}}};
    const Outcome o = t.Run();
    INFO(release);
    CHECK(t.Placements() == "p on n1 after 0; p on n2 after 0");
    CHECK(o.last_change == kHour + 300 * kSecond);
  }
}

TEST_CASE("a node that is back in time keeps its pods") {
  Tried t;
  t.Node("n1");
  t.Arrives("p", 0, kNever, "3");
  t.steps = {{.at = kHour, .kind = Step::Kind::kFail, .nodes = {"n1"}, .back_after = 240 * kSecond}};
  CHECK(t.Run().evictions == 0);
  t.steps[0].back_after = 360 * kSecond;
  CHECK(t.Run().evictions == 1);
  CHECK(t.Placements() == "p on n1 after 0; p on n1 after 60");
}

TEST_CASE("nodes are drained one after another, and a budget slows that down") {
  const auto roll = [](const std::string& budget) {
    Tried t;
    for (const char* name : {"n1", "n2", "n3"}) t.Node(name);
    for (int i = 0; i < 3; ++i) {
      Arrival a;
      a.pod = PodOf(
          absl::StrCat("web-", i), Asks("'cpu':'1'"), "'app':'web'",
          "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'u','controller':true}]");
      a.as_is = true;
      t.arrivals.push_back(a);
    }
    if (!budget.empty()) {
      const std::string text = scheduler::testing::Quoted(Cat(
          "{'metadata':{'name':'b','namespace':'default','uid':'b'},'spec':{'selector':{'matchLabels':{'app':'web'}},",
          budget, "}}"));
      api::Document document;
      REQUIRE(document.Parse(text).ok());
      t.scenario.cluster.emplace_back(*api::DecodePodDisruptionBudget(document.root()));
      t.scenario.budgets["default/b"] = std::make_shared<const validation::Value>(*validation::ParseJson(text));
    }
    t.options.start_delay = 20 * kSecond;
    t.steps = {{.at = kHour, .kind = Step::Kind::kRoll, .nodes = {"n1", "n2", "n3"}, .back_after = 60 * kSecond}};
    return t.Run();
  };
  const Outcome without = roll("");
  CHECK(without.drains.size() == 3);
  CHECK(without.evictions >= 3);
  CHECK(without.refusals == 0);
  CHECK(std::all_of(without.drains.begin(), without.drains.end(), [](const Drain& d) { return d.empty != kNever; }));
  // All pods may go only one after the other, and the next one when the last one has started.
  const Outcome with = roll("'maxUnavailable':1");
  CHECK(with.refusals > 0);
  CHECK(with.drains.back().empty > without.drains.back().empty);
  CHECK(std::all_of(with.drains.begin(), with.drains.end(), [](const Drain& d) { return d.empty != kNever; }));
  // A budget that allows nothing: the drain does not end, and the simulation does.
  const Outcome never = roll("'maxUnavailable':0");
  CHECK(never.evictions == 0);
  CHECK(never.drains.back().empty == kNever);
}

TEST_CASE("a workload is scaled up and down") {
  Tried t;
  t.Node("n1", "16");
  Arrival a;
  a.pod = PodOf(
      "web-0", Asks("'cpu':'1'"), "'app':'web'",
      "'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'u','controller':true}]");
  a.as_is = true;
  t.arrivals.push_back(a);
  t.steps = {{.at = kHour, .kind = Step::Kind::kScale, .workload = "ReplicaSet default/web", .replicas = 5},
             {.at = 2 * kHour, .kind = Step::Kind::kScale, .workload = "ReplicaSet default/web", .replicas = 2}};
  const Outcome o = t.Run();
  CHECK(o.pods == 5);
  CHECK(o.placed == 5);
  const auto& last = o.series.stretches().back();
  CHECK(last.used[0] > 0);
  CHECK(o.end >= 2 * kHour);
}

TEST_CASE("a simulation that is cut says so") {
  Tried t;
  t.Node("n1");
  t.Arrives("p", 0, kHour, "1");
  t.Arrives("later", kHour, kHour, "1");
  t.options.until = 600 * kSecond;
  const Outcome o = t.Run();
  CHECK(o.cut);
  CHECK(o.end == 600 * kSecond);
  CHECK(o.pods == 1);
}

}  // namespace berth::simulate
