// The queue of releases with plugins (Kubernetes 1.29 internal/queue). Pods with higher priority are popped first, and
// of pods with equal priority the one that has waited longest since it was added or given back. What differs between
// releases is in QueueRules.
//
// A pod in the queue is in one of three places:
//   active          ready to be tried
//   backoff         becomes active when its back-off of 1 s to 10 s, counted from its last attempt, has ended
//   unschedulable   waits for an event that wakes the pods of a rule that rejected it (EventQueueOptions::wakes), or
//                   for 5 minutes
//
//       Add                         Pop
//   ----------->      active      ------>   attempt
//                    ^      ^                  |
//          back-off  |      |  event           |  AddRejected
//          has ended |      |                  v
//                 backoff <----- unschedulable (or backoff, when no plugin rejected the pod or an event was missed)
//                         event
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/scheduler/queue/events_in_flight.h"
#include "pkg/scheduler/queue/pods_by_name.h"
#include "pkg/scheduler/queue/queue_counters.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/queue/waiting_pods.h"

namespace berth::scheduler {
namespace {

using util::Symbol;
using Kind = ClusterEvent::Kind;

class EventQueue final : public SchedulingQueue {
 public:
  explicit EventQueue(const EventQueueOptions& o) : options_(o), rules_(o.wakes.queue), events_(rules_.asks_hints) {
    for (const berth::scheduler::Wake& w : options_.wakes.rules) wakes_[Symbol(w.rule)] = w;
  }

  void Add(const api::PodPtr& pod) override {
    auto [e, added] = Enter(pod);
    if (added) {
      e->since = ++seq_;
    } else {
      Take(*e);
      e->pod = pod;
    }
    Put(*e, Place::kActive);
    if (added) Count(e->failed == Failed() ? QueueCounters::kPodAdd : QueueCounters::kPodUpdate, e->where);
    nominated_.Add(pod);
  }

  void AddIfNotPresent(const api::PodPtr& pod) override {
    if (!Has(*pod)) Add(pod);
  }

  void AddUnschedulableIfNotPresent(const api::PodPtr& pod, Requeue why, uint64_t cycle, absl::Duration now) override {
    AddRejected(pod, why, {}, cycle, now);
  }

  void AddRejected(const api::PodPtr& pod, Requeue, const std::vector<Symbol>& plugins, uint64_t cycle,
                   absl::Duration now) override {
    auto [entered, added] = Enter(pod);
    if (!added) return;
    Entry& e = *entered;
    e.since = ++seq_;  // the pod is behind those that were added during its attempt
    if (!rules_.errors_back_off_apart) {
      ++e.failed.rejections;
    } else if (plugins.empty()) {
      ++e.failed.errors;
    } else {
      ++e.failed.rejections;
      e.failed.errors = 0;
    }
    e.failed_at = now;
    e.rejected_by = plugins;
    const bool waits_for_none = plugins.empty() && !rules_.errors_wait_for_events;
    Put(e, waits_for_none || MissedAnEvent(e, cycle) ? Place::kBackoff : Place::kUnschedulable);
    events_.DropOld();
    Count(QueueCounters::kAttemptFailed, e.where);
    CountRejected(e, 1);
    nominated_.Add(pod);
  }

  api::PodPtr Pop() override {
    if (active_.empty() && !PopsEarly()) return nullptr;
    if (active_.empty()) Count(QueueCounters::kPoppedEarly, Place::kActive);
    Entry* e = active_.empty() ? backoff_.begin()->second : active_.begin()->second;
    Take(*e);
    CountRejected(*e, -1);
    TakeFailedOfAnother(*e->pod);  // of another attempt of the same pod, which was never given back
    e->where = Place::kTried;
    e->cycle = ++cycle_;
    events_.BeginAttempt(cycle_);
    nominated_.Remove(*e->pod);
    last_tried_ = e;
    return e->pod;
  }
  uint64_t cycle() const override { return cycle_; }
  void Done(const api::Pod& pod) override {
    TakeFailed(pod);
    events_.DropOld();
  }
  bool WasFlushed(const api::Pod& pod) const override {
    if (const Entry* e = Find(pod); e != nullptr && IsTried(*e, pod)) return e->flushed;
    const auto it = in_flight_.find(pod.meta.uid);
    return it != in_flight_.end() && it->second.flushed;
  }

