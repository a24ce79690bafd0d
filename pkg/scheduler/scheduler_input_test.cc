// Objects and answers from outside that cannot be right are counted and ignored, and the scheduler continues.
#include <catch2/catch.hpp>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/testing/scheduler_case.h"

namespace berth::scheduler {
namespace {

using testing::Bound;
using testing::Case;
using testing::Deleting;
using testing::NewNode;
using testing::NewPod;
using Kind = Answer::Kind;

std::shared_ptr<api::Pod> WithUid(const std::string& name, const std::string& uid,
                                  const std::string& scheduler = "default-scheduler") {
  auto p = NewPod(name, {.scheduler = scheduler});
  p->meta.uid = uid;
  return p;
}

uint64_t Invalid(Case& c, InvalidInput what) {
  return c.s().metrics().invalid_inputs[static_cast<size_t>(what)];
}

TEST_CASE("scheduler input: of two pods with one uid the second one waits until the first is gone") {
  const bool pod_priority = GENERATE(false, true);
  Case c(pod_priority);
  c.Add(NewNode("n1", 4));
  auto a = WithUid("a", "u"), b = WithUid("b", "u");
  c.Add(a);
  c.Add(b);
  CHECK(Invalid(c, InvalidInput::kDuplicateUid) == 1);
  CHECK(c.Run() == "bind a n1");
  auto changed = std::make_shared<api::Pod>(*b);
  changed->meta.resource_version = std::string("2");
  c.Update(b, changed);  // the same duplicate is not reported again
  CHECK(Invalid(c, InvalidInput::kDuplicateUid) == 1);
  SECTION("the first one is bound, and deleted") {
    c.Reply(Kind::kOk);
    c.Update(a, Bound(a, "n1"));
    CHECK(c.Run() == "event a Normal Scheduled: Successfully assigned a to n1");
    c.Gone(Bound(a, "n1"));
    CHECK(c.Run() == "bind b n1");
    c.Reply(Kind::kOk);
    c.Update(changed, Bound(changed, "n1"));
    CHECK(c.w.cache.GetPod("u")->meta.name == "b");
  }
  SECTION("the first one is deleted while it is being bound") {
    c.Gone(a);
    CHECK(c.Run() == "");
    c.Reply(Kind::kNotFound, "pods \"a\" not found");
    CHECK(c.Run() == "bind b n1");
  }
  SECTION("the second one is deleted: the first one stays") {
    c.Gone(changed);
    CHECK(c.s().binds_in_flight() == 1);
    c.Reply(Kind::kOk);
    c.Update(a, Bound(a, "n1"));
    c.Gone(Bound(a, "n1"));
    CHECK(c.Run() == "event a Normal Scheduled: Successfully assigned a to n1");
  }
  SECTION("the second one is assigned by somebody else: the first one keeps its resources") {
    c.Update(changed, Bound(changed, "n1"));
    CHECK(c.w.cache.GetPod("u")->meta.name == "a");
    auto finished = Bound(changed, "n1");
    finished->phase = api::PodPhase::kSucceeded;
    c.Update(Bound(changed, "n1"), finished);
    CHECK(c.w.cache.GetPod("u")->meta.name == "a");
  }
}

TEST_CASE("scheduler input: a pod without a uid or a name is skipped") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto nameless = WithUid("", "u");
  auto p = WithUid("p", "");
  c.Add(nameless);
  c.Add(p);
  c.Add(WithUid("q", ""));
  c.Update(p, Bound(p, "n1"));
  c.Gone(Bound(p, "n1"));
  CHECK(c.Run() == "");
  CHECK(Invalid(c, InvalidInput::kPodWithoutIdentity) == 4);
  c.Add(NewPod("good"));
  CHECK(c.Run() == "bind good n1");
}

TEST_CASE("scheduler input: an answer to the write of a condition that shows another object is not believed") {
  const bool pod_priority = GENERATE(false, true);
  Case c(pod_priority);
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  c.Run();
  auto empty = std::make_shared<api::Pod>();
  empty->tmpl = api::PodTemplate::Intern({});
  auto other_scheduler = NewPod("p", {.cpu = 9, .scheduler = "another"});
  const auto [answer, problem] =
      GENERATE_REF(table<api::PodPtr, InvalidInput>({{empty, InvalidInput::kAnswerAboutOtherPod},
                                                     {WithUid("p", "another"), InvalidInput::kAnswerAboutOtherPod},
                                                     {NewPod("q"), InvalidInput::kAnswerAboutOtherPod},
                                                     {other_scheduler, InvalidInput::kAnswerOtherScheduler}}));
  c.Reply(Kind::kOk, "", answer);
  CHECK(Invalid(c, problem) == 1);
  CHECK(c.Requests() == (pod_priority ? "get p" : ""));
  if (pod_priority) c.Reply(Kind::kOk, "", p);
  auto smaller = NewPod("p");
  c.Update(p, smaller);
  CHECK(c.Run() == "bind p n1");
}

TEST_CASE("scheduler input: an answer to the read of a pod that shows another object is asked for again") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  c.Run();
  c.Reply(Kind::kOk);
  c.Pass(1);
  CHECK(c.Requests() == "get p");
  const api::PodPtr answer = GENERATE(api::PodPtr(), api::PodPtr(WithUid("p", "")), api::PodPtr(NewPod("q")),
                                      api::PodPtr(NewPod("p", {.cpu = 9, .scheduler = "another"})));
  c.Reply(Kind::kOk, "", answer);
  CHECK(c.Run() == "");
  c.Pass(0.2);
  CHECK(c.Run() == "get p");
  c.Reply(Kind::kOk, "", NewPod("p", {.cpu = 2}));
  CHECK(c.Run() == "bind p n1");
}

