// The requests of the scheduler in release 1.10, their order and their texts, one test for each case.
#include "pkg/scheduler/scheduler.h"

#include <catch2/catch.hpp>

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

TEST_CASE("scheduler: a pod is bound, has an event, and is confirmed by the watch") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p");
  c.Add(p);
  CHECK(c.Run() == "bind p n1");
  CHECK(c.s().binds_in_flight() == 1);
  c.w.clock.Advance(absl::Milliseconds(3));
  SECTION("answered before it is shown") {
    c.Reply(Kind::kOk);
    CHECK(c.Requests() == "event p Normal Scheduled: Successfully assigned p to n1");
    CHECK(c.s().pods_by_place()[static_cast<size_t>(Place::kBound)] == 1);
    c.Update(p, Bound(p, "n1"));
  }
  SECTION("shown before it is answered") {
    c.Update(p, Bound(p, "n1"));
    CHECK(c.Requests() == "");
    c.Reply(Kind::kOk);
    CHECK(c.Requests() == "event p Normal Scheduled: Successfully assigned p to n1");
  }
  CHECK(c.s().pending_pods() == 0);
  CHECK(c.w.cache.assumed_count() == 0);
  CHECK(c.s().metrics().binding.count() == 1);
  CHECK(c.s().metrics().binding.sum() == 3000);
  CHECK(c.s().metrics().e2e.count() == 1);
  CHECK(c.s().metrics().algorithm.count() == 1);
  CHECK(c.s().metrics().predicates.count() == 1);
}

TEST_CASE("scheduler: a pod that does not fit gets event and condition, and is read again after its back-off") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  CHECK(c.Run() ==
        "event p Warning FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.\n"
        "condition p False Unschedulable [0/1 nodes are available: 1 Insufficient cpu.] 2017-07-14T02:40:00Z");
  CHECK(c.s().pending_by_reason()[FailureReasonNamed("Insufficient cpu")] == 1);
  auto written = std::make_shared<api::Pod>(*p);
  written->scheduled = api::PodCondition{"False", "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", "",
                                         "2017-07-14T02:40:00Z"};
  c.Update(p, written);  // the watch shows the scheduler's own write, which is no reason for another attempt
  c.Reply(Kind::kOk, "", written);
  CHECK(c.Run() == "");
  c.Pass(0.9);
  CHECK(c.Run() == "");
  c.Pass(0.1);
  CHECK(c.Requests() == "get p");
  c.Reply(Kind::kOk, "", written);
  // The pod has this condition already, so it is not written.
  CHECK(c.Run() == "event p Warning FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.");
  c.Pass(1.9);
  CHECK(c.Run() == "");
  SECTION("twice as long the next time") {
    c.Pass(0.1);
    CHECK(c.Run() == "get p");
    SECTION("gone meanwhile") {
      c.Reply(Kind::kNotFound);
      CHECK(c.s().pending_pods() == 0);
    }
    SECTION("placed by somebody else meanwhile") {
      c.Reply(Kind::kOk, "", Bound(written, "n1"));
      CHECK(c.s().pending_pods() == 0);
    }
    SECTION("not answered: 200 ms, 400 ms, ...") {
      c.Reply(Kind::kLost, "EOF");
      c.Pass(0.19);
      CHECK(c.Run() == "");
      c.Pass(0.01);
      CHECK(c.Run() == "get p");
      c.Reply(Kind::kLost, "EOF");
      c.Pass(0.39);
      CHECK(c.Run() == "");
      c.Pass(0.01);
      CHECK(c.Run() == "get p");
    }
  }
  SECTION("a change of its spec ends the wait") {
    auto smaller = NewPod("p", {.cpu = 2});
    c.Update(written, smaller);
    CHECK(c.Run() == "bind p n1");
  }
  SECTION("deleted while it waits") {
    c.Gone(written);
    c.Pass(100);
    CHECK(c.Run() == "");
    CHECK(c.s().pending_by_reason()[FailureReasonNamed("Insufficient cpu")] == 0);
  }
}

