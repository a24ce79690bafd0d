// The answers under /ui/api/ as JSON. Names and texts in them come from the cluster and may be anything; they are
// escaped as JSON strings.
#pragma once
#include <string>
#include <string_view>

#include "pkg/ui/history.h"
#include "pkg/ui/snapshot.h"

namespace berth::ui {

// The numbers: pods by place, results of attempts, quantiles of latency, rates of the last hour.
std::string SummaryJson(const Snapshot& s, const History& h, bool live);

// All nodes. Each is [row, name, group, flags, offered, used], where `offered` and `used` are lists of amounts by
// resource, in the order of the member "resources"; `group` is the value of the node label `label`, or the zone when
// `label` is empty; `flags` are NodeFlag bits.
std::string NodesJson(const Snapshot& s, std::string_view label);
enum NodeFlag : int {
  kMemoryPressure = 1,
  kDiskPressure = 2,
  kConditionBad = 4,
  kCordoned = 8,
  kTainted = 16,
};

// Writes the differences between two snapshots: "used" are [row, flags, used] of nodes on which only that changed,
// "nodes" are whole nodes that came or changed, "gone" the rows of nodes that went. Returns an empty text when nothing
// differs. `*whole` is set, and nothing is written, when the resources differ or nodes came with other labels, so that
// all nodes must be sent again.
std::string NodesDeltaJson(const Snapshot& before, const Snapshot& now, std::string_view label, bool* whole);

// Which pending pods are listed; the groups are counted over all of them.
struct PendingFilter {
  std::string reason, ns, owner, place;  // empty: any
  size_t offset = 0, limit = 100;
};
inline constexpr size_t kMostListedPods = 1000;
// Pending pods by reason, owner, place, age and number of attempts, and the oldest of those that the filter selects.
std::string PendingJson(const PendingPods& pods, const PendingFilter& filter, absl::Time now);

std::string PreemptionsJson(const History& h);

// Nodes and pods whose name contains `text`, at most `limit` of each.
std::string SearchJson(const Cluster& cluster, std::string_view text, size_t limit);

// "Deployment/web", or an empty text for a pod without a controller.
std::string OwnerOf(const api::Pod& pod);

// Milliseconds since 1970.
int64_t Millis(absl::Time t);

}  // namespace berth::ui
