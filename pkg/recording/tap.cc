// An event of `batch_` is an input, an extender's answer, or an output. An input is added before the scheduler is
// called, and what happens during the call follows it, so the order of the batch is the order of the recording. To keep
// the batch small, the outputs that nearly always follow an input (the decision, the bind, the event Scheduled) are
// stored within it; that is possible only as long as no other output has been noted after it, which InputWithoutOutputs
// tests.
#include "pkg/recording/tap.h"

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::recording {

using scheduler::RequestId;

namespace {

// Returns in which release's words the message says that the pod was assigned to its node; kText if it does not.
MessageForm FormOf(const api::Pod& pod, std::string_view message) {
  const auto skip = [&message](std::string_view expected) {
    if (message.substr(0, expected.size()) != expected) return false;
    message.remove_prefix(expected.size());
    return true;
  };
  if (!skip("Successfully assigned ")) return MessageForm::kText;
  const std::string_view ns = pod.meta.ns.str();
  const bool by_key = !ns.empty() && message.size() > ns.size() && message[ns.size()] == '/' && skip(ns) && skip("/");
  if (!skip(pod.meta.name) || !skip(" to ") || message != pod.node_name.str()) return MessageForm::kText;
  return by_key ? MessageForm::kAssignedByKey : MessageForm::kAssigned;
}

std::unique_ptr<RequestOutput::Words> Words(std::string name, std::string text) {
  return std::make_unique<RequestOutput::Words>(RequestOutput::Words{std::move(name), std::move(text)});
}

}  // namespace

class Tap::TappedExtender final : public scheduler::Extender {
 public:
  TappedExtender(Tap* tap, std::unique_ptr<scheduler::Extender> inner) : tap_(tap), inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  bool IsInterested(const api::Pod& pod) const override { return inner_->IsInterested(pod); }
  bool IsIgnorable() const override { return inner_->IsIgnorable(); }
  bool IsBinder() const override { return inner_->IsBinder(); }
  absl::Status Bind(const api::Pod& pod, const std::string& node) override { return inner_->Bind(pod, node); }

  absl::StatusOr<FilterResult> Filter(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) override {
    auto result = inner_->Filter(pod, nodes);
    ExtenderAnswer a = AnswerTo(ExtenderAnswer::Call::kFilter);
    if (result.ok()) {
      for (util::Symbol n : result->nodes) a.nodes.push_back(n.string());
      for (const auto& [n, reason] : result->failed) a.failed.emplace_back(n.string(), reason);
      for (const auto& [n, reason] : result->unresolvable) a.unresolvable.emplace_back(n.string(), reason);
    } else {
      a.error = util::Message(result.status());
    }
    Note(std::move(a));
    return result;
  }
  absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(
      const api::Pod& pod, const std::vector<api::NodePtr>& nodes) override {
    auto result = inner_->Prioritize(pod, nodes);
    ExtenderAnswer a = AnswerTo(ExtenderAnswer::Call::kPrioritize);
    if (result.ok()) {
      for (const auto& [n, score] : *result) a.scores.emplace_back(n.string(), score);
      std::sort(a.scores.begin(), a.scores.end());
    } else {
      a.error = util::Message(result.status());
    }
    Note(std::move(a));
    return result;
  }
  bool SupportsPreemption() const override { return inner_->SupportsPreemption(); }
  absl::StatusOr<std::vector<AgreedEviction>> ProcessPreemption(const api::Pod& pod,
                                                                const std::vector<Eviction>& evictions) override {
    auto result = inner_->ProcessPreemption(pod, evictions);
    ExtenderAnswer a = AnswerTo(ExtenderAnswer::Call::kPreempt);
    if (result.ok()) {
      a.evictions = *result;
    } else {
      a.error = util::Message(result.status());
    }
    Note(std::move(a));
    return result;
  }

 private:
  ExtenderAnswer AnswerTo(ExtenderAnswer::Call call) const {
    ExtenderAnswer a;
    a.call = call;
    a.extender = name();
    return a;
  }
  void Note(ExtenderAnswer a) { tap_->batch_.emplace_back().what = std::make_unique<ExtenderAnswer>(std::move(a)); }
  Tap* tap_;
  std::unique_ptr<scheduler::Extender> inner_;
};

std::unique_ptr<scheduler::Extender> Tap::Wrap(std::unique_ptr<scheduler::Extender> extender) {
  return std::make_unique<TappedExtender>(this, std::move(extender));
}

void Tap::Apply(const scheduler::Reply& r) {
  Begin(ReplyInput(r));
  scheduler_->Apply(r);
  End();
}

void Tap::Tick() {
  Begin(TickInput{});
  scheduler_->Tick();
  End();
}

// A call that finds no pod to try is not recorded, because there is one in every round of work.
bool Tap::ScheduleOne() {
  Begin(ScheduleInput{});
  const bool tried = scheduler_->ScheduleOne();
  if (!tried) batch_.resize(input_);
  End();
  return tried;
}

void Tap::Stop() {
  Begin(StopInput{});
  scheduler_->Stop();
  End();
}

void Tap::Flush() {
  if (!batch_.empty()) sink_->Take(&batch_);
  batch_.clear();
}

// ---- outputs ------------------------------------------------------------------------------------

RequestOutput& Tap::Request(RequestOutput::Kind kind, RequestId id, const api::PodPtr& pod) {
  RequestOutput& r = batch_.emplace_back().what.emplace<RequestOutput>();
  r.kind = kind;
  r.id = id;
  r.pod = pod;
  return r;
}

void Tap::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  ScheduleInput* const input = InputWithoutOutputs<ScheduleInput>();
  if (input != nullptr && input->pod != nullptr && input->bind == 0 && binder == nullptr &&
      input->node == pod->node_name && input->pod->meta.uid == pod->meta.uid) {
    input->bind = id;
  } else {
    RequestOutput& r = Request(RequestOutput::Kind::kBind, id, pod);
    r.node = pod->node_name;
    r.flag = binder != nullptr;
  }
  if (actions_ != nullptr) actions_->Bind(id, pod, binder);
}

