// A Scheduler whose requests are logged as texts, which tests compare. For tests only.
#pragma once
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/testing/running_scheduler.h"

namespace berth::scheduler::testing {

// Logs the requests and events of the scheduler, one text each.
class Recorder final : public Actions {
 public:
  void Bind(RequestId id, const api::PodPtr& pod, Extender*) override {
    Note(id, absl::StrCat("bind ", pod->meta.name, " ", pod->node_name.string()));
  }
  void UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override {
    Note(id, absl::StrCat("condition ", pod->meta.name, " ", c.status, " ", c.reason, " [", c.message, "] ",
                          c.last_transition_time));
  }
  void PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& c,
                      std::optional<Symbol> nominated) override {
    std::string what = absl::StrCat("patch ", pod->meta.name);
    if (c) absl::StrAppend(&what, " ", c->status, " ", c->reason, " [", c->message, "]");
    if (nominated) absl::StrAppend(&what, " nominated [", nominated->string(), "]");
    Note(id, std::move(what));
  }
  void MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& c) override {
    Note(id, absl::StrCat("mark ", victim->meta.name, " ", c.status, " ", c.reason, " [", c.message, "]"));
  }
  void RecordRelatedEvent(const api::PodPtr& pod, EventType type, std::string_view reason, std::string message,
                          const api::PodPtr& related) override {
    // Events of 1.10 have no related object; their messages, which begin with "by ", are logged as they are.
    RecordEvent(pod, type, reason,
                related == nullptr || message.starts_with("by ")
                    ? message
                    : absl::StrCat(message, " (", related->meta.name, ")"));
  }
  void SetNominatedNode(RequestId id, const api::PodPtr& pod, Symbol node) override {
    Note(id, absl::StrCat("nominate ", pod->meta.name, " [", node.string(), "]"));
  }
  void DeletePod(RequestId id, const api::PodPtr& pod) override { Note(id, absl::StrCat("delete ", pod->meta.name)); }
  void GetPod(RequestId id, const api::Pod& pod) override { Note(id, absl::StrCat("get ", pod.meta.name)); }
  void GetNode(RequestId id, Symbol name) override { Note(id, absl::StrCat("get node ", name.string())); }
  void UpdateVolume(RequestId id, const VolumeBinder::Binding& b) override {
    Note(id, absl::StrCat("volume ", b.volume->meta.name, " for ", b.claim->meta.name));
  }
  void UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) override {
    Note(id, absl::StrCat("claim ", claim->meta.name, " on ", claim->selected_node.value_or("?")));
  }
  void RecordEvent(const api::PodPtr& pod, EventType type, std::string_view reason, std::string message) override {
    log.push_back(absl::StrCat("event ", pod->meta.name, " ", type == EventType::kNormal ? "Normal " : "Warning ",
                               std::string(reason), ": ", message));
  }
  void Note(RequestId id, std::string what) {
    last = id;
    log.push_back(std::move(what));
  }
  // Returns what was logged since the last call, one entry on each line.
  std::string Take() {
    std::string out = absl::StrJoin(log, "\n");
    log.clear();
    return out;
  }

  std::vector<std::string> log;
  RequestId last = 0;
};

// A running scheduler whose requests the test reads and answers.
struct Case {
  explicit Case(bool pod_priority = false, SchedulerOptions options = {}, const Registry* registry = nullptr)
      : w(&r, pod_priority, std::move(options), registry) {}
  explicit Case(const releases::Release& release) : w(&r, release) {}
  Scheduler& s() { return *w.scheduler; }
  void Add(const api::PodPtr& p) { s().Apply(Change<api::Pod>{nullptr, p}); }
  void Add(const api::NodePtr& n) { s().Apply(Change<api::Node>{nullptr, n}); }
  void Update(const api::PodPtr& a, const api::PodPtr& b) { s().Apply(Change<api::Pod>{a, b}); }
  void Gone(const api::PodPtr& p) { s().Apply(Change<api::Pod>{p, nullptr}); }
  // Answers the request that was made last.
  void Reply(Answer::Kind kind, std::string message = {}, api::PodPtr pod = nullptr) {
    s().Apply(scheduler::Reply{r.last, {kind, std::move(message), ""}, std::move(pod)});
  }
  void Pass(double seconds) {
    w.clock.Advance(absl::Seconds(seconds));
    s().Tick();
  }
  // Schedules pods until none is ready, checks the scheduler's invariants, and returns the log.
  std::string Run() {
    while (s().ScheduleOne()) {
    }
    CHECK(s().CheckInvariants() == "");
    return r.Take();
  }
  std::string Requests() {
    CHECK(s().CheckInvariants() == "");
    return r.Take();
  }
  Recorder r;
  RunningScheduler w;
};

}  // namespace berth::scheduler::testing
