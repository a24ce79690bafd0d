#include "pkg/simulate/living_pods.h"

#include <algorithm>
#include <utility>

#include "pkg/simulate/pod_table.h"

namespace berth::simulate {
namespace {

constexpr uint8_t kMostBrief = 14;

const std::string& ControllerUidOf(const api::Pod& pod) {
  static const std::string none;
  return pod.tmpl->controller ? pod.tmpl->controller->uid : none;
}

}  // namespace

LivingPod* LivingPods::Find(const std::string& uid) {
  auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : &it->second;
}

void LivingPods::See(const std::string& uid, const api::PodPtr& now) {
  if (now->Finished()) return Over(uid, now->phase == api::PodPhase::kSucceeded);
  LivingPod* p = Find(uid);
  const api::PodPtr before = p == nullptr ? nullptr : p->object;
  if (p == nullptr) p = &Add(uid, now);
  p->object = now;
  const bool is_placed = before != nullptr && !before->node_name.empty();
  if (!now->node_name.empty() && !is_placed) {
    NotePlaced(p, *now);
  } else if (is_placed && before->tmpl != now->tmpl) {
    measures_->Use(before->tmpl, -1);
    measures_->Use(now->tmpl, 1);
  }
  if (now->phase == api::PodPhase::kRunning && p->evicted_at != kNever) {
    measures_->counts().absent += timeline_->now() - std::exchange(p->evicted_at, kNever);
  }
  if (now->meta.deleting() && !std::exchange(p->leaving, true)) NoteLeaving(p);
  session_->Show<api::Pod>(before, now);
  // What a pod that waits looks like itself, and how it is doing, helps no other one.
  if (!now->node_name.empty() && (!is_placed || before->tmpl != now->tmpl)) session_->Changed();
}

void LivingPods::Over(const std::string& uid, bool succeeded) {
  if (succeeded) session_->evictions().Reset();
  if (LivingPod* const p = Find(uid); p != nullptr) Remove(uid, p);
}

LivingPod& LivingPods::Add(const std::string& uid, const api::PodPtr& now) {
  LivingPod& p = pods_[uid];
  p.number = ++last_number_;
  p.arrived = timeline_->now();
  most_ = std::max(most_, pods_.size());
  ++unplaced_;
  if (at_start_) {
    p.from_start = p.was_placed = true;
    return p;
  }
  auto awaited = awaited_.find(ControllerUidOf(*now));
  if (awaited == awaited_.end()) {
    measures_->Arrived();
    return p;
  }
  const AwaitedReplacement instead = awaited->second.front();
  awaited->second.pop_front();
  if (awaited->second.empty()) awaited_.erase(awaited);
  p.was_placed = instead.was_placed;
  p.from_start = instead.from_start;
  p.evicted_at = instead.at;
  p.brief = instead.brief;
  return p;
}

void LivingPods::NotePlaced(LivingPod* p, const api::Pod& now) {
  --unplaced_;
  measures_->Use(now.tmpl, 1);
  if (at_start_) return;
  measures_->Placed({now, p->arrived, p->attempts.count()}, now.node_name.str(), !p->was_placed && !p->from_start);
  p->was_placed = true;
}

void LivingPods::NoteLeaving(LivingPod* p) {
  const api::Pod& pod = *p->object;
  const bool evicted = p->is_evicted || (!pod.node_name.empty() && is_lost_(pod.node_name.string()));
  if (!evicted) return;
  ++measures_->counts().evictions;
  const std::string& controller = ControllerUidOf(pod);
  if (controller.empty()) ++measures_->counts().lost;
  if (controller.empty() || StaysOnNode(pod)) return;
  const bool brief = p->arrived == timeline_->now();
  awaited_[controller].push_back({p->was_placed, p->from_start, timeline_->now(),
                                  brief ? std::min<uint8_t>(p->brief + 1, kMostBrief) : uint8_t{0}});
}

void LivingPods::Remove(const std::string& uid, LivingPod* p) {
  const LivingPod gone = std::move(*p);
  pods_.erase(uid);
  if (gone.object->node_name.empty()) {
    --unplaced_;
    if (!gone.was_placed) NeverPlaced(gone);
  } else {
    measures_->Use(gone.object->tmpl, -1);
  }
  if (!gone.leaving || !gone.from_start) measures_->counts().last_change = timeline_->now();
  session_->Show<api::Pod>(gone.object, nullptr);
  session_->Changed();
  gone_(gone);
}

void LivingPods::NeverPlaced(const LivingPod& p) {
  const std::string& why = p.attempts.why();
  measures_->NeverPlaced({*p.object, p.arrived, p.attempts.count()},
                         why.empty() ? session_->WhyNotTried(*p.object) : why);
}

void LivingPods::NoteNeverPlaced() {
  std::vector<const LivingPod*> waiting;
  for (const auto& [uid, p] : pods_) {
    if (p.object->node_name.empty() && !p.from_start && !p.was_placed) waiting.push_back(&p);
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const LivingPod* a, const LivingPod* b) { return a->number < b->number; });
  for (const LivingPod* p : waiting) NeverPlaced(*p);
}

}  // namespace berth::simulate
