#include "pkg/simulate/pods.h"

#include <absl/strings/str_cat.h>

#include <utility>

namespace berth::simulate {

Pods::Pods(const Options& options, Timeline* timeline, Session* session, Measures* measures, PodTable* table,
           Budgets* budgets, NodeByName node_by_name, Gone gone)
    : options_(options),
      timeline_(timeline),
      session_(session),
      measures_(measures),
      table_(table),
      budgets_(budgets),
      node_by_name_(std::move(node_by_name)),
      gone_(std::move(gone)) {
  timeline_->OnEnd([this](PodHandle h) {
    if (PodState* p = table_->Find(h)) Remove(p);
  });
}

std::string Pods::NextVersion() {
  return absl::StrCat(++last_version_);
}

PodState& Pods::Add(api::PodPtr object) {
  PodState& p = table_->Add(std::move(object), timeline_->now());
  budgets_->Note(p, true);
  return p;
}

void Pods::Place(PodState* p, NodeState* node) {
  measures_->Use(p->object->tmpl, 1);
  table_->Place(p, node);
}

void Pods::Arrive(const Arrival& a) {
  session_->evictions().Reset();
  auto pod = std::make_shared<api::Pod>();
  if (a.as_is) {
    *pod = *a.pod;
    pod->raw.reset();
    if (pod->meta.uid.empty() || table_->HasUid(pod->meta.uid)) pod->meta.uid = absl::StrCat("arrival-", ++last_uid_);
  } else {
    pod->tmpl = a.pod->tmpl;
    pod->meta.ns = a.pod->meta.ns;
    pod->meta.name = a.name;
    pod->meta.uid = absl::StrCat("arrival-", ++last_uid_);
  }
  // It is made now, and nobody has tried it yet, whatever the object said: queues may go by these times.
  pod->meta.creation_seconds = timeline_->clock().WallSeconds();
  pod->scheduled = {};
  pod->meta.name = table_->TakeName(pod->meta.ns.string(), std::move(pod->meta.name));
  pod->meta.resource_version = NextVersion();
  measures_->Arrived();
  PodState& p = Add(pod);
  p.duration = a.duration;
  p.again = true;
  if (pod->node_name.empty()) return session_->Show<api::Pod>(nullptr, p.object);
  // Nobody decides about a pod that arrives with a node.
  NotePlaced(&p, pod->node_name.str());
  Place(&p, node_by_name_(pod->node_name.str()));
  session_->Show<api::Pod>(nullptr, p.object);
  session_->Changed();
  Started(&p);
}

PodState& Pods::AddBound(api::PodPtr object, NodeState* node) {
  PodState& p = Add(std::move(object));
  p.from_start = p.was_placed = p.ready = true;
  Place(&p, node);
  session_->Show<api::Pod>(nullptr, p.object);
  return p;
}

PodState& Pods::AddLike(const PodState& gone) {
  auto pod = std::make_shared<api::Pod>();
  pod->tmpl = gone.object->tmpl;
  pod->meta.ns = gone.object->meta.ns;
  pod->meta.name = table_->TakeName(pod->meta.ns.string(), gone.object->meta.name);
  pod->meta.uid = absl::StrCat("again-", ++last_uid_);
  pod->meta.creation_seconds = timeline_->clock().WallSeconds();
  pod->meta.resource_version = NextVersion();
  PodState& p = Add(pod);
  p.duration = gone.duration;
  p.again = true;
  p.from_start = gone.from_start;
  p.was_placed = gone.was_placed;
  session_->Show<api::Pod>(nullptr, p.object);
  return p;
}

void Pods::Bind(PodState* p, NodeState* node, const api::PodPtr& bound) {
  p->object = bound;
  NotePlaced(p, bound->node_name.str());
  Place(p, node);
}

void Pods::Started(PodState* p) {
  p->ready = true;
  if (p->evicted_at != kNever) {
    measures_->counts().absent += timeline_->now() - std::exchange(p->evicted_at, kNever);
  }
  budgets_->Note(*p, true);
  if (p->duration != kNever) timeline_->EndAfter(p->duration, PodTable::HandleOf(*p));
}

void Pods::Remove(PodState* p) {
  NodeState* const node = p->node;
  const bool ended = !p->leaving;
  if (ended) session_->evictions().Reset();
  const PodState gone = *p;
  if (!p->object->node_name.empty()) measures_->Use(p->object->tmpl, -1);
  table_->Unplace(p);
  budgets_->Note(gone, false);
  table_->Remove(p);
  if (ended || !gone.from_start) measures_->counts().last_change = timeline_->now();
  session_->Show<api::Pod>(gone.object, nullptr);
  session_->Changed();
  gone_(gone, node);
}

void Pods::Evict(PodState* p) {
  ++measures_->counts().evictions;
  if (!p->again) ++measures_->counts().lost;
  Leave(p, p->again);
}

void Pods::Leave(PodState* p, bool comes_again) {
  p->leaving = true;
  p->comes_again = comes_again;
  if (options_.end_delay == 0 || p->object->node_name.empty()) return Remove(p);
  const api::PodPtr before = p->object;
  auto leaving = std::make_shared<api::Pod>(*before);
  leaving->meta.deletion_seconds = timeline_->clock().WallSeconds() + options_.end_delay / kSecond;
  leaving->meta.resource_version = NextVersion();
  p->object = leaving;
  budgets_->Note(*p, true);
  session_->Show<api::Pod>(before, leaving);
  timeline_->After(options_.end_delay, [this, h = PodTable::HandleOf(*p)] {
    if (PodState* left = table_->Find(h)) Remove(left);
  });
}

void Pods::Lose(PodState* p) {
  ++measures_->counts().evictions;
  p->comes_again = p->again && !StaysOnNode(*p->object);
  if (!p->again && !StaysOnNode(*p->object)) ++measures_->counts().lost;
  p->leaving = true;
  Remove(p);
}

void Pods::NotePlaced(PodState* p, std::string_view node) {
  measures_->Placed({*p->object, p->arrived, p->attempts.count()}, node, !p->was_placed && !p->from_start);
  p->was_placed = true;
}

void Pods::NeverPlaced(PodState* p) {
  const std::string& why = p->attempts.why();
  measures_->NeverPlaced({*p->object, p->arrived, p->attempts.count()},
                         why.empty() ? session_->WhyNotTried(*p->object) : why);
}

void Pods::NoteNeverPlaced() {
  table_->ForEach([this](PodState* p) {
    if (p->node == nullptr && !p->from_start && !p->was_placed) NeverPlaced(p);
  });
}

}  // namespace berth::simulate