  void Update(const api::PodPtr& pod, bool changed, absl::Duration now) override {
    Entry* const found = FindQueued(*pod);
    if (found == nullptr) return Add(pod);
    Entry& e = *found;
    if (rules_.asks_hints) return UpdateByHints(e, pod, changed, now);
    Take(e);
    CountRejected(e, -1);
    e.pod = pod;
    CountRejected(e, 1);
    const bool moves =
        changed && (e.where == Place::kUnschedulable || (rules_.updates_end_backoff && e.where == Place::kBackoff));
    const bool waits = BackoffEnd(e) > now && !rules_.updates_end_backoff;
    Put(e, !moves ? e.where : waits ? Place::kBackoff : Place::kActive);
    if (moves) Count(QueueCounters::kPodUpdate, e.where);
    nominated_.Add(pod);
  }

  void Delete(const api::Pod& pod) override {
    nominated_.Remove(pod);
    Done(pod);
    Entry* const found = FindQueued(pod);
    if (found == nullptr) return;
    Take(*found);
    CountRejected(*found, -1);
    Remove(found);
  }

  bool Has(const api::Pod& pod) const override { return FindQueued(pod) != nullptr; }
  absl::Duration BackoffEndOf(const api::Pod& pod) const override {
    const Entry* const found = Find(pod);
    return found != nullptr && found->where == Place::kBackoff ? BackoffEnd(*found) : absl::ZeroDuration();
  }

  void ClusterChanged(const ClusterEvent& event, absl::Duration now) override {
    const auto *before = event.Before<api::Node>(), *after = event.After<api::Node>();
    if (!rules_.asks_hints || before == nullptr || after == nullptr) return HandleEvent(event, now);
    const EventSet changes = NodeChanges(*before, *after);
    for (int k = 0; k <= static_cast<int>(Kind::kNodeOther); ++k) {
      const auto kind = static_cast<Kind>(k);
      if ((changes & EventsOf({kind})) != 0) HandleEvent({kind, event.objects}, now);
    }
  }
  void MoveAllToActiveQueue(absl::Duration now) override { ClusterChanged({.kind = Kind::kUnschedulableTimeout}, now); }
  void AssignedPodAdded(const api::Pod& pod, absl::Duration now) override {
    ClusterChanged({Kind::kAssignedPodAdd, EventObject<api::Pod>{nullptr, std::make_shared<const api::Pod>(pod)}}, now);
  }
  void AssignedPodUpdated(const api::Pod& pod, absl::Duration now) override {
    ClusterChanged({Kind::kAssignedPodUpdate, EventObject<api::Pod>{nullptr, std::make_shared<const api::Pod>(pod)}},
                   now);
  }

  void Flush(absl::Duration now) override {
    // As in 1.29, back-offs are looked at once in a second. Pods become active in the order in which their back-offs
    // end.
    if (now >= next_backoff_flush_) {
      next_backoff_flush_ = now + absl::Seconds(1);
      for (BackoffIndex* index : {&backoff_, &error_backoff_}) {
        while (!index->empty() && ReadyAt(*index) <= now) {
          Entry& e = *index->begin()->second;
          Take(e);
          Put(e, Place::kActive);
          Count(QueueCounters::kBackoffOver, e.where);
        }
      }
    }
    if (now < next_long_flush_) return;
    next_long_flush_ = now + options_.flush_period;
    const std::vector<Entry*> late = Late(now);
    if (late.empty()) return;
    moved_in_cycle_ = cycle_;
    for (Entry* e : late) {
      e->flushed = true;
      Wake(*e, Kind::kUnschedulableTimeout, now);
    }
  }

  absl::Duration NextFlush() const override {
    absl::Duration next = unschedulable_.empty() ? absl::InfiniteDuration() : next_long_flush_;
    for (const BackoffIndex* index : {&backoff_, &error_backoff_}) {
      if (!index->empty()) next = std::min(next, std::max(next_backoff_flush_, ReadyAt(*index)));
    }
    return next;
  }