TEST_CASE("scheduler input: a pod that the watch shows with another scheduler's name is no longer ours") {
  Case c;
  c.Add(NewNode("n1", 4));
  auto p = NewPod("p", {.cpu = 9});
  c.Add(p);
  c.Run();
  c.Reply(Kind::kOk);
  auto foreign = NewPod("p", {.cpu = 9, .scheduler = "another"});
  c.Update(p, foreign);
  CHECK(c.s().pending_pods() == 0);
  c.Update(foreign, NewPod("p", {.cpu = 2}));
  CHECK(c.Run() == "bind p n1");
  // The pod gets the name of another scheduler after its bind, and the watch does not show it: it is not tried again.
  c.Reply(Kind::kOk);
  c.Requests();
  c.Pass(31);
  CHECK(c.Requests() == "get p");
  c.Reply(Kind::kOk, "", foreign);
  CHECK(c.Run() == "");
  CHECK(c.s().pending_pods() == 0);
}

TEST_CASE("scheduler input: failures map to a fixed set of reasons") {
  auto reason = [](std::string_view text, std::string_view kind = {}) {
    return FailureReasonText(FailureReasonOf({Symbol(text), false, Symbol(kind)}));
  };
  CHECK(reason("Insufficient cpu", "extended resource") == "Insufficient cpu");
  CHECK(reason("Insufficient example.com/tenant-7", "extended resource") == "extended resource");
  CHECK(reason("node(s) had untolerated taint {team: seven}", "node(s) had untolerated taint") ==
        "node(s) had untolerated taint");
  // What an extender or a plugin says is not guessed at.
  CHECK(reason("the extender's very own words") == "other");
  CHECK(reason("Insufficient licences") == "other");
  CHECK(reason("its own words", "and kind") == "other");
  CHECK(FailureReasonText(ReasonOfError(Symbol())) == "error");
  CHECK(FailureReasonText(ReasonOfError(Symbol("a plugin\'s own kind"))) == "error");
  // A claim that does not exist is one reason, whatever its name is and whether a rule or an error says so.
  CHECK(reason("persistentvolumeclaim \"c\" not found", reasons::kNoClaim.str()) == "persistentvolumeclaim not found");
  CHECK(FailureReasonText(ReasonOfError(reasons::kNoClaim)) == "persistentvolumeclaim not found");
  for (Symbol kind : {reasons::kClaimIsDeleted, reasons::kClaimLostVolume, reasons::kNoClaimYet, reasons::kNoVolume,
                      reasons::kNoStorageClass, reasons::kNoDriver, reasons::kUntoleratedTaint}) {
    CHECK(FailureReasonText(ReasonOfError(kind)) == kind.str());
  }
  for (std::string_view same : {"node(s) had pid pressure", "node(s) had untolerated taint(s)",
                                "pod has unbound immediate PersistentVolumeClaims"}) {
    CHECK(reason(same) == same);
  }
  for (size_t i = 0; i < FailureReasonCount(); ++i) {
    CHECK_FALSE(FailureReasonText(static_cast<FailureReasonId>(i)).empty());
  }
}

TEST_CASE("scheduler input: the texts of errors are not interned and are no reasons of the metric") {
  Case c;
  c.Add(NewNode("n1", 4));
  c.Add(NewPod("p", {.claim = "a-claim-that-is-nowhere-else"}));
  CHECK(c.Run().find("a-claim-that-is-nowhere-else\\\" not found") == std::string::npos);
  CHECK(c.s().pending_by_reason()[FailureReasonNamed("persistentvolumeclaim not found")] == 1);
  CHECK(Symbol::Find("persistentvolumeclaim \"a-claim-that-is-nowhere-else\" not found").empty());
}

}  // namespace
}  // namespace berth::scheduler