TEST_CASE("scheduler: a condition that met a conflict is written with the object as it is now") {
  const bool pod_priority = GENERATE(false, true);
  Case c(pod_priority);
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  c.Run();
  c.Reply(Kind::kConflict, "the object has been modified");
  if (pod_priority) c.Reply(Kind::kOk, "", p);  // the preemptor is read again
  c.Pass(1);
  CHECK(c.Requests() == (pod_priority ? "get p\nget p" : "get p"));
  c.Reply(Kind::kOk, "", p);
  // Without PodPriority the pod is tried again at once, and that attempt writes the condition. With PodPriority the pod
  // waits, so the condition is written now.
  const std::string asked = c.Run();
  CHECK(asked.find("condition p False Unschedulable") != std::string::npos);
  CHECK(asked.find("condition p") == asked.rfind("condition p"));
}

TEST_CASE("scheduler: without nodes") {
  Case c;
  c.Add(NewPod("p"));
  CHECK(c.Run() ==
        "event p Warning FailedScheduling: no nodes available to schedule pods\n"
        "condition p False Unschedulable [no nodes available to schedule pods] 2017-07-14T02:40:00Z");
}

TEST_CASE("scheduler: a refused bind frees the node's resources and says so") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 4});
  c.Add(p);
  CHECK(c.Run() == "bind p n1");
  c.Reply(Kind::kConflict, "pod p is already assigned to node \"n2\"");
  CHECK(c.Requests() ==
        "event p Warning FailedScheduling: Binding rejected: pod p is already assigned to node \"n2\"\n"
        "condition p False BindingRejected [] 2017-07-14T02:40:00Z");
  CHECK(c.w.cache.assumed_count() == 0);
  CHECK(c.s().metrics().e2e.count() == 1);
  CHECK(c.s().metrics().binding.count() == 0);
  c.Reply(Kind::kRefused, "forbidden");
  c.Pass(1);
  CHECK(c.Run() == "get p");
  c.Reply(Kind::kOk, "", p);
  CHECK(c.Run() == "bind p n1");
}

TEST_CASE("scheduler: a bind without an answer is found out about") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p");
  c.Add(p);
  c.Run();
  SECTION("answered with an error of the server: as if refused, once it is known that it was not done") {
    c.Reply(Kind::kServerError, "injected");
    CHECK(c.Requests() == "get p");
    CHECK(c.w.cache.assumed_count() == 1);
    c.Reply(Kind::kOk, "", p);
    CHECK(c.Requests() ==
          "event p Warning FailedScheduling: Binding rejected: injected\n"
          "condition p False BindingRejected [] 2017-07-14T02:40:00Z");
    CHECK(c.w.cache.assumed_count() == 0);
  }
  SECTION("it was done") {
    c.Reply(Kind::kLost, "EOF");
    CHECK(c.Requests() == "get p");
    c.Reply(Kind::kOk, "", Bound(p, "n1"));
    CHECK(c.Requests() == "event p Normal Scheduled: Successfully assigned p to n1");
  }
  SECTION("the watch knows first") {
    c.Reply(Kind::kLost, "EOF");
    CHECK(c.Requests() == "get p");
    c.Update(p, Bound(p, "n1"));
    CHECK(c.Requests() == "event p Normal Scheduled: Successfully assigned p to n1");
    CHECK(c.s().pending_pods() == 0);
  }
  SECTION("it was not done, and may be done yet: the same again, with the resources kept") {
    c.Reply(Kind::kLost, "EOF");
    c.Reply(Kind::kOk, "", p);
    CHECK(c.Requests() == "get p\nbind p n1");
    c.Reply(Kind::kConflict, "already assigned");
    CHECK(c.Requests() == "get p");
    c.Reply(Kind::kOk, "", Bound(p, "n1"));
    CHECK(c.Requests() == "event p Normal Scheduled: Successfully assigned p to n1");
  }
  SECTION("the pod is gone") {
    c.Reply(Kind::kLost, "EOF");
    c.Reply(Kind::kNotFound);
    CHECK(c.Requests() == "get p");
    CHECK(c.s().pending_pods() == 0);
    CHECK(c.w.cache.pod_count() == 0);
  }
  CHECK(c.s().binds_in_flight() == 0);
}

