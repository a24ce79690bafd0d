// Small clusters with controllers and kubelets in simulated time.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>
#include <map>

#include "pkg/api/scheduling_fields.h"
#include "pkg/scheduler/testing/objects.h"
#include "pkg/simulate/configuration.h"
#include "pkg/simulate/input.h"
#include "pkg/simulate/living_input.h"
#include "pkg/simulate/simulate.h"
#include "pkg/util/status.h"

namespace berth::simulate {
namespace {

using scheduler::testing::Cat;
using scheduler::testing::Quoted;

constexpr Micros kOneMinute = 60 * kSecond, kOneHour = 60 * kOneMinute;

std::string NodeText(const std::string& name, const std::string& cpu = "4") {
  return Quoted(Cat("{'apiVersion':'v1','kind':'Node','metadata':{'name':'", name,
                    "','labels':{'kubernetes.io/hostname':'", name, "'}},'status':{'capacity':{'cpu':'", cpu,
                    "','memory':'16Gi','pods':'110'}}}"));
}

// A pod template that asks for a CPU. `annotations` are members of JSON.
std::string TemplateText(const std::string& app, const std::string& annotations = "", const std::string& more = "") {
  return Quoted(Cat("{'metadata':{'labels':{'app':'", app, "'},'annotations':{", annotations,
                    "}},'spec':{'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'1'}}}]", more,
                    "}}"));
}

std::string WorkloadText(const std::string& kind, const std::string& name, const std::string& spec,
                         const std::string& pod_template) {
  return absl::StrCat(Quoted(Cat("{'apiVersion':'apps/v1','kind':'", kind, "','metadata':{'name':'", name,
                                 "'},'spec':{'selector':{'matchLabels':{'app':'", name, "'}},", spec,
                                 spec.empty() ? "" : ",", "'template':")),
                      pod_template, "}}");
}

std::string JobText(const std::string& name, const std::string& spec, const std::string& duration,
                    const std::string& more_annotations = "") {
  return absl::StrCat(
      Quoted(
          Cat("{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'", name, "'},'spec':{", spec, ",'template':")),
      TemplateText(name, Cat("'schedsim/duration':'", duration, "'", more_annotations), ",'restartPolicy':'Never'"),
      "}}");
}

// A cluster, and what comes of it.
struct Lived {
  void Add(const std::string& text) { absl::StrAppend(&input, text, "\n"); }
  void Nodes(int n) {
    for (int i = 0; i < n; ++i) Add(NodeText(absl::StrCat("n", i)));
  }
  void Happens(Micros at, Step::Kind kind, const std::string& object, Micros back_after = kNever,
               int64_t replicas = 0) {
    Step s;
    s.at = at;
    s.kind = kind;
    if (kind == Step::Kind::kScale || kind == Step::Kind::kRestart) {
      s.workload = object;
    } else {
      s.nodes = {object};
    }
    s.back_after = back_after;
    s.replicas = replicas;
    steps.push_back(s);
  }
  absl::StatusOr<Outcome> Try() {
    api::KeepSchedulingFields();
    lab::ReadOptions reading;
    reading.defaults.release = *release::Named(release);
    reading.keep_raw = reading.keep_given = reading.more_pods = true;
    auto read = lab::ReadTexts({{"input.json", std::make_shared<const std::string>(input)}}, reading);
    INFO(util::Message(read.status()));
    REQUIRE(read.ok());
    const lab::Scenario& scenario = read->scenarios[0];
    auto configuration = ConfigurationOf(scenario.algorithm, "", "");
    REQUIRE(configuration.ok());
    options.configuration = *configuration;
    options.controllers = true;
    placements.clear();
    options.placement = [this](const Placement& p) {
      placements.push_back(absl::StrCat(std::string(p.pod.substr(8)), p.node.empty() ? " never" : " on ",
                                        std::string(p.node), " at ",
                                        p.node.empty() ? "" : absl::StrCat(p.placed / kSecond)));
    };
    auto pods = PodsOf(scenario);
    REQUIRE(pods.ok());
    ArrivalFacts facts;
    for (const Arrival& a : pods->arrivals) facts.Add(a);
    const lab::Workload workload(ToMeasure(scenario, steps, facts.sample));
    return Simulate({&scenario, &workload, &steps, &pods->workload_pods, facts.last_end}, SourceOf(pods->arrivals),
                    options);
  }
  Outcome Run() {
    auto outcome = Try();
    INFO(util::Message(outcome.status()));
    REQUIRE(outcome.ok());
    return *std::move(outcome);
  }
  std::string Placements() const { return absl::StrJoin(placements, "; "); }
  // The times of placements of pods whose names begin so, in seconds.
  std::string Times(const std::string& prefix) const {
    std::vector<std::string> times;
    for (const std::string& p : placements) {
      if (absl::StartsWith(p, prefix)) times.push_back(p.substr(p.rfind(' ') + 1));
    }
    return absl::StrJoin(times, " ");
  }

