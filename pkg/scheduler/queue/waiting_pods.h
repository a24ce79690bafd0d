// The pods that wait for an event, in groups of those that one event wakes alike: pods of one template that the same
// rules have rejected. So an event costs as much as there are groups that wait for events of its kind, and pods that it
// wakes.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler {

// Which events a group waits for.
struct WaitsFor {
  EventSet events = 0;
  bool near = false;  // whether the pods must be near others, so that a pod that was placed may help them
  friend bool operator==(const WaitsFor&, const WaitsFor&) = default;
};

// An Entry has the members `pod`, `rejected_by` (the rules), and for use by this class `group`, of type Group<Entry>*,
// and `place`. While it is in here, none of them may change. Thread-safety: as a standard container.
template <typename Entry>
class WaitingPods {
 public:
  struct Group {
    WaitsFor waits_for;
    std::vector<Entry*> pods;  // not empty; in no order
    size_t place = 0;          // among the groups that wait for the same events
  };

  // Adds an entry, which waits for what `waits_for` returns unless there is a group of its kind already.
  template <typename F>
  void Add(Entry* e, F waits_for) {
    OfTemplate& groups = by_template_[e->pod->tmpl.get()];
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& g) { return g->pods[0]->rejected_by == e->rejected_by; });
    if (found == groups.end()) {
      groups.push_back(std::make_unique<Group>());
      found = std::prev(groups.end());
      Group& made = **found;
      made.waits_for = waits_for();
      std::vector<Group*>& alike = Alike(made.waits_for);
      made.place = alike.size();
      alike.push_back(&made);
    }
    e->group = found->get();
    e->place = e->group->pods.size();
    e->group->pods.push_back(e);
    ++size_;
  }
  void Remove(Entry* e) {
    Group& group = *e->group;
    --size_;
    if (group.pods.size() == 1) return Drop(e);
    group.pods[e->place] = group.pods.back();
    group.pods[e->place]->place = e->place;
    group.pods.pop_back();
    e->group = nullptr;
  }
  // Calls f(group) for each group that waits for one of the events, or for each one if all events are given; with
  // `needs_near`, only for those that must be near other pods. `f` must not change what is in here.
  template <typename F>
  void ForEachGroup(EventSet events, bool needs_near, F f) const {
    for (const auto& [waits_for, groups] : by_events_) {
      if (((waits_for.events & events) == 0 && ~events != 0) || (needs_near && !waits_for.near)) continue;
      for (const Group* group : groups) f(*group);
    }
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  using OfTemplate = absl::InlinedVector<std::unique_ptr<Group>, 1>;

  std::vector<Group*>& Alike(const WaitsFor& waits_for) {
    for (auto& [known, groups] : by_events_) {
      if (known == waits_for) return groups;
    }
    return by_events_.emplace_back(waits_for, std::vector<Group*>()).second;
  }
  // Removes the only entry of a group, and the group.
  void Drop(Entry* e) {
    Group* const group = std::exchange(e->group, nullptr);
    std::vector<Group*>& alike = Alike(group->waits_for);
    alike[group->place] = alike.back();
    alike[group->place]->place = group->place;
    alike.pop_back();
    const auto of_template = by_template_.find(e->pod->tmpl.get());
    OfTemplate& groups = of_template->second;
    if (groups.size() == 1) {
      by_template_.erase(of_template);
      return;
    }
    groups.erase(std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.get() == group; }));
  }

  absl::flat_hash_map<const api::PodTemplate*, OfTemplate> by_template_;  // the pods hold the templates
  std::vector<std::pair<WaitsFor, std::vector<Group*>>> by_events_;       // as many as there are sets of rules
  size_t size_ = 0;
};

}  // namespace berth::scheduler