TEST_CASE("scheduler: deleted while binding") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 4});
  c.Add(p);
  c.Run();
  const RequestId bind = c.r.last;
  c.Gone(p);
  CHECK(c.w.cache.pod_count() == 0);  // its resources are free before the bind is answered
  auto other = NewPod("other", {.cpu = 4});
  c.Add(other);
  CHECK(c.Run() == "bind other n1");
  c.s().Apply(Reply{bind, {Kind::kNotFound, "pods \"p\" not found", "pods"}, nullptr});
  CHECK(c.Requests() == "");
  CHECK(c.s().pending_pods() == 1);
}

TEST_CASE("scheduler: a pod that is being deleted is not scheduled") {
  Case c;
  c.Add(NewNode("n1", 4));
  c.Add(Deleting(NewPod("p")));
  CHECK(c.Run() == "event p Warning FailedScheduling: skip schedule deleting pod: default/p");
  CHECK(c.Run() == "");
  // For a pod that waits, the event is recorded as soon as the watch shows its deletion, because it may be gone soon.
  auto waiting = NewPod("waiting", {.cpu = 9});
  c.Add(waiting);
  c.Run();
  c.Reply(Kind::kOk);
  c.Update(waiting, Deleting(waiting));
  c.Gone(Deleting(waiting));
  CHECK(c.Run() == "event waiting Warning FailedScheduling: skip schedule deleting pod: default/waiting");
  CHECK(c.s().pending_pods() == 1);
}

TEST_CASE("B-36 fixed: pods that other schedulers placed take room, and are not queued") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto foreign = NewPod("foreign", {.cpu = 3, .scheduler = "another"});
  c.Add(foreign);
  CHECK(c.Run() == "");
  c.Update(foreign, Bound(foreign, "n1"));
  c.Add(NewPod("p", {.cpu = 2}));
  CHECK(c.Run().find("Insufficient cpu") != std::string::npos);
}

TEST_CASE("scheduler: a pod that has finished is gone, wherever it was") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 4});
  c.Add(Bound(p, "n1"));
  auto finished = Bound(p, "n1");
  finished->phase = api::PodPhase::kSucceeded;
  c.Update(Bound(p, "n1"), finished);
  CHECK(c.w.cache.pod_count() == 0);
  c.Add(NewPod("next", {.cpu = 4}));
  CHECK(c.Run() == "bind next n1");
  auto failed = NewPod("failed");
  failed->phase = api::PodPhase::kFailed;
  c.Add(failed);
  CHECK(c.Run() == "");
}

TEST_CASE("scheduler: news that a bound pod has no node is checked before it is believed") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 4});
  c.Add(Bound(p, "n1"));
  c.Update(Bound(p, "n1"), p);
  CHECK(c.Run() == "get p");
  SECTION("old news") {
    c.Reply(Kind::kOk, "", Bound(p, "n1"));
    CHECK(c.Run() == "");
    CHECK(c.s().pending_pods() == 0);
    CHECK(c.w.cache.pod_count() == 1);
  }
  SECTION("the API server has lost its memory") {
    c.Reply(Kind::kOk, "", p);
    CHECK(c.Run() == "bind p n1");
  }
  SECTION("gone altogether") {
    c.Reply(Kind::kNotFound);
    CHECK(c.w.cache.pod_count() == 0);
    CHECK(c.s().pending_pods() == 0);
  }
}

TEST_CASE("scheduler: a bound pod that the watch never shows is asked for after 30 s") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 4});
  c.Add(p);
  c.Run();
  c.Reply(Kind::kOk);
  c.Requests();
  c.Pass(29);
  CHECK(c.Run() == "");
  c.Pass(3);
  CHECK(c.Requests() == "get p");
  CHECK(c.w.cache.pod_count() == 1);  // its resources are kept until the answer
  c.Reply(Kind::kOk, "", Bound(p, "n1"));
  CHECK(c.s().pending_pods() == 0);
  CHECK(c.s().metrics().expired == 1);
  CHECK_FALSE(c.w.cache.IsAssumed(p->meta.uid));
}