  std::string release = "1.29";
  std::string input;
  std::vector<Step> steps;
  Options options;
  std::vector<std::string> placements;
};

const char* const kAllReleases[] = {"1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36"};

}  // namespace

TEST_CASE("controllers: a Deployment has its pods at once, and the same names for the same seed") {
  for (const char* release : kAllReleases) {
    Lived t;
    t.release = release;
    t.Nodes(3);
    t.Add(WorkloadText("Deployment", "web", "'replicas':6", TemplateText("web")));
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(o.pods == 6);
    CHECK(o.placed == 6);
    CHECK(t.Times("web-") == "0 0 0 0 0 0");
    CHECK(o.end == 0);
    CHECK_FALSE(o.cut);
    const std::string first = t.Placements();
    t.Run();
    CHECK(t.Placements() == first);
    t.options.seed = 2;
    t.Run();
    CHECK(t.Placements() != first);
  }
}

TEST_CASE("controllers: a Job makes its pods as others end") {
  for (const char* release : kAllReleases) {
    Lived t;
    t.release = release;
    t.Nodes(1);
    t.Add(JobText("sum", "'completions':5,'parallelism':2", "10m"));
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(o.pods == 5);
    CHECK(o.jobs_completed == 1);
    CHECK(o.jobs_failed == 0);
    CHECK(t.Times("sum-") == "0 0 600 600 1200");
    CHECK(o.makespan() >= 30 * kOneMinute);
    CHECK(o.makespan() < 31 * kOneMinute);
  }
}

TEST_CASE("controllers: a Job fails after its back-off limit") {
  Lived t;
  t.Nodes(1);
  t.Add(JobText("bad", "'backoffLimit':2", "1m", ",'simulate.berth/exit-code':'3'"));
  const Outcome o = t.Run();
  INFO(t.Placements());
  CHECK(o.pods == 3);
  CHECK(o.jobs_completed == 0);
  CHECK(o.jobs_failed == 1);
  // Each waits for its back-off: 10 s, then 20 s.
  CHECK(t.Times("bad-") == "0 70 150");
}

TEST_CASE("controllers: a CronJob makes Jobs at its times, until the simulation is cut") {
  Lived t;
  t.Nodes(1);
  t.Add(absl::StrCat(Quoted("{'apiVersion':'batch/v1','kind':'CronJob','metadata':{'name':'often'},'spec':{"
                            "'schedule':'*/10 * * * *','jobTemplate':{'spec':{'template':"),
                     TemplateText("often", "'schedsim/duration':'90s'", ",'restartPolicy':'Never'"), "}}}}"));
  t.options.until = kOneHour;
  const Outcome o = t.Run();
  INFO(t.Placements());
  // The simulated time begins at 22:13:20.
  CHECK(t.Times("often-") == "400 1000 1600 2200 2800 3400");
  CHECK(o.jobs_completed == 6);
  CHECK(o.cut);
}

TEST_CASE("controllers: an idle month costs nothing") {
  Lived t;
  t.Nodes(20);
  t.Add(WorkloadText("Deployment", "web", "'replicas':10", TemplateText("web")));
  t.Happens(30 * 24 * kOneHour, Step::Kind::kScale, "Deployment default/web", kNever, 12);
  const Outcome o = t.Run();
  CHECK(o.placed == 12);
  CHECK(o.end == 30 * 24 * kOneHour);
  CHECK(o.cpu_seconds < 1);
}

TEST_CASE("controllers: scaling, and a rolling restart within maxSurge and maxUnavailable") {
  Lived t;
  t.Nodes(3);
  t.options.start_delay = 30 * kSecond;
  t.Add(WorkloadText("Deployment", "web", "'replicas':4,'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}}",
                     TemplateText("web")));
  t.Happens(kOneHour, Step::Kind::kScale, "Deployment default/web", kNever, 2);
  t.Happens(2 * kOneHour, Step::Kind::kRestart, "Deployment default/web");
  const Outcome o = t.Run();
  INFO(t.Placements());
  CHECK(o.pods == 6);
  CHECK(o.evictions == 0);
  // One more at a time, and the next one when it runs.
  CHECK(t.Times("web-") == "0 0 0 0 7200 7230");
}

TEST_CASE("controllers: the pods of a node that fails go when they do not tolerate it any longer") {
  for (const char* release : {"1.13", "1.29", "1.36"}) {
    Lived t;
    t.release = release;
    for (const char* node : {"n0", "n1"}) t.Add(NodeText(node, "8"));
    t.Add(WorkloadText("Deployment", "web", "'replicas':4", TemplateText("web")));
    t.Add(WorkloadText("DaemonSet", "agent", "", TemplateText("agent")));
    t.Happens(kOneHour, Step::Kind::kFail, "n0", 2 * kOneHour);
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(o.evictions == 2);
    CHECK(o.lost == 0);
    CHECK(o.pods == 6);
    const std::string again = t.placements.back();
    CHECK(absl::StrContains(again, " on n1 at "));
    const int64_t at = std::stoll(again.substr(again.rfind(' ') + 1));
    CHECK(at >= 3'600 + 340);
    CHECK(at <= 3'600 + 370);
  }
}

TEST_CASE("controllers: a node that never comes back does not keep the simulation from its end") {
  for (const char* release : kAllReleases) {
    Lived t;
    t.release = release;
    t.Nodes(3);
    t.Add(WorkloadText("ReplicaSet", "web", "'replicas':3", TemplateText("web")));
    t.Happens(kOneHour, Step::Kind::kFail, "n0");
    const Outcome o = t.Run();
    INFO(release << ": " << t.Placements());
    CHECK(o.evictions == 1);
    CHECK(o.end < 2 * kOneHour);
  }
}

TEST_CASE("controllers: a drain waits for a budget") {
  Lived t;
  t.Nodes(2);
  t.options.start_delay = 10 * kSecond;
  t.Add(WorkloadText("Deployment", "web", "'replicas':4", TemplateText("web")));
  t.Add(
      Quoted("{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'web'},'spec':{"
             "'maxUnavailable':1,'selector':{'matchLabels':{'app':'web'}}}}"));
  t.Happens(kOneHour, Step::Kind::kDrain, "n0", kOneMinute);
  const Outcome o = t.Run();
  INFO(t.Placements());
  CHECK(o.evictions == 2);
  CHECK(o.refusals == 1);
  REQUIRE(o.drains.size() == 1);
  CHECK(o.drains[0].empty >= kOneHour + 10 * kSecond);
  CHECK(o.drains[0].empty <= kOneHour + 20 * kSecond);
}

TEST_CASE("controllers: what a quota refuses is tried in vain, and the simulation ends") {
  Lived t;
  t.Nodes(1);
  t.Add(Quoted("{'apiVersion':'v1','kind':'ResourceQuota','metadata':{'name':'few'},'spec':{'hard':{'pods':'2'}}}"));
  t.Add(WorkloadText("Deployment", "web", "'replicas':3", TemplateText("web")));
  const Outcome o = t.Run();
  CHECK(o.placed == 2);
  CHECK(o.end < kOneHour);
}

TEST_CASE("controllers: a StatefulSet makes its pods one after another, with their claims") {
  Lived t;
  t.Nodes(2);
  t.options.start_delay = 5 * kSecond;
  t.Add(
      Quoted("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'later','annotations':{"
             "'storageclass.kubernetes.io/is-default-class':'true'}},'provisioner':'example.com/p',"
             "'volumeBindingMode':'WaitForFirstConsumer'}"));
  t.Add(WorkloadText("StatefulSet", "db",
                     "'replicas':3,'serviceName':'db','volumeClaimTemplates':[{'metadata':{'name':'data'},'spec':{"
                     "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]",
                     TemplateText("db")));
  const Outcome o = t.Run();
  INFO(t.Placements());
  CHECK(t.Times("db-") == "0 5 10");
  CHECK(o.placed == 3);
}

TEST_CASE("controllers: pods whose controller is not in the input stay") {
  Lived t;
  t.Nodes(1);
  t.Add(
      Quoted("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'agent-1','uid':'u','ownerReferences':[{"
             "'apiVersion':'apps/v1','kind':'DaemonSet','name':'agent','uid':'gone','controller':true}]},'spec':{"
             "'nodeName':'n0','containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'3'}}}]}}"));
  t.Add(WorkloadText("ReplicaSet", "web", "'replicas':2", TemplateText("web")));
  const Outcome o = t.Run();
  INFO(t.Placements());
  CHECK(o.placed == 1);
  CHECK(o.never_placed_why == std::map<std::string, int64_t>{{"Insufficient cpu", 1}});
}

TEST_CASE("controllers: mistakes in workloads are named with their place") {
  for (const auto& [spec, message] :
       {std::pair("'schedule':'every day'",
                  "input.json:2: CronJob \"default/daily\": spec.schedule: Invalid value: \"every day\""),
        std::pair("'schedule':'@daily','timeZone':'Mars/Olympus'",
                  "input.json:2: CronJob \"default/daily\": spec.timeZone: Invalid value: \"Mars/Olympus\"")}) {
    Lived t;
    t.Nodes(1);
    t.Add(absl::StrCat(Quoted(Cat("{'apiVersion':'batch/v1','kind':'CronJob','metadata':{'name':'daily'},'spec':{",
                                  spec, ",'jobTemplate':{'spec':{'template':")),
                       TemplateText("daily", "", ",'restartPolicy':'Never'"), "}}}}"));
    t.options.until = kOneHour;
    const auto outcome = t.Try();
    REQUIRE_FALSE(outcome.ok());
    CHECK(absl::StrContains(util::Message(outcome.status()), message));
  }
  Lived t;
  t.Nodes(1);
  t.Add(JobText("bad", "'completions':2", "5 parsecs"));
  const auto outcome = t.Try();
  REQUIRE_FALSE(outcome.ok());
  CHECK(absl::StrContains(util::Message(outcome.status()),
                          "input.json:2: Job \"default/bad\": spec.template.metadata.annotations[schedsim/duration]: "
                          "\"5 parsecs\" is not a time"));
}

}  // namespace berth::simulate
