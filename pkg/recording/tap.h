// Wraps a scheduler and notes everything that passes: its inputs, what it reads from clocks and extenders, and its
// decisions and requests. It changes nothing but the precision of the clocks.
//
// Thread-safety: used on the scheduler's thread, except Wall() and Steady(), which others may use as a clock.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/recording/event.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/util/clock.h"

namespace berth::recording {

class Tap final : public scheduler::Actions, public scheduler::DecisionObserver, public util::Clock {
 public:
  // `sink` may be null until set_sink is called. If `actions` is null, requests are dropped. If `next` is not null, it
  // receives the decisions too. All arguments must outlive the object.
  Tap(EventSink* sink, scheduler::Actions* actions, const util::Clock* clock, scheduler::DecisionObserver* next)
      : sink_(sink), actions_(actions), clock_(clock), next_(next) {}

  // Sets the scheduler, which was built with this object as its actions, clock and observer and must outlive all calls
  // below.
  void Attach(scheduler::Scheduler* s) { scheduler_ = s; }
  // Sets the sink. To be called before anything is noted.
  void set_sink(EventSink* sink) { sink_ = sink; }
  // Returns an extender whose responses are noted.
  std::unique_ptr<scheduler::Extender> Wrap(std::unique_ptr<scheduler::Extender> extender);

  // ---- the scheduler's inputs ----
  template <typename T>
  void Apply(const scheduler::Change<T>& c) {
    Begin(AnyChange(c));
    scheduler_->Apply(c);
    End();
  }
  void Apply(const scheduler::Reply& r);
  void Tick();
  bool ScheduleOne();
  void Stop();
  // Passes on what was noted. To be called at the end of a round of work.
  void Flush();

  // ---- the scheduler's outputs ----
  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) override;
  void UpdatePodCondition(scheduler::RequestId id, const api::PodPtr& pod, const api::PodCondition& c) override;
  void SetNominatedNode(scheduler::RequestId id, const api::PodPtr& pod, util::Symbol node) override;
  void PatchPodStatus(scheduler::RequestId id, const api::PodPtr& pod,
                      const std::optional<api::PodCondition>& scheduled,
                      std::optional<util::Symbol> nominated_node) override;
  void MarkVictim(scheduler::RequestId id, const api::PodPtr& victim,
                  const api::PodCondition& disruption_target) override;
  void DeletePod(scheduler::RequestId id, const api::PodPtr& pod) override;
  void GetPod(scheduler::RequestId id, const api::Pod& pod) override;
  void GetNode(scheduler::RequestId id, util::Symbol name) override;
  void UpdateVolume(scheduler::RequestId id, const scheduler::VolumeBinder::Binding& binding) override;
  void UpdateClaim(scheduler::RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) override;
  void RecordRelatedEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                          std::string message, const api::PodPtr& related) override;
  void RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                   std::string message) override;
  void Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t round_robin) override;
  void PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) override;

  // ---- clocks: whole microseconds, whole seconds ----
  absl::Duration Steady() const override;
  absl::Time Wall() const override;

 private:
  class TappedExtender;
  template <typename T>
  void Begin(T what) {
    input_ = batch_.size();
    batch_.emplace_back().what = std::move(what);
    open_ = true;
  }
  void End() { open_ = false; }
  // Returns the current input if it is a T and none of its outputs has been noted as an event; otherwise null.
  template <typename T>
  T* InputWithoutOutputs() {
    return open_ && input_ + 1 == batch_.size() ? std::get_if<T>(&batch_.back().what) : nullptr;
  }
  // Notes an output, which the caller completes. The reference is valid until the next event is noted.
  RequestOutput& Request(RequestOutput::Kind kind, scheduler::RequestId id, const api::PodPtr& pod);
  void NoteEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                 const std::string& message);

  EventSink* sink_;
  scheduler::Actions* actions_;
  const util::Clock* clock_;
  scheduler::DecisionObserver* next_;
  scheduler::Scheduler* scheduler_ = nullptr;
  mutable std::vector<Event> batch_;
  size_t input_ = 0;   // index of the current input in batch_
  bool open_ = false;  // an input is being processed
};

}  // namespace berth::recording