  NominatedPods* nominated() override { return &nominated_; }
  Depth depth() const override {
    return {active_.size(), backoff_.size() + error_backoff_.size(), unschedulable_.size()};
  }
  QueueCounts counts() const override {
    QueueCounts counts = counters_.Counts(rules_.names_resources);
    events_.ForEachKind([&](Kind kind, int64_t events) { counts.in_flight.push_back({LabelOf(kind), events}); });
    if (rules_.asks_hints && cycle_ > 0) {
      counts.in_flight.push_back({"PodPopped", static_cast<int64_t>(events_.attempts())});
    }
    return counts;
  }

 private:
  // In the order of QueueCounters::Part; kTried: popped, and not given back.
  enum class Place : uint8_t { kActive, kBackoff, kUnschedulable, kTried };
  // The attempts of a pod that failed. Errors in a row stand for the rejections while they last, if they count apart;
  // otherwise all count as rejections.
  struct Failed {
    int rejections = 0, errors = 0;
    friend bool operator==(const Failed&, const Failed&) = default;
  };
  struct Entry {
    api::PodPtr pod;
    Place where = Place::kActive;
    uint64_t since = 0;  // sequence number of when it was added or given back; moves between the places keep it
    uint64_t cycle = 0;  // while it is tried: the number of its Pop
    Failed failed;
    absl::Duration failed_at;                    // end of the last attempt
    std::vector<Symbol> rejected_by;             // the rules that rejected the pod in its last attempt
    bool flushed = false;                        // whether its wait since then was ended without an event
    WaitingPods<Entry>::Group* group = nullptr;  // while it is unschedulable, with its place there
    size_t place = 0;
  };
  using Group = WaitingPods<Entry>::Group;
  using ActiveKey = std::pair<int64_t, uint64_t>;  // minus the priority; Entry::since
  // End of the back-off; within one second of 1.36 like the active pods.
  using BackoffIndex = absl::btree_map<std::pair<absl::Duration, ActiveKey>, Entry*>;

  ActiveKey KeyOf(const Entry& e) const { return {-static_cast<int64_t>(e.pod->Priority()), e.since}; }

  // Returns when the back-off ends. It doubles with each attempt, up to the maximum.
  absl::Duration BackoffEnd(const Entry& e) const {
    const int attempts = e.failed.errors > 0 ? e.failed.errors : e.failed.rejections;
    absl::Duration d = options_.initial_backoff;
    for (int i = 1; i < attempts && d < options_.max_backoff; ++i) d *= 2;
    const absl::Duration end = e.failed_at + std::min(d, options_.max_backoff);
    return rules_.errors_back_off_apart ? absl::Trunc(end, absl::Seconds(1)) : end;
  }
  BackoffIndex& IndexOf(const Entry& e) { return e.failed.errors > 0 ? error_backoff_ : backoff_; }
  BackoffIndex::key_type BackoffKey(const Entry& e) const {
    return {BackoffEnd(e), rules_.errors_back_off_apart ? KeyOf(e) : ActiveKey(0, e.since)};
  }
  // Returns when the first pod of the index becomes active. Ends that are whole seconds must have passed.
  absl::Duration ReadyAt(const BackoffIndex& index) const {
    return index.begin()->first.first + (rules_.errors_back_off_apart ? absl::Seconds(1) : absl::ZeroDuration());
  }
  bool PopsEarly() const { return rules_.pops_from_backoff && !backoff_.empty(); }

