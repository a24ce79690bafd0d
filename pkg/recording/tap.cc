#include "pkg/recording/tap.h"

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::recording {

using scheduler::RequestId;

namespace {

Event Request(RequestOutput r) {
  Event e;
  e.what = std::move(r);
  return e;
}

}  // namespace

class Tap::TappedExtender final : public scheduler::Extender {
 public:
  TappedExtender(Tap* tap, std::unique_ptr<scheduler::Extender> inner) : tap_(tap), inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  bool IsInterested(const api::Pod& pod) const override { return inner_->IsInterested(pod); }
  bool IsBinder() const override { return inner_->IsBinder(); }
  absl::Status Bind(const api::Pod& pod, const std::string& node) override { return inner_->Bind(pod, node); }

  absl::StatusOr<FilterResult> Filter(const api::Pod& pod, const std::vector<api::NodePtr>& nodes) override {
    auto result = inner_->Filter(pod, nodes);
    ExtenderAnswer a{ExtenderAnswer::Call::kFilter, name(), {}, {}, {}, {}};
    if (result.ok()) {
      for (util::Symbol n : result->nodes) a.nodes.push_back(n.string());
      for (const auto& [n, reason] : result->failed) a.failed.emplace_back(n.string(), reason);
    } else {
      a.error = util::Message(result.status());
    }
    Note(std::move(a));
    return result;
  }
  absl::StatusOr<absl::flat_hash_map<util::Symbol, int64_t>> Prioritize(
      const api::Pod& pod, const std::vector<api::NodePtr>& nodes) override {
    auto result = inner_->Prioritize(pod, nodes);
    ExtenderAnswer a{ExtenderAnswer::Call::kPrioritize, name(), {}, {}, {}, {}};
    if (result.ok()) {
      for (const auto& [n, score] : *result) a.scores.emplace_back(n.string(), score);
      std::sort(a.scores.begin(), a.scores.end());
    } else {
      a.error = util::Message(result.status());
    }
    Note(std::move(a));
    return result;
  }

 private:
  void Note(ExtenderAnswer a) {
    Event e;
    e.what = std::move(a);
    tap_->Output(std::move(e));
  }
  Tap* tap_;
  std::unique_ptr<scheduler::Extender> inner_;
};

std::unique_ptr<scheduler::Extender> Tap::Wrap(std::unique_ptr<scheduler::Extender> extender) {
  return std::make_unique<TappedExtender>(this, std::move(extender));
}

void Tap::Begin(Event e) {
  input_ = batch_.size();
  batch_.push_back(std::move(e));
  open_ = true;
}

void Tap::Apply(const scheduler::Reply& r) {
  Begin({r, {}, {}});
  scheduler_->Apply(r);
  End();
}

void Tap::Tick() {
  Begin({TickInput{}, {}, {}});
  scheduler_->Tick();
  End();
}

// A call that finds nothing to try leaves no trace: there is one in every round of work.
bool Tap::ScheduleOne() {
  Begin({ScheduleInput{}, {}, {}});
  const bool tried = scheduler_->ScheduleOne();
  if (!tried) batch_.resize(input_);
  End();
  return tried;
}

void Tap::Stop() {
  Begin({StopInput{}, {}, {}});
  scheduler_->Stop();
  End();
}

void Tap::Flush() {
  if (!batch_.empty()) sink_->Take(&batch_);
  batch_.clear();
}

// ---- outputs ------------------------------------------------------------------------------------

void Tap::Bind(RequestId id, const api::PodPtr& pod, scheduler::Extender* binder) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kBind;
  r.id = id;
  r.pod = pod;
  r.name = pod->node_name.string();
  r.flag = binder != nullptr;
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->Bind(id, pod, binder);
}

void Tap::UpdatePodCondition(RequestId id, const api::PodPtr& pod, const api::PodCondition& c) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kCondition;
  r.id = id;
  r.pod = pod;
  r.condition = std::make_unique<api::PodCondition>(c);
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->UpdatePodCondition(id, pod, c);
}

void Tap::SetNominatedNode(RequestId id, const api::PodPtr& pod, util::Symbol node) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kNominate;
  r.id = id;
  r.pod = pod;
  r.name = node.string();
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->SetNominatedNode(id, pod, node);
}

void Tap::DeletePod(RequestId id, const api::PodPtr& pod) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kDelete;
  r.id = id;
  r.pod = pod;
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->DeletePod(id, pod);
}

void Tap::GetPod(RequestId id, const api::Pod& pod) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kGet;
  r.id = id;
  r.pod_name = pod.meta.Key();
  r.text = pod.meta.uid;
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->GetPod(id, pod);
}

void Tap::GetNode(RequestId id, util::Symbol name) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kGetNode;
  r.id = id;
  r.name = name.string();
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->GetNode(id, name);
}

void Tap::UpdateVolume(RequestId id, const scheduler::VolumeBinder::Binding& binding) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kVolume;
  r.id = id;
  r.name = binding.volume->meta.name;
  r.text = binding.claim->meta.Key();
  r.flag = binding.set_bound_by_controller;
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->UpdateVolume(id, binding);
}

void Tap::RecordEvent(const api::PodPtr& pod, scheduler::EventType type, std::string_view reason, std::string message) {
  RequestOutput r;
  r.kind = RequestOutput::Kind::kEvent;
  r.pod = pod;
  r.name = std::string(reason);
  r.flag = type == scheduler::EventType::kWarning;
  r.text = message;
  Output(Request(std::move(r)));
  if (actions_ != nullptr) actions_->RecordEvent(pod, type, reason, std::move(message));
}

void Tap::Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t round_robin) {
  Event e;
  e.what = DecisionOutput{pod, decision, round_robin};
  Output(std::move(e));
  if (next_ != nullptr) next_->Decided(pod, decision, round_robin);
}

void Tap::PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) {
  Event e;
  e.what = PreemptionOutput{pod, preemption};
  Output(std::move(e));
  if (next_ != nullptr) next_->PreemptionChosen(pod, preemption);
}

// ---- clocks -------------------------------------------------------------------------------------

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
