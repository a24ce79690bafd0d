// Writes the responses under /ui/api/ as JSON. Names and texts of the cluster may contain anything; they are escaped as
// JSON strings.
#pragma once
#include <string>
#include <string_view>

#include "pkg/ui/history.h"
#include "pkg/ui/snapshot.h"

namespace berth::ui {

// Returns the summary: pods by place, results of attempts, quantiles of latency, and the rates of the last hour.
std::string SummaryJson(const Snapshot& s, const History& h, bool live);

// Returns all nodes. Each is [row, name, group, flags, offered, used], where `offered` and `used` are lists of amounts,
// one for each entry of the member "resources"; `group` is the value of the node label `label`, or the zone if `label`
// is empty; `flags` are NodeFlag bits.
std::string NodesJson(const Snapshot& s, std::string_view label);
enum NodeFlag : int {
  kMemoryPressure = 1,
  kDiskPressure = 2,
  kConditionBad = 4,
  kCordoned = 8,
  kTainted = 16,
};

// Returns the differences between two snapshots: "used" are [row, flags, used] of nodes on which only those changed,
// "nodes" are whole nodes that are new or have changed, and "gone" are the rows of nodes that were deleted. Returns an
// empty text if nothing differs. If the resources differ, or changed nodes have other label keys, all nodes must be
// sent again; then `*whole` is true and the text is empty.
std::string NodesDeltaJson(const Snapshot& before, const Snapshot& now, std::string_view label, bool* whole);

// Selects the pending pods that are listed. The groups are always counted over all of them.
struct PendingFilter {
  std::string reason, ns, owner, place;  // empty: no restriction
  size_t offset = 0, limit = 100;
};
inline constexpr size_t kMostListedPods = 1000;
// Returns the numbers of pending pods by reason, owner, place, age and number of attempts, and the oldest of the pods
// that the filter selects.
std::string PendingJson(const PendingPods& pods, const PendingFilter& filter, absl::Time now);

std::string PreemptionsJson(const History& h);

// Returns nodes and pods whose name contains `text`, at most `limit` of each.
std::string SearchJson(const Cluster& cluster, std::string_view text, size_t limit);

// Returns "Deployment/web", or an empty text for a pod without a controller.
std::string OwnerOf(const api::Pod& pod);

// Returns the milliseconds since 1970.
int64_t Millis(absl::Time t);

}  // namespace berth::ui