  // Handles one event. What was noticed counts for pods whose attempt is under way, even if no pod in the queue is
  // moved.
  void HandleEvent(const ClusterEvent& event, absl::Duration now) {
    if ((options_.wakes.noticed & EventsOf({event.kind})) == 0 && event.kind != Kind::kUnschedulableTimeout) {
      const bool counts = rules_.counts_any_node_change && event.kind == Kind::kNodeOther && unschedulable_.empty();
      if (counts) moved_in_cycle_ = cycle_;
      return;
    }
    moved_in_cycle_ = cycle_;
    events_.Note(event, cycle_);
    const bool placed = event.kind == Kind::kAssignedPodAdd || event.kind == Kind::kAssignedPodUpdate;
    if (placed && !rules_.asks_hints) {
      const api::Pod* other = event.pod();
      if (other == nullptr) return;
      return MoveIf(event, now, /*needs_near=*/true, [&](const Entry& e) { return WantsToBeNear(*e.pod, *other); });
    }
    const api::Node* node = event.After<api::Node>();
    if (node != nullptr && options_.may_fit && rules_.looks_at_nodes) {
      return MoveIf(event, now, false, [&](const Entry& e) { return options_.may_fit(*e.pod, *node); });
    }
    // A pod that was only nominated was counted by pods that are not more important.
    const api::Pod* gone = event.kind == Kind::kAssignedPodDelete ? event.Before<api::Pod>() : nullptr;
    const bool was_nominated = gone != nullptr && gone->node_name.empty();
    MoveIf(event, now, false, [&](const Entry& e) { return !was_nominated || e.pod->Priority() <= gone->Priority(); });
  }

  // Replaces a pod in the queue. If it waits for an event, each of its changes is one.
  void UpdateByHints(Entry& e, const api::PodPtr& pod, bool changed, absl::Duration now) {
    const api::PodPtr before = e.pod;
    Take(e);
    CountRejected(e, -1);
    e.pod = pod;
    CountRejected(e, 1);
    Put(e, e.where);
    const EventSet changes = OwnChanges(*before, *pod);
    for (int k = static_cast<int>(Kind::kOwnLabels); k <= static_cast<int>(Kind::kOwnOther); ++k) {
      const auto kind = static_cast<Kind>(k);
      if (e.where != Place::kUnschedulable || (changes & EventsOf({kind})) == 0) continue;
      if (kind == Kind::kOwnOther && !changed) continue;
      if (IsWoken({kind, EventObject<api::Pod>{before, pod}}, e)) Wake(e, kind, now);
    }
    nominated_.Add(pod);
  }

  // Returns whether an event since the pod's Pop may be the one that it needs, so that it does not wait for another
  // one. By default, any event since the last Pop is; where hints are asked, it is one that wakes the pod.
  bool MissedAnEvent(const Entry& e, uint64_t cycle) const {
    if (!rules_.asks_hints) return moved_in_cycle_ >= cycle_;
    return events_.AnySince(cycle, [&](const ClusterEvent& event) { return IsWoken(event, e); });
  }

  // Returns the entry of a pod of this name, in the queue or tried, or null.
  Entry* Find(const api::Pod& pod) const {
    if (last_tried_ != nullptr) {
      const api::ObjectMeta& last = last_tried_->pod->meta;
      if (last.name == pod.meta.name && last.ns == pod.meta.ns) return last_tried_;
    }
    return entries_.Find(pod);
  }
  Entry* FindQueued(const api::Pod& pod) const {
    Entry* const e = Find(pod);
    return e == nullptr || e->where == Place::kTried ? nullptr : e;
  }
  // Returns whether the pod itself is tried, and not an earlier one of its name.
  static bool IsTried(const Entry& e, const api::Pod& pod) {
    return e.where == Place::kTried && e.pod->meta.uid == pod.meta.uid;
  }
  void Remove(Entry* e) {
    if (e == last_tried_) last_tried_ = nullptr;
    entries_.Remove(e);
  }
  // Returns the entry of the pod, and whether it is not in the queue yet. Then it is as new, but for the failed
  // attempts if the pod was tried.
  std::pair<Entry*, bool> Enter(const api::PodPtr& pod) {
    Entry* e = Find(*pod);
    if (e != nullptr && e->where != Place::kTried) return {e, false};
    Failed failed;
    if (e == nullptr) {
      failed = TakeFailedOfAnother(*pod);
      e = entries_.Add(pod).first;
    } else if (IsTried(*e, *pod)) {
      failed = e->failed;
      events_.EndAttempt(e->cycle);
    } else {
      in_flight_[e->pod->meta.uid] = {e->failed, e->cycle, e->flushed};
      failed = TakeFailedOfAnother(*pod);
    }
    if (e == last_tried_) last_tried_ = nullptr;
    e->pod = pod;
    e->failed = failed;
    e->failed_at = absl::ZeroDuration();
    e->rejected_by.clear();
    e->flushed = false;
    return {e, true};
  }