TEST_CASE("scheduler: created again under the same name") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  c.Run();
  c.Reply(Kind::kOk);
  auto again = NewPod("p", {.cpu = 1});
  again->meta.uid = "uid-of-another";
  c.Update(p, again);
  CHECK(c.Run() == "bind p n1");
  CHECK(c.s().pending_pods() == 1);
}

TEST_CASE("scheduler: nothing is decided while too much is unanswered, while it may not bind, or once stopped") {
  bool may = false;
  SchedulerOptions o;
  o.max_requests_in_flight = 2;
  o.may_bind = [&] { return may; };
  Case c(false, std::move(o));
  c.Add(NewNode("n1", 4));
  for (const char* name : {"a", "b", "c"}) c.Add(NewPod(name));
  CHECK(c.Run() == "");
  may = true;
  CHECK(c.Run() == "bind a n1\nbind b n1");
  c.Reply(Kind::kOk);
  CHECK(c.Run() == "event b Normal Scheduled: Successfully assigned b to n1\nbind c n1");
  c.s().Stop();
  c.Add(NewPod("d"));
  c.Reply(Kind::kOk);
  CHECK(c.Run() == "event c Normal Scheduled: Successfully assigned c to n1");
}

TEST_CASE("scheduler: preemption nominates, deletes, tells, clears, in this order") {
  Case c(true);
  c.Add(NewNode("n1", 4));
  auto low = Bound(NewPod("low", {.cpu = 4, .priority = 1}), "n1");
  c.Add(low);
  auto high = NewPod("high", {.cpu = 4, .priority = 10});
  c.Add(high);
  const std::string why = "0/1 nodes are available: 1 Insufficient cpu.";
  CHECK(c.Run() == absl::StrCat("event high Warning FailedScheduling: ", why, "\ncondition high False Unschedulable [",
                                why, "] 2017-07-14T02:40:00Z"));
  c.Reply(Kind::kOk, "", high);
  CHECK(c.Requests() == "get high");
  c.Reply(Kind::kOk, "", high);
  CHECK(c.Requests() == "nominate high [n1]");
  CHECK(c.w.queue->nominated()->For(Symbol("n1")).size() == 1);
  CHECK(c.s().metrics().preemption_victims == 1);

  SECTION("the nomination cannot be written: nobody is deleted") {
    c.Reply(Kind::kConflict, "modified");
    CHECK(c.Requests() == "");
    CHECK(c.w.queue->nominated()->For(Symbol("n1")).empty());
  }
  SECTION("it can") {
    c.Reply(Kind::kOk, "", high);
    CHECK(c.Requests() == "delete low");
    SECTION("the victim is gone already") {
      c.Reply(Kind::kNotFound);
      CHECK(c.Requests() == "");
    }
    SECTION("the preemptor goes before it is answered") {
      c.Gone(high);
      CHECK(c.Run() == "");
      CHECK(c.w.queue->nominated()->empty());
      SECTION("the victim's event says why it went") {
        c.Reply(Kind::kOk);
        CHECK(c.Requests() == "event low Normal Preempted: by default/high on node n1");
        CHECK(c.s().pending_pods() == 0);
      }
      SECTION("the victim stays") {
        c.Reply(Kind::kRefused, "forbidden");
        CHECK(c.Requests() == "");
        CHECK(c.s().pending_pods() == 0);
      }
      SECTION("it was an old state of the watch: the pod is tried again") {
        c.Add(high);
        c.Reply(Kind::kOk);
        CHECK(c.Requests() == "event low Normal Preempted: by default/high on node n1");
        CHECK(c.s().pending_pods() == 1);
      }
    }
    SECTION("the victim goes") {
      c.Reply(Kind::kOk);
      CHECK(c.Requests() == "event low Normal Preempted: by default/high on node n1");
      // The resources that the victim frees must not go to a pod of lower priority.
      c.Update(low, Deleting(low));
      c.Pass(2);
      CHECK(c.Run() == "");
      c.Gone(low);
      c.Add(NewPod("late", {.cpu = 4, .priority = 5}));
      CHECK(c.Run().substr(0, 12) == "bind high n1");
    }
  }
}