void Tap::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  Request(RequestOutput::Kind::kCondition, id, pod).condition = std::make_unique<api::PodCondition>(c);
  if (actions_ != nullptr) actions_->UpdatePodCondition(id, pod, c);
}

void Tap::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  Request(RequestOutput::Kind::kNominate, id, pod).node = node;
  if (actions_ != nullptr) actions_->SetNominatedNode(id, pod, node);
}

void Tap::PatchPodStatus(RequestId id, const api::PodPtr& pod, const std::optional<api::PodCondition>& scheduled,
                         std::optional<util::Symbol> nominated_node) {
  RequestOutput& r = Request(RequestOutput::Kind::kPatch, id, pod);
  if (scheduled) r.condition = std::make_unique<api::PodCondition>(*scheduled);
  r.flag = nominated_node.has_value();
  r.node = nominated_node.value_or(util::Symbol());
  if (actions_ != nullptr) actions_->PatchPodStatus(id, pod, scheduled, nominated_node);
}

void Tap::MarkVictim(RequestId id, const api::PodPtr& victim, const api::PodCondition& disruption_target) {
  Request(RequestOutput::Kind::kMarkVictim, id, victim).condition =
      std::make_unique<api::PodCondition>(disruption_target);
  if (actions_ != nullptr) actions_->MarkVictim(id, victim, disruption_target);
}

void Tap::DeletePod(RequestId id, const api::PodPtr& pod) {
  Request(RequestOutput::Kind::kDelete, id, pod);
  if (actions_ != nullptr) actions_->DeletePod(id, pod);
}

