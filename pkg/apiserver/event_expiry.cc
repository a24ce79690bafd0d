// Invariant: entries_ is in the order of the writes, so the oldest are at the front. An event that was written again
// has several entries, of which only the one with its current resource version removes it. The limit on the entries
// bounds the memory for events that are written very often.
#include "pkg/apiserver/event_expiry.h"

namespace berth::apiserver {

EventExpiry::EventExpiry(Store* store, const util::Clock* clock, absl::Duration ttl, size_t most)
    : store_(store), events_(store->catalog().Core("events")), clock_(clock), ttl_(ttl), most_(most) {
  store_->AddListener(events_, this);
}

EventExpiry::~EventExpiry() {
  store_->RemoveListener(events_, this);
}

void EventExpiry::OnEvent(const EventPtr& e) {
  if (e->type == EventType::kDeleted) return;
  entries_.push_back({clock_->Steady(), e->object->ns, e->object->name, e->rv});
}

void EventExpiry::Sweep() {
  absl::Duration oldest = clock_->Steady() - ttl_;
  while (!entries_.empty() &&
         (entries_.front().at <= oldest || store_->size(events_) > most_ || entries_.size() > 4 * most_)) {
    Entry e = std::move(entries_.front());
    entries_.pop_front();
    ObjectPtr o = store_->Get(events_, e.ns, e.name);
    if (o == nullptr || o->rv != e.rv) continue;  // deleted or written again since then
    store_->Remove(events_, WithResourceVersion(*o, store_->NextRv()));
  }
}

}  // namespace berth::apiserver
