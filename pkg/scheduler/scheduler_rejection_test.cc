// The requests of releases 1.19 and 1.29 after a failed attempt: their order and their texts.
#include <catch2/catch.hpp>

#include "pkg/releases/v1_19/decides.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/testing/scheduler_case.h"

namespace berth::scheduler {
namespace {

using testing::Bound;
using testing::Case;
using testing::Deleting;
using testing::NewNode;
using testing::NewPod;
using Kind = Answer::Kind;
using Place = Scheduler::Place;

SchedulerOptions AtOnceOptions() {
  SchedulerOptions o;
  o.process = &releases::v1_29::Proceeds();
  return o;
}

struct AtOnce : Case {
  AtOnce() : Case(true, AtOnceOptions()) {}
};

constexpr char kUnfit[] = "0/1 nodes are available: 1 Insufficient cpu.";

TEST_CASE("1.29: a pod that does not fit gets event and condition at once, and is not read again") {
  AtOnce c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  CHECK(c.Run() ==
        absl::StrCat("event p Warning FailedScheduling: ", kUnfit, "\npatch p False Unschedulable [", kUnfit, "]"));
  CHECK(c.w.queue->depth().unschedulable == 1);
  auto written = std::make_shared<api::Pod>(*p);
  written->scheduled = api::PodCondition{"False", "Unschedulable", kUnfit, "", "2017-07-14T02:40:00Z"};
  c.Reply(Kind::kOk, "", written);
  c.Update(p, written);  // the scheduler's own write is no reason for another attempt
  c.Pass(30);
  CHECK(c.Run() == "");
  SECTION("a pod that leaves wakes it; the same failure is written as an event only") {
    auto other = Bound(NewPod("other"), "n1");
    c.Add(other);
    CHECK(c.Run() == "");
    c.Gone(other);
    CHECK(c.Run() == absl::StrCat("event p Warning FailedScheduling: ", kUnfit));
  }
  SECTION("a node wakes it") {
    c.Add(NewNode("n2", 16));
    CHECK(c.Run() == "bind p n2");
    c.Reply(Kind::kOk);
    CHECK(c.Requests() == "event p Normal Scheduled: Successfully assigned default/p to n2");
  }
}

TEST_CASE("1.29: without nodes a pod backs off") {
  AtOnce c;
  c.Add(NewPod("p"));
  CHECK(c.Run() ==
        "event p Warning FailedScheduling: no nodes available to schedule pods\n"
        "patch p False Unschedulable [no nodes available to schedule pods]");
  CHECK(c.w.queue->depth().backoff == 1);
}

TEST_CASE("1.29: preemption marks and deletes the victims, then writes condition and nomination together") {
  AtOnce c;
  c.Add(NewNode("n1", 4));
  auto low = Bound(NewPod("low", {.cpu = 4}), "n1");
  c.Add(low);
  auto high = NewPod("high", {.cpu = 4, .priority = 100});
  c.Add(high);
  CHECK(c.Run() ==
        "mark low True PreemptionByScheduler [default-scheduler: preempting to accommodate a higher priority pod]");
  c.Reply(Kind::kOk);
  CHECK(c.Requests() == "delete low");
  SECTION("done") {
    c.Reply(Kind::kOk);
    CHECK(c.Requests() == absl::StrCat("event low Normal Preempted: Preempted by pod uid-high on node n1 (high)\n"
                                       "event high Warning FailedScheduling: ",
                                       kUnfit, "\npatch high False Unschedulable [", kUnfit, "] nominated [n1]"));
    c.Update(low, Deleting(low));
    // While the victim is terminating, no more pods are evicted.
    c.Pass(400);
    CHECK(c.Run() == absl::StrCat("event high Warning FailedScheduling: ", kUnfit,
                                  " preemption: not eligible due to a terminating pod on the nominated node.\n"
                                  "patch high False Unschedulable [",
                                  kUnfit,
                                  " preemption: not eligible due to a terminating pod on the nominated node.]"));
    c.Gone(Deleting(low));
    c.Pass(20);
    CHECK(c.Run() == "bind high n1");
  }
  SECTION("the preemptor goes before it is answered: the victim's event says why it went, and that is all") {
    c.Gone(high);
    CHECK(c.Run() == "");
    CHECK(c.w.queue->nominated()->empty());
    c.Reply(Kind::kOk);
    CHECK(c.Requests() == "event low Normal Preempted: Preempted by pod uid-high on node n1 (high)");
    CHECK(c.s().pending_pods() == 0);
  }
  SECTION("the preemptor goes, and the victim stays") {
    c.Gone(high);
    c.Reply(Kind::kRefused, "forbidden");
    CHECK(c.Requests() == "");
    CHECK(c.s().pending_pods() == 0);
  }
  SECTION("the victim is gone already, or another pod has its name") {
    c.Reply(GENERATE(Kind::kNotFound, Kind::kConflict));
    CHECK(c.Requests().find("nominated [n1]") != std::string::npos);
  }
  SECTION("refused: the nomination is taken back, and the message says why") {
    c.Reply(Kind::kRefused, "forbidden");
    const std::string asked = c.Requests();
    CHECK(asked.find("nominated") == std::string::npos);
    CHECK(asked.find("preemption: preparing pod default/low: forbidden") != std::string::npos);
    CHECK(c.w.queue->nominated()->For(Symbol("n1")).empty());
  }
}

TEST_CASE("1.19: nobody is evicted when the pod fits somewhere by the time it has been read") {
  Case c({.decides = releases::v1_19::Decides(), .process = releases::v1_19::Proceeds()});
  c.Add(NewNode("n1", 4));
  c.Add(NewNode("n2", 4));
  const auto low = Bound(NewPod("low", {.cpu = 4}), "n1");
  const auto other = Bound(NewPod("other", {.cpu = 4}), "n2");
  c.Add(low);
  c.Add(other);
  const auto high = NewPod("high", {.cpu = 4, .priority = 100});
  c.Add(high);
  CHECK(c.Run() == "get high");
  SECTION("the only pod of a node has ended") {
    const bool first = GENERATE(true, false);
    c.Gone(first ? low : other);
    c.Reply(Kind::kOk, "", high);
    const std::string asked = c.Requests();
    CHECK(asked.find("delete") == std::string::npos);
    CHECK_THAT(asked, Catch::EndsWith(first ? " nominated [n1]" : " nominated [n2]"));
    c.Pass(20);
    CHECK_THAT(c.Run(), Catch::StartsWith(first ? "bind high n1" : "bind high n2"));
  }
  SECTION("the nodes are as they were") {
    c.Reply(Kind::kOk, "", high);
    CHECK(c.Requests() == "delete low");
  }
  SECTION("a node has changed, but the pod does not fit there") {
    c.Add(Bound(NewPod("as-important", {.cpu = 4, .priority = 100}), "n1"));
    c.Gone(low);
    c.Reply(Kind::kOk, "", high);
    CHECK(c.Requests() == "delete other");
  }
}

TEST_CASE("M-21 fixed: a victim that is terminating already is left alone") {
  AtOnce c;
  c.Add(NewNode("n1", 4));
  c.Add(Deleting(Bound(NewPod("ending", {.cpu = 2}), "n1")));
  const auto low = Bound(NewPod("low", {.cpu = 2}), "n1");
  const bool another = GENERATE(false, true);
  if (another) c.Add(low);
  c.Add(NewPod("high", {.cpu = 4, .priority = 100}));
  std::string asked = c.Run();
  if (another) {
    CHECK(asked ==
          "mark low True PreemptionByScheduler [default-scheduler: preempting to accommodate a higher priority pod]");
    c.Reply(Kind::kOk);
    CHECK(c.Requests() == "delete low");
    c.Reply(Kind::kOk);
    asked = c.Requests();
  }
  CHECK(asked.find("ending") == std::string::npos);
  CHECK(asked.ends_with("nominated [n1]"));
}

TEST_CASE("1.29: preemptionPolicy Never is said in the message") {
  AtOnce c;
  c.Add(NewNode("n1", 4));
  c.Add(Bound(NewPod("low", {.cpu = 4}), "n1"));
  auto p = NewPod("p", {.cpu = 4, .priority = 100});
  api::PodTemplate t = *p->tmpl;
  t.never_preempts = true;
  p->tmpl = api::PodTemplate::Intern(std::move(t));
  c.Add(p);
  const std::string text = absl::StrCat(kUnfit, " preemption: not eligible due to preemptionPolicy=Never.");
  CHECK(c.Run() ==
        absl::StrCat("event p Warning FailedScheduling: ", text, "\npatch p False Unschedulable [", text, "]"));
}

TEST_CASE("M-19 fixed: a bind that met a conflict is looked into before anything is written about the pod") {
  AtOnce c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p");
  c.Add(p);
  CHECK(c.Run() == "bind p n1");
  const std::string conflict = "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned";
  c.Reply(Kind::kConflict, conflict);
  CHECK(c.Requests() == "get p");
  const std::string event =
      absl::StrCat("event p Warning FailedScheduling: running Bind plugin \"DefaultBinder\": ", conflict);
  SECTION("somebody else bound it: its condition stays as it is") {
    c.Reply(Kind::kOk, "", Bound(p, "n2"));
    CHECK(c.Requests() == event);
    CHECK(c.s().pending_pods() == 0);
  }
  SECTION("it is not bound") {
    c.Reply(Kind::kOk, "", p);
    CHECK(c.Requests() == absl::StrCat(event, "\npatch p False SchedulerError [running Bind plugin \"DefaultBinder\": ",
                                       conflict, "]"));
    CHECK(c.w.queue->depth().backoff == 1);
    c.Pass(2);
    CHECK(c.Run() == "bind p n1");
  }
}

TEST_CASE("1.29: a pod that changed while room was made for it is tried again at once") {
  AtOnce c;
  c.Add(NewNode("n1", 4));
  c.Add(Bound(NewPod("low", {.cpu = 4}), "n1"));
  auto high = NewPod("high", {.cpu = 4, .priority = 100});
  c.Add(high);
  c.Run();
  c.Reply(Kind::kOk);
  c.Update(high, NewPod("high", {.cpu = 2, .priority = 100}));
  c.Reply(Kind::kOk);
  CHECK(c.w.queue->depth().active == 1);
}

}  // namespace
}  // namespace berth::scheduler