void Tap::GetPod(RequestId id, const api::Pod& pod) {
  RequestOutput& r = Request(RequestOutput::Kind::kGet, id, nullptr);
  r.words = Words(pod.meta.Key(), pod.meta.uid);
  if (actions_ != nullptr) actions_->GetPod(id, pod);
}

void Tap::GetNode(RequestId id, util::Symbol name) {
  Request(RequestOutput::Kind::kGetNode, id, nullptr).node = name;
  if (actions_ != nullptr) actions_->GetNode(id, name);
}

void Tap::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& binding) {
  RequestOutput& r = Request(RequestOutput::Kind::kVolume, id, nullptr);
  r.words = Words(binding.volume->meta.name, binding.claim->meta.Key());
  r.flag = binding.set_bound_by_controller;
  if (actions_ != nullptr) actions_->UpdateVolume(id, binding);
}

void Tap::UpdateClaim(RequestId id, const std::shared_ptr<const api::PersistentVolumeClaim>& claim) {
  RequestOutput& r = Request(RequestOutput::Kind::kClaim, id, nullptr);
  r.words = Words(claim->meta.Key(), claim->selected_node.value_or(""));
  if (actions_ != nullptr) actions_->UpdateClaim(id, claim);
}

void Tap::NoteEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                    const std::string& message) {
  const bool warning = type == scheduler::EventType::kWarning;
  const MessageForm form = warning || reason != "Scheduled" ? MessageForm::kText : FormOf(*pod, message);
  ReplyInput* const input = InputWithoutOutputs<ReplyInput>();
  if (form != MessageForm::kText && input != nullptr && input->assigned().pod == nullptr) {
    input->set_assigned({pod, pod->node_name, form});
    return;
  }
  RequestOutput& r = Request(RequestOutput::Kind::kEvent, 0, pod);
  r.flag = warning;
  r.message = form;
  if (form == MessageForm::kText) {
    r.words = Words(std::string(reason), message);
  } else {
    r.node = pod->node_name;
  }
}

void Tap::RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason, std::string message) {
  NoteEvent(pod, type, reason, message);
  if (actions_ != nullptr) actions_->RecordEvent(pod, type, reason, std::move(message));
}

void Tap::RecordRelatedEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason,
                             std::string message, const api::PodPtr& related) {
  NoteEvent(pod, type, reason, message);
  if (actions_ != nullptr) actions_->RecordRelatedEvent(pod, type, reason, std::move(message), related);
}

void Tap::Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t round_robin) {
  ScheduleInput* const input = InputWithoutOutputs<ScheduleInput>();
  if (input != nullptr && input->pod == nullptr && decision.outcome == scheduler::Decision::Outcome::kPlaced &&
      decision.error.empty()) {
    *input = {pod,
              util::SharedSymbol(decision.host),
              static_cast<uint32_t>(decision.feasible),
              static_cast<uint32_t>(decision.ties),
              0,
              round_robin};
  } else {
    batch_.emplace_back().what.emplace<DecisionOutput>(pod, decision, round_robin);
  }
  if (next_ != nullptr) next_->Decided(pod, decision, round_robin);
}

void Tap::PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) {
  batch_.emplace_back().what = std::make_unique<PreemptionOutput>(PreemptionOutput{pod, preemption});
  if (next_ != nullptr) next_->PreemptionChosen(pod, preemption);
}

// ---- clocks -------------------------------------------------------------------------------------

// The scheduler receives exactly what is recorded, so the precision is reduced here and not when it is written.
// Readings outside of an input are not recorded.
absl::Duration Tap::Steady() const {
  const int64_t us = absl::ToInt64Microseconds(clock_->Steady());
  if (open_) batch_[input_].steady.push_back(us);
  return absl::Microseconds(us);
}

absl::Time Tap::Wall() const {
  const int64_t seconds = absl::ToUnixSeconds(clock_->Wall());
  if (open_) batch_[input_].wall.push_back(seconds);
  return absl::FromUnixSeconds(seconds);
}

}  // namespace berth::recording