  // Returns the failed attempts of a popped pod, which is not tried any more; none when it was not.
  Failed TakeFailed(const api::Pod& pod) {
    Entry* const e = Find(pod);
    if (e == nullptr || !IsTried(*e, pod)) return TakeFailedOfAnother(pod);
    const Failed failed = e->failed;
    events_.EndAttempt(e->cycle);
    Remove(e);
    return failed;
  }
  // The same for a pod whose name another one has got since.
  Failed TakeFailedOfAnother(const api::Pod& pod) {
    if (in_flight_.empty()) return {};
    auto it = in_flight_.find(pod.meta.uid);
    if (it == in_flight_.end()) return {};
    const Failed failed = it->second.failed;
    events_.EndAttempt(it->second.cycle);
    in_flight_.erase(it);
    return failed;
  }

  // Puts the entry into the index of the place. While it is there, nothing that its key is made of may change.
  void Put(Entry& e, Place place) {
    e.where = place;
    switch (place) {
      case Place::kActive:
        active_[KeyOf(e)] = &e;
        break;
      case Place::kBackoff:
        IndexOf(e)[BackoffKey(e)] = &e;
        break;
      case Place::kUnschedulable:
        unschedulable_.Add(&e, [&] { return WaitsForOf(e); });
        earliest_failed_ = std::min(earliest_failed_, e.failed_at);
        break;
      case Place::kTried:
        break;
    }
  }

  // Takes the entry out of the index of its place.
  void Take(Entry& e) {
    switch (e.where) {
      case Place::kActive:
        active_.erase(KeyOf(e));
        break;
      case Place::kBackoff:
        IndexOf(e).erase(BackoffKey(e));
        break;
      case Place::kUnschedulable:
        unschedulable_.Remove(&e);
        break;
      case Place::kTried:
        break;
    }
  }

  // Moves an unschedulable pod to where it waits for the end of its back-off, or makes it active.
  void Wake(Entry& e, Kind kind, absl::Duration now) {
    Take(e);
    Put(e, BackoffEnd(e) > now ? Place::kBackoff : Place::kActive);
    Count(static_cast<size_t>(kind), e.where);
  }

  void Count(size_t cause, Place place) { counters_.Came(cause, static_cast<QueueCounters::Part>(place)); }
  void CountRejected(const Entry& e, int64_t by) { counters_.Rejected(e.rejected_by, e.pod->tmpl->scheduler_name, by); }

  // Returns the events that may wake the pod: all, if a rule of which nothing is known has rejected it.
  WaitsFor WaitsForOf(const Entry& e) const {
    WaitsFor out;
    for (const Symbol rule : e.rejected_by) {
      const auto it = wakes_.find(rule);
      out.events |= it == wakes_.end() ? ~EventSet{0} : it->second.events;
    }
    if (e.rejected_by.empty()) out.events = ~EventSet{0};
    const auto& affinity = e.pod->tmpl->affinity.pod;
    out.near = affinity && !affinity->required.empty();
    return out;
  }

  // Returns whether the event wakes the pod, by the rules that rejected it. The answer holds for `pods` pods.
  bool IsWoken(const ClusterEvent& event, const Entry& e, uint64_t pods = 1) const {
    if (event.kind == Kind::kUnschedulableTimeout || e.rejected_by.empty()) return true;
    return std::any_of(e.rejected_by.begin(), e.rejected_by.end(), [&](Symbol rule) {
      auto it = wakes_.find(rule);
      if (it == wakes_.end()) return true;
      if ((it->second.events & EventsOf({event.kind})) == 0) return false;
      return !rules_.asks_hints || MayHelp(*e.pod, rule, event, pods);
    });
  }
  // Asks the hint of the rule, and measures how long it takes. It counts as asked for each of the pods.
  bool MayHelp(const api::Pod& pod, Symbol rule, const ClusterEvent& event, uint64_t pods) const {
    const auto now = [&] { return options_.read_clock ? options_.read_clock() : absl::ZeroDuration(); };
    const absl::Duration begun = now();
    const bool may_help = !options_.may_help || options_.may_help(pod, rule, event);
    counters_.CountHint(rule, event.kind, may_help, (now() - begun) / static_cast<int64_t>(pods), pods);
    return may_help;
  }

