// Writes the state of the scheduler as text (SIGUSR2), for the page and for tests.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>

#include "pkg/scheduler/scheduling_state.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

void Scheduler::VisitPending(size_t from, size_t to, const std::function<void(const PendingView&)>& f) const {
  BERTH_REQUIRES(from <= to && to <= pending_pods());
  for (size_t i = from; i < to; ++i) {
    const PendingPod& p = *pending_.list()[i];
    const absl::Duration until = p.timer.second != 0         ? p.timer.first
                                 : p.place == Place::kQueued ? s_.queue->BackoffEndOf(*p.pod)
                                                             : absl::ZeroDuration();
    f({p.pod, p.place, p.attempts, p.reasons, until});
  }
}

std::array<size_t, kPendingPlaces> Scheduler::pods_by_place() const {
  return pending_.by_place();
}
size_t Scheduler::pending_pods() const {
  return pending_.list().size();
}
size_t Scheduler::binds_in_flight() const {
  return s_.binds_in_flight;
}
size_t Scheduler::requests_in_flight() const {
  return pending_.open_requests();
}
const SchedulerMetrics& Scheduler::metrics() const {
  return s_.metrics;
}
const std::vector<int64_t>& Scheduler::pending_by_reason() const {
  return pending_.by_reason();
}

std::string Scheduler::CheckInvariants() const {
  std::string bad = pending_.CheckInvariants();
  size_t binds = 0, queued = 0;
  for (const PendingPod* p : pending_.list()) {
    const auto say = [&](std::string_view what) {
      absl::StrAppend(&bad, "pod ", Name(*p->pod), " (", std::string(PlaceName(p->place)), "): ", std::string(what),
                      "\n");
    };
    const bool is_queued = p->place == Place::kQueued;
    queued += is_queued ? 1 : 0;
    if (!p->gone && is_queued != s_.queue->Has(*p->pod)) say(is_queued ? "is not in the queue" : "is in the queue");
    const bool asks = p->request != 0, waits = p->timer.second != 0;
    const bool idle =
        is_queued || p->place == Place::kBound || p->place == Place::kDeleting || p->place == Place::kGated;
    // A kUnsupported pod has a timer only while its condition, which could not be written, is to be written again.
    const bool set_aside = p->place == Place::kUnsupported;
    if ((idle && (asks || waits)) || (set_aside && asks)) say("waits for something it should not wait for");
    if (!idle && !set_aside && asks == waits) say(asks ? "waits for a reply and for time" : "waits for nothing");
    const std::string& uid = p->pod->meta.uid;
    binds += p->holds_room() ? 1 : 0;
    if (p->holds_room() && !p->gone && s_.cache->GetPod(uid) == nullptr) {
      say("is being bound and does not count on its node");
    }
    // With a claim binder a pod counts on its node while volumes are written for it, too.
    const bool may_hold_room = p->holds_room() || p->place == Place::kBound || p->place == Place::kVerifying ||
                               (p->place == Place::kWritingVolumes && s_.options.claim_binder != nullptr);
    if (!may_hold_room && s_.cache->IsAssumed(uid)) say("counts on a node although it is not being bound");
  }
  const auto depth = s_.queue->depth();
  if (depth.active + depth.backoff + depth.unschedulable != queued) {
    absl::StrAppend(&bad, "the queue holds ", depth.active + depth.backoff + depth.unschedulable, " pods, ", queued,
                    " are known as queued\n");
  }
  if (binds != s_.binds_in_flight)
    absl::StrAppend(&bad, "binds in flight: ", s_.binds_in_flight, ", pods: ", binds, "\n");
  return bad;
}

std::string Scheduler::DumpAndCompare(const std::vector<api::NodePtr>& nodes,
                                      const std::vector<api::PodPtr>& pods) const {
  std::string out = "Dump of cached NodeInfo\n";
  for (Row r : s_.cache->by_name_descending()) {
    const NodeRow& row = s_.cache->row(r);
    const Columns& c = s_.cache->columns();
    absl::StrAppend(&out, "Node ", row.name.string(), ": requested cpu=", c.used_cpu[r], "m memory=", c.used_memory[r],
                    " pods=", c.pod_count[r], " of cpu=", c.alloc_cpu[r], "m memory=", c.alloc_memory[r],
                    " pods=", c.alloc_pods[r], "\n");
    for (const PlacedPod& p : row.pods) {
      absl::StrAppend(&out, "  ", Name(*p.pod), " uid=", p.pod->meta.uid,
                      s_.cache->IsAssumed(p.pod->meta.uid) ? " (assumed)" : "", "\n");
    }
  }
  absl::StrAppend(&out, "Dump of scheduling queue\n");
  std::map<std::string, const PendingPod*> by_name;
  for (const PendingPod* p : pending_.list()) by_name[Name(*p->pod)] = p;
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
      const api::PodPtr known = s_.cache->GetPod(p->meta.uid);
      if (known == nullptr || known->node_name != p->node_name) {
        ++missed;
        absl::StrAppend(&differences, "  pod ", Name(*p), ": on ", p->node_name.string(), " by the API, ",
                        known == nullptr ? "unknown here" : "on " + known->node_name.string() + " here", "\n");
      }
    } else if (Ours(*p) && pending_.Find(*p) == nullptr) {
      ++missed;
      absl::StrAppend(&differences, "  pod ", Name(*p), ": pending by the API, unknown here\n");
    }
  }
  s_.cache->ForEachPod([&](const PlacedPod& p, const NodeRow& row) {
    if (shown.contains(p.pod->meta.uid)) return;
    ++redundant;
    absl::StrAppend(&differences, "  pod ", Name(*p.pod), ": on ", row.name.string(), " here, unknown to the API\n");
  });
  absl::flat_hash_set<std::string_view> node_names;
  for (const api::NodePtr& n : nodes) {
    node_names.insert(n->meta.name);
    const Row r = s_.cache->FindRow(Symbol::Find(n->meta.name));
    if (r == kNoRow || s_.cache->row(r).node == nullptr) {
      ++missed;
      absl::StrAppend(&differences, "  node ", n->meta.name, ": unknown here\n");
    }
  }
  for (Row r : s_.cache->by_name_descending()) {
    if (node_names.contains(s_.cache->row(r).name.str())) continue;
    ++redundant;
    absl::StrAppend(&differences, "  node ", s_.cache->row(r).name.string(), ": here, unknown to the API\n");
  }
  if (differences.empty()) {
    absl::StrAppend(&out, "cache comparer: no differences (", nodes.size(), " nodes, ", pods.size(), " pods)\n");
  } else {
    absl::StrAppend(&out, "cache comparer: ", missed, " missed, ", redundant, " redundant\n", differences);
  }
  return out;
}

}  // namespace berth::scheduler
