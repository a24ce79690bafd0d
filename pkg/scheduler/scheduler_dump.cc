// Writes the state of the scheduler as text (SIGUSR2), for the page and for tests.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>

#include "pkg/scheduler/scheduler_internal.h"

namespace berth::scheduler {

void Scheduler::VisitPending(size_t from, size_t to, const std::function<void(const PendingView&)>& f) const {
  for (size_t i = from; i < to; ++i) {
    const Pending& p = *pending_list_[i];
    const absl::Duration until = p.timer.second != 0         ? p.timer.first
                                 : p.place == Place::kQueued ? queue_->BackoffEndOf(*p.pod)
                                                             : absl::ZeroDuration();
    f({p.pod, p.place, p.attempts, p.reasons, until});
  }
}

std::string Scheduler::CheckInvariants() const {
  std::string bad;
  std::array<size_t, kPlaces> places{};
  size_t timers = 0, binds = 0, queued = 0, requests = 0;
  if (pending_list_.size() != pending_.size()) bad += "the list of pending pods has another length than their table\n";
  for (const auto& [uid, p] : pending_) {
    const auto say = [&bad, &p = p](std::string_view what) {
      absl::StrAppend(&bad, "pod ", Name(*p->pod), " (", std::string(PlaceName(p->place)), "): ", std::string(what),
                      "\n");
    };
    ++places[static_cast<size_t>(p->place)];
    if (uid != p->pod->meta.uid) say("is listed under another uid");
    const bool listed = p->position < pending_list_.size() && pending_list_[p->position] == p.get();
    if (!listed) say("is not at its position in the list of pending pods");
    const bool is_queued = p->place == Place::kQueued;
    queued += is_queued ? 1 : 0;
    if (!p->gone && is_queued != queue_->Has(*p->pod)) say(is_queued ? "is not in the queue" : "is in the queue");
    const bool asks = p->request != 0, waits = p->timer.second != 0;
    timers += waits ? 1 : 0;
    requests += asks ? 1 : 0;
    const bool idle =
        is_queued || p->place == Place::kBound || p->place == Place::kDeleting || p->place == Place::kGated;
    // A kUnsupported pod has a timer only while its condition, which could not be written, is to be written again.
    const bool set_aside = p->place == Place::kUnsupported;
    if ((idle && (asks || waits)) || (set_aside && asks)) say("waits for something it should not wait for");
    if (!idle && !set_aside && asks == waits) say(asks ? "waits for a reply and for time" : "waits for nothing");
    if (asks && !requests_.contains(p->request)) say("waits for a request that is not open");
    const bool holds_room = p->place == Place::kBinding || p->place == Place::kBindUnknown;
    binds += holds_room ? 1 : 0;
    if (holds_room && !p->gone && cache_->GetPod(uid) == nullptr) say("is being bound and does not count on its node");
    // In release 1.29 a pod counts on its node while volumes are written for it, too.
    const bool may_hold_room = holds_room || p->place == Place::kBound || p->place == Place::kVerifying ||
                               (p->place == Place::kWritingVolumes && options_.claim_binder != nullptr);
    if (!may_hold_room && cache_->IsAssumed(uid)) {
      say("counts on a node although it is not being bound");
    }
  }
  const auto depth = queue_->depth();
  if (depth.active + depth.backoff + depth.unschedulable != queued) {
    absl::StrAppend(&bad, "the queue holds ", depth.active + depth.backoff + depth.unschedulable, " pods, ", queued,
                    " are known as queued\n");
  }
  if (places != by_place_) absl::StrAppend(&bad, "the counts by place are wrong\n");
  if (timers != timers_.size()) absl::StrAppend(&bad, "timers: ", timers_.size(), ", pods with one: ", timers, "\n");
  if (binds != binds_in_flight_) absl::StrAppend(&bad, "binds in flight: ", binds_in_flight_, ", pods: ", binds, "\n");
  const auto waited_for =
      std::count_if(requests_.begin(), requests_.end(), [](const auto& r) { return r.second.pod != nullptr; });
  if (static_cast<size_t>(waited_for) != requests) absl::StrAppend(&bad, "requests open that no pod waits for\n");
  return bad;
}

std::string Scheduler::DumpAndCompare(const std::vector<api::NodePtr>& nodes,
                                      const std::vector<api::PodPtr>& pods) const {
  std::string out = "Dump of cached NodeInfo\n";
  for (Row r : cache_->by_name_descending()) {
    const NodeRow& row = cache_->row(r);
    const Columns& c = cache_->columns();
    absl::StrAppend(&out, "Node ", row.name.string(), ": requested cpu=", c.used_cpu[r], "m memory=", c.used_memory[r],
                    " pods=", c.pod_count[r], " of cpu=", c.alloc_cpu[r], "m memory=", c.alloc_memory[r],
                    " pods=", c.alloc_pods[r], "\n");
    for (const PlacedPod& p : row.pods) {
      absl::StrAppend(&out, "  ", Name(*p.pod), " uid=", p.pod->meta.uid,
                      cache_->IsAssumed(p.pod->meta.uid) ? " (assumed)" : "", "\n");
    }
  }
  absl::StrAppend(&out, "Dump of scheduling queue\n");
  std::map<std::string, const Pending*> by_name;
  for (const auto& [uid, p] : pending_) by_name[Name(*p->pod)] = p.get();
  for (const auto& [name, p] : by_name) {
    absl::StrAppend(&out, "  ", name, " uid=", p->pod->meta.uid, " ", std::string(PlaceName(p->place)));
    if (!p->reasons.empty()) absl::StrAppend(&out, ": ", std::string(FailureReasonText(p->reasons.front())));
    absl::StrAppend(&out, "\n");
  }

  size_t missed = 0, redundant = 0;
  std::string differences;
  absl::flat_hash_map<std::string_view, const api::Pod*> shown;
  for (const api::PodPtr& p : pods) {
    if (p->Finished()) continue;
    shown[p->meta.uid] = p.get();
    if (!p->node_name.empty()) {
      const api::PodPtr known = cache_->GetPod(p->meta.uid);
      if (known == nullptr || known->node_name != p->node_name) {
        ++missed;
        absl::StrAppend(&differences, "  pod ", Name(*p), ": on ", p->node_name.string(), " by the API, ",
                        known == nullptr ? "unknown here" : "on " + known->node_name.string() + " here", "\n");
      }
    } else if (Ours(*p) && !pending_.contains(p->meta.uid)) {
      ++missed;
      absl::StrAppend(&differences, "  pod ", Name(*p), ": pending by the API, unknown here\n");
    }
  }
  cache_->ForEachPod([&](const PlacedPod& p, const NodeRow& row) {
    if (shown.contains(p.pod->meta.uid)) return;
    ++redundant;
    absl::StrAppend(&differences, "  pod ", Name(*p.pod), ": on ", row.name.string(), " here, unknown to the API\n");
  });
  absl::flat_hash_set<std::string_view> node_names;
  for (const api::NodePtr& n : nodes) {
    node_names.insert(n->meta.name);
    const Row r = cache_->FindRow(Symbol::Find(n->meta.name));
    if (r == kNoRow || cache_->row(r).node == nullptr) {
      ++missed;
      absl::StrAppend(&differences, "  node ", n->meta.name, ": unknown here\n");
    }
  }
  for (Row r : cache_->by_name_descending()) {
    if (node_names.contains(cache_->row(r).name.str())) continue;
    ++redundant;
    absl::StrAppend(&differences, "  node ", cache_->row(r).name.string(), ": here, unknown to the API\n");
  }
  if (differences.empty()) {
    absl::StrAppend(&out, "cache comparer: no differences (", nodes.size(), " nodes, ", pods.size(), " pods)\n");
  } else {
    absl::StrAppend(&out, "cache comparer: ", missed, " missed, ", redundant, " redundant\n", differences);
  }
  return out;
}

}  // namespace berth::scheduler