TEST_CASE("scheduler: a nomination that leads nowhere is taken back") {
  Case c(true);
  c.Add(NewNode("n1", 4));
  c.Add(Bound(NewPod("equal", {.cpu = 4, .priority = 10}), "n1"));
  auto high = NewPod("high", {.cpu = 4, .priority = 10});
  high->nominated_node_name = Symbol("n1");
  c.Add(high);
  c.Run();
  c.Reply(Kind::kOk, "", high);
  c.Reply(Kind::kOk, "", high);
  CHECK(c.Requests() == "get high\nnominate high []");
  CHECK(c.w.queue->nominated()->For(Symbol("n1")).empty());
}

TEST_CASE("scheduler: with PodPriority a pod that does not fit waits for a change, not for its own condition") {
  Case c(true);
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  c.Run();
  auto written = std::make_shared<api::Pod>(*p);
  written->scheduled = api::PodCondition{"False", "Unschedulable", "x", "", ""};
  c.Update(p, written);
  c.Reply(Kind::kOk, "", written);
  c.Reply(Kind::kOk, "", written);  // the preemptor is read again; preemption helps nowhere, and it has no nomination
  CHECK(c.Run() == "get p");
  c.Pass(20);
  CHECK(c.Run() == "");
  CHECK(c.w.queue->depth().unschedulable == 1);
  c.Add(NewNode("n2", 16));
  CHECK(c.Run() == "bind p n2");
}

TEST_CASE("scheduler: volumes are reserved one after another before the pod is bound") {
  const bool pod_priority = GENERATE(false, true);
  Case c(pod_priority);
  c.Add(NewNode("n1", 4));
  auto sc = std::make_shared<api::StorageClass>();
  sc->meta.name = "late";
  sc->binding_mode = "WaitForFirstConsumer";
  c.s().Apply(Change<api::StorageClass>{nullptr, sc});
  auto pv = std::make_shared<api::PersistentVolume>();
  pv->meta.name = "pv";
  pv->meta.resource_version = "1";
  pv->capacity = api::Quantity::FromInt(10);
  pv->storage_class_name = "late";
  c.s().Apply(Change<api::PersistentVolume>{nullptr, pv});
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.name = "data";
  claim->meta.ns = Symbol("default");
  claim->meta.uid = "claim-uid";
  claim->storage_class_name = "late";
  claim->request = api::Quantity::FromInt(5);
  c.s().Apply(Change<api::PersistentVolumeClaim>{nullptr, claim});
  auto p = NewPod("p", {.claim = "data"});
  c.Add(p);
  CHECK(c.Run() == "volume pv for data");
  SECTION("written") {
    c.Reply(Kind::kOk);
    CHECK(c.Requests() ==
          "event p Normal FailedScheduling: Volume binding started, waiting for completion\n"
          "condition p False VolumeBindingWaiting [] 2017-07-14T02:40:00Z");
    // When its claim is bound, the pod is tried again, whatever it waits for.
    auto half = std::make_shared<api::PersistentVolumeClaim>(*claim);
    half->volume_name = "pv";
    auto bound = std::make_shared<api::PersistentVolumeClaim>(*half);
    bound->bind_completed = true;
    const bool answered_before = GENERATE(true, false);
    if (answered_before) c.Reply(Kind::kOk);
    c.s().Apply(Change<api::PersistentVolumeClaim>{claim, half});
    CHECK(c.Run() == (pod_priority && answered_before ? "get p" : ""));
    c.s().Apply(Change<api::PersistentVolumeClaim>{half, bound});
    if (!answered_before) c.Reply(Kind::kOk);
    CHECK(c.Run() == "bind p n1");
  }
  SECTION("not written") {
    c.Reply(Kind::kConflict, "pv is another one now");
    CHECK(c.Requests() ==
          "event p Warning FailedScheduling: pv is another one now\n"
          "condition p False VolumeBindingFailed [] 2017-07-14T02:40:00Z");
  }
}

}  // namespace
}  // namespace berth::scheduler
