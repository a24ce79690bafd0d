// Pods that arrive, start, end and are evicted.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/simulate/world.h"

namespace berth::simulate {

World::PodState* World::Find(const std::string& uid) {
  auto it = by_uid_.find(uid);
  return it == by_uid_.end() ? nullptr : &pods_[it->second];
}

World::PodState* World::Find(Handle h) {
  PodState& p = pods_[h.slot];
  return p.object != nullptr && p.generation == h.generation ? &p : nullptr;
}

World::Handle World::HandleOf(const PodState& p) const {
  return {p.slot, p.generation};
}

// Returns the name, or one like it if another pod has it now.
std::string World::FreeName(const std::string& ns, std::string name) {
  if (names_.insert(absl::StrCat(ns, "/", name)).second) return name;
  ++out_.renamed;
  for (int64_t i = 2;; ++i) {
    std::string other = absl::StrCat(name, "-", i);
    if (names_.insert(absl::StrCat(ns, "/", other)).second) return other;
  }
}

// Adds a pod to the tables. Its name must be in names_ already.
World::PodState& World::Add(api::PodPtr object) {
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(pods_.size());
    pods_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  PodState& p = pods_[slot];
  const uint32_t generation = p.generation + 1;
  p = {};
  p.slot = slot;
  p.generation = generation;
  p.object = std::move(object);
  p.arrived = clock_.now();
  by_uid_[p.object->meta.uid] = slot;
  ++unplaced_;
  out_.most_pods = std::max(out_.most_pods, by_uid_.size());
  NoteBudgets(p, true);
  return p;
}

void World::Arrive(const Arrival& a) {
  auto pod = std::make_shared<api::Pod>();
  if (a.as_is) {
    *pod = *a.pod;
    pod->raw.reset();
    if (pod->meta.uid.empty() || by_uid_.contains(pod->meta.uid)) pod->meta.uid = absl::StrCat("arrival-", ++last_uid_);
  } else {
    pod->tmpl = a.pod->tmpl;
    pod->meta.ns = a.pod->meta.ns;
    pod->meta.name = a.name;
    pod->meta.uid = absl::StrCat("arrival-", ++last_uid_);
  }
  // It is made now, and nobody has tried it yet, whatever the object said: queues may go by these times.
  pod->meta.creation_seconds = clock_.WallSeconds();
  pod->scheduled = {};
  pod->meta.name = FreeName(pod->meta.ns.string(), std::move(pod->meta.name));
  pod->meta.resource_version = absl::StrCat(++last_version_);
  ++out_.pods;
  if (out_.first_arrival == kNever) out_.first_arrival = clock_.now();
  out_.last_change = clock_.now();
  PodState& p = Add(pod);
  p.duration = a.duration;
  p.again = true;
  if (!pod->node_name.empty()) {
    // Nobody decides about a pod that arrives with a node.
    NotePlacement(&p, pod->node_name.str());
    Place(&p, FindNode(pod->node_name.str()));
    Show<api::Pod>(nullptr, p.object);
    Changed();
    return Started(&p);
  }
  Show<api::Pod>(nullptr, p.object);
}

void World::Use(const api::PodTemplate& t, double by) {
  const std::vector<int64_t>& request = RequestOf(t);
  for (size_t r = 0; r < used_.size(); ++r) used_[r] += by * static_cast<double>(request[r]);
}

// Pods of one template follow one another, and there are few templates.
const std::vector<int64_t>& World::RequestOf(const api::PodTemplate& t) {
  constexpr size_t kMostTemplates = 65'536;
  auto known = requests_.find(&t);
  if (known == requests_.end()) {
    if (requests_.size() >= kMostTemplates) requests_.clear();
    // Keeps the template, whose address would otherwise be used again.
    known = requests_.emplace(&t, std::pair(last_template_, what_.workload->RequestOf(t))).first;
  }
  return known->second.second;
}

void World::Place(PodState* p, NodeState* node) {
  --unplaced_;
  last_template_ = p->object->tmpl;
  Use(*p->object->tmpl, 1);
  if (node == nullptr) return;
  p->node = node;
  p->position = node->pods.size();
  node->pods.push_back(p->slot);
}

void World::Unplace(PodState* p) {
  if (p->object->node_name.empty()) {
    --unplaced_;
    return;
  }
  last_template_ = p->object->tmpl;
  Use(*p->object->tmpl, -1);
  if (p->node == nullptr) return;
  std::vector<uint32_t>& pods = p->node->pods;
  pods_[pods.back()].position = p->position;
  pods[p->position] = pods.back();
  pods.pop_back();
  p->node = nullptr;
}

void World::Started(PodState* p) {
  p->ready = true;
  if (p->evicted_at != kNever) out_.absent += clock_.now() - std::exchange(p->evicted_at, kNever);
  NoteBudgets(*p, true);
  if (p->duration != kNever) events_.push({Plus(clock_.now(), p->duration), ++last_event_, HandleOf(*p), 0});
}

// Removes a pod that has ended or is deleted.
void World::Gone(PodState* p) {
  NodeState* const node = p->node;
  const bool ended = !p->leaving;
  const PodState gone = *p;
  Unplace(p);
  NoteBudgets(gone, false);
  by_uid_.erase(gone.object->meta.uid);
  names_.erase(gone.object->meta.Key());
  p->object = nullptr;
  free_slots_.push_back(gone.slot);
  if (ended || !gone.from_start) out_.last_change = clock_.now();
  Show<api::Pod>(gone.object, nullptr);
  Changed();
  if (gone.comes_again) Replace(gone);
  if (node != nullptr && node->draining) ContinueDrain(node);
}

void World::Evict(PodState* p) {
  ++out_.evictions;
  if (!p->again) ++out_.lost;
  Leave(p, p->again);
}

// Deletes a pod: at once if it has no node, and otherwise after the delay.
void World::Leave(PodState* p, bool comes_again) {
  p->leaving = true;
  p->comes_again = comes_again;
  if (options_.end_delay == 0 || p->object->node_name.empty()) return Gone(p);
  const api::PodPtr before = p->object;
  auto leaving = std::make_shared<api::Pod>(*before);
  leaving->meta.deletion_seconds = clock_.WallSeconds() + options_.end_delay / kSecond;
  leaving->meta.resource_version = absl::StrCat(++last_version_);
  p->object = leaving;
  NoteBudgets(*p, true);
  Show<api::Pod>(before, leaving);
  After(options_.end_delay, [this, h = HandleOf(*p)] {
    if (PodState* left = Find(h)) Gone(left);
  });
}

// Where the release tries pods before their back-off ends, one may be evicted and placed again for ever, and time would
// never go on. After a few times its controller needs a second, and then longer, up to about a minute.
void World::Replace(const PodState& gone) {
  constexpr uint8_t kFew = 8, kMostDoublings = 6;
  const uint8_t brief = gone.arrived == clock_.now() ? std::min<uint8_t>(gone.brief + 1, kFew + kMostDoublings) : 0;
  if (brief < kFew) return ComeAgain(gone, brief, clock_.now());
  After(kSecond << (brief - kFew), [this, gone, brief, at = clock_.now()] { ComeAgain(gone, brief, at); });
}

// The controller of a pod that was evicted creates another one, which runs for as long as that one would have.
void World::ComeAgain(const PodState& gone, uint8_t brief, Micros evicted_at) {
  auto pod = std::make_shared<api::Pod>();
  pod->tmpl = gone.object->tmpl;
  pod->meta.ns = gone.object->meta.ns;
  pod->meta.name = FreeName(pod->meta.ns.string(), gone.object->meta.name);
  pod->meta.uid = absl::StrCat("again-", ++last_uid_);
  pod->meta.creation_seconds = clock_.WallSeconds();
  pod->meta.resource_version = absl::StrCat(++last_version_);
  PodState& p = Add(pod);
  p.duration = gone.duration;
  p.again = true;
  p.from_start = gone.from_start;
  p.was_placed = gone.was_placed;
  p.evicted_at = evicted_at;
  p.brief = brief;
  Show<api::Pod>(nullptr, p.object);
}

// Notes that a pod was placed, or, without a node, that it never was.
void World::NotePlacement(PodState* p, std::string_view node) {
  const Micros now = clock_.now();
  Placement placement;
  const std::string key = p->object->meta.Key();
  placement.pod = key;
  placement.priority = p->object->Priority();
  placement.arrived = p->arrived;
  placement.attempts = p->attempts;
  placement.node = node;
  if (node.empty()) {
    ++out_.never_placed;
    if (p->why.empty()) p->why = WhyNotTried(*p->object);
    ++out_.never_placed_why[p->why];
    placement.why = p->why;
  } else {
    placement.placed = now;
    out_.last_change = now;
    if (!p->was_placed && !p->from_start) ++out_.placed;
    p->was_placed = true;
    const Micros wait = now - p->arrived;
    out_.waits.Add(wait);
    out_.waits_by_priority[placement.priority].Add(wait);
    const util::Symbol ns = p->object->meta.ns;
    if (last_waits_ == nullptr || ns != last_namespace_) {
      last_namespace_ = ns;
      last_waits_ = &out_.waits_by_namespace[ns.string()];
    }
    last_waits_->Add(wait);
  }
  if (options_.placement) options_.placement(placement);
}

std::string World::WhyNotTried(const api::Pod& pod) const {
  const recording::Core::Profile* const profile = core_->ProfileOf(pod);
  if (profile == nullptr) {
    return absl::StrCat("no scheduler is called ", pod.tmpl->scheduler_name.string());
  }
  if (!pod.tmpl->scheduling_gates.empty() && !profile->algorithm->config().passes_gates) {
    return "it has scheduling gates";
  }
  return "it was not tried";
}

}  // namespace berth::simulate
