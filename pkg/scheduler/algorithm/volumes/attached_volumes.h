// Tracks how many volumes of each CSI driver are attached to each node, and how many can be. NodeVolumeLimits of
// releases 1.19 and 1.29 compares the two. The numbers are columns by node row.
//
// Refresh reads the cache's log of changed rows and the logs of changed claims, volumes, CSINodes and
// VolumeAttachments, so that its cost is proportional to what has changed. Thread-safety: the same as that of Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/gates.h"

namespace berth::scheduler::volumes {

// Maps the unique name of a volume, "driver/handle", to the name of the limit that it counts against.
using CsiVolumes = std::map<std::string, std::string>;

// Whether a volume belongs to the pod to be placed or to a pod that is already placed. A claim that does not exist is
// an error only for the former.
enum class VolumeOwner : uint8_t { kIncoming, kExisting };

// Returns the claim of a pod's volume. Returns null and sets `error` if the scheduling cycle must end, and null without
// an error if the volume does not count. REQUIRES: the volume refers to a claim.
std::shared_ptr<const api::PersistentVolumeClaim> ClaimOfVolume(const Cache& cache, const api::Pod& pod,
                                                                const api::Volume& volume, VolumeOwner owner,
                                                                RuleError* error);
// What becomes of in-tree plugins on a node: they stay, or CSI drivers replace them, that of Portworx as well or not.
enum class InTree : uint8_t { kStays, kReplaced, kReplacedWithPortworx };
inline InTree InTreeOf(bool replaced, const VolumeRules& rules) {
  if (!replaced) return InTree::kStays;
  return rules.replaces_portworx ? InTree::kReplacedWithPortworx : InTree::kReplaced;
}
// Adds those volumes of a pod that a CSI driver attaches. Returns false and sets `error` if the scheduling cycle must
// end.
bool AddCsiVolumes(const Cache& cache, const api::Pod& pod, InTree in_tree, VolumeOwner owner, CsiVolumes* out,
                   RuleError* error);
// Returns whether a claim of the pod uses, or will use, a driver for which at least one CSINode limits the number of
// attached volumes.
bool HasLimitedCsiVolumes(const Cache& cache, const api::Pod& pod);
// Returns "attachable-volumes-csi-DRIVER". A long driver name is shortened and made unique by its hash.
std::string LimitKey(std::string_view driver);
// Returns the limits of the row's node by their names.
std::map<std::string, int64_t> LimitsOf(const Cache& cache, Row row, const VolumeRules& rules);

// The volumes that are attached to one node, computed from the pods that are on it now.
struct AttachedToNode {
  CsiVolumes by_pods;
  std::map<std::string, int64_t> counts;  // by limit; includes the VolumeAttachments
  RuleError error;                        // if not empty, the scheduling cycle must end
};
// The numbers of attached volumes and their limits, for all nodes and limits. Invariant: between calls of Refresh,
// columns_, mistaken_ and csi_nodes_ describe the cluster as it was at the last call.
class AttachedVolumes {
 public:
  // The cache must outlive the object.
  explicit AttachedVolumes(const Cache* cache, const VolumeRules& rules = {}) : cache_(cache), rules_(rules) {}
  const VolumeRules& rules() const { return rules_; }

  struct Column {
    std::vector<int64_t> attached, limit;  // by row; INT64_MAX where there is no limit
  };
  // Updates the numbers. Results of Find are valid until the next call.
  void Refresh();
  // Returns null if no node has the limit and no attached volume counts against it.
  const Column* Find(const std::string& limit) const;
  // The rows for which AttachedTo reports an error. Their numbers are not valid.
  const RowSet& mistaken() const { return mistaken_; }
  // Returns whether IsMigrated held at the last Refresh.
  bool HasCsiNode(Row row) const { return csi_nodes_.Has(row); }
  // Returns whether CSI drivers replace in-tree plugins on the row's node, as it is now.
  bool IsMigrated(Row row) const;
  // Returns what is attached to the row's node, with the VolumeAttachments of the last Refresh.
  AttachedToNode AttachedTo(Row row) const;
  // Returns the names of the VolumeAttachments of a node.
  const std::vector<std::string>& AttachmentsOf(Symbol node) const;

 private:
  using Key = std::pair<Symbol, std::string>;  // namespace and name
  // Recomputes the numbers of one row.
  void Evaluate(Row row);
  // Appends the row if it is not in the list.
  static void Note(Row row, std::vector<Row>* rows);
  // Records that the row depends on the claims of the pod and on their volumes.
  void NoteUses(Row row, const api::Pod& pod);
  void Mark(Row row) {
    if (row != kNoRow) dirty_.Insert(row);
  }
  // Marks the rows that changes since the last Refresh affect. Returns false if everything must be recomputed.
  bool MarkChanges();
  // Updates the indices of attachments after one was added, changed or deleted.
  void MoveAttachment(const std::string& name);
  Column& ColumnOf(const std::string& limit);

  const Cache* cache_;
  const VolumeRules rules_;
  bool built_ = false;
  // The versions of the cache and of the object stores at the last Refresh.
  uint64_t generation_ = 0, claims_ = 0, volumes_ = 0, classes_ = 0, csi_nodes_version_ = 0, attachments_version_ = 0;
  RowSet dirty_, mistaken_, csi_nodes_;
  absl::flat_hash_map<std::string, std::unique_ptr<Column>> columns_;
  std::vector<std::vector<Column*>> counted_;  // by row: the columns in which the row has a number
  // The rows that depend on a claim or on a volume. Rows are added but not removed, so some no longer depend on it.
  absl::flat_hash_map<Key, std::vector<Row>> rows_by_claim_;
  absl::flat_hash_map<std::string, std::vector<Row>> rows_by_volume_;
  absl::flat_hash_map<std::string, Symbol> attachments_;  // VolumeAttachment name to node
  absl::flat_hash_map<Symbol, std::vector<std::string>> attachments_by_node_;
};

}  // namespace berth::scheduler::volumes