  // Returns whether what the event means for one pod of the group, it means for all of them.
  bool AsksOnceFor(const Group& group, const ClusterEvent& event) const {
    const api::PodTemplate& t = *group.pods[0]->pod->tmpl;
    if (!options_.asks_by_template || !t.volumes.empty() || t.has_resource_claims) return false;
    const Entry* const own = event.pod() == nullptr ? nullptr : FindQueued(*event.pod());
    return own == nullptr || own->group != &group;
  }

  // Wakes the unschedulable pods that the event concerns and for which `may_help` returns true; with `needs_near`, only
  // those that must be near other pods.
  template <typename F>
  void MoveIf(const ClusterEvent& event, absl::Duration now, bool needs_near, F may_help) {
    std::vector<Entry*> woken;
    const EventSet events = event.kind == Kind::kUnschedulableTimeout ? ~EventSet{0} : EventsOf({event.kind});
    unschedulable_.ForEachGroup(events, needs_near, [&](const Group& group) {
      const Entry& first = *group.pods[0];
      if (AsksOnceFor(group, event)) {
        if (!IsWoken(event, first, group.pods.size()) || !may_help(first)) return;
        woken.insert(woken.end(), group.pods.begin(), group.pods.end());
        return;
      }
      for (Entry* e : group.pods) {
        if (IsWoken(event, *e) && may_help(*e)) woken.push_back(e);
      }
    });
    for (Entry* e : woken) Wake(*e, event.kind, now);
  }

  // Returns the unschedulable pods whose wait has reached the limit. Looks at them only if there may be one.
  std::vector<Entry*> Late(absl::Duration now) {
    std::vector<Entry*> late;
    if (now - earliest_failed_ <= options_.unschedulable_limit) return late;
    earliest_failed_ = absl::InfiniteDuration();
    unschedulable_.ForEachGroup(~EventSet{0}, false, [&](const Group& group) {
      for (Entry* e : group.pods) {
        if (now - e->failed_at > options_.unschedulable_limit) {
          late.push_back(e);
        } else {
          earliest_failed_ = std::min(earliest_failed_, e->failed_at);
        }
      }
    });
    return late;
  }

  const EventQueueOptions options_;
  const QueueRules rules_;
  absl::flat_hash_map<Symbol, berth::scheduler::Wake> wakes_;  // options_.wakes.rules
  NominatedPods nominated_;
  // The pods in the queue and those being tried. Invariant: each entry of the former is in exactly one of the indexes
  // below, the one of Entry::where.
  PodsByName<Entry> entries_;
  Entry* last_tried_ = nullptr;  // the last one that was popped, while it is tried
  absl::btree_map<ActiveKey, Entry*> active_;
  BackoffIndex backoff_, error_backoff_;  // the latter: after errors that count apart
  WaitingPods<Entry> unschedulable_;
  // Of the unschedulable pods, none failed before.
  absl::Duration earliest_failed_ = absl::InfiniteDuration();
  // Of the pods being tried whose name another pod has got, by uid. The attempts of all are in events_.
  struct InFlight {
    Failed failed;
    uint64_t cycle = 0;
    bool flushed = false;  // Entry::flushed
  };
  absl::flat_hash_map<std::string, InFlight> in_flight_;
  EventsInFlight events_;
  mutable QueueCounters counters_;  // what is asked of hints does not change the queue
  uint64_t seq_ = 0;
  uint64_t cycle_ = 0;           // number of pods popped so far
  uint64_t moved_in_cycle_ = 0;  // cycle_ at the last event
  absl::Duration next_backoff_flush_, next_long_flush_;
};

}  // namespace

std::unique_ptr<SchedulingQueue> NewEventQueue(const EventQueueOptions& options) {
  return std::make_unique<EventQueue>(options);
}

}  // namespace berth::scheduler
