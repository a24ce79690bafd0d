// How many volumes CSI drivers have attached to each node, and how many they can attach: what NodeVolumeLimits of
// release 1.29 compares, kept as columns by node row.
//
// The numbers follow the cache's log of changed rows and the logs of claims, volumes, CSINodes and VolumeAttachments,
// so that a refresh costs as much as has changed. Threading: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler::volumes {

// Volumes by their unique names, "driver/handle", with the names of the limits that they count against.
using CsiVolumes = std::map<std::string, std::string>;

enum class Whose : uint8_t { kIncoming, kExisting };

// Returns the claim of a volume of a pod. Null with an error, which ends the scheduling cycle, or without one when the
// volume does not count. REQUIRES: the volume has a claim.
std::shared_ptr<const api::PersistentVolumeClaim> ClaimOfVolume(const Cache& cache, const api::Pod& pod,
                                                                const api::Volume& volume, Whose whose,
                                                                std::string* error);
// Adds the volumes of a pod that CSI attaches; `migrated`: on the node CSI drivers have taken over from in-tree ones.
// Returns false with an error that ends the scheduling cycle.
bool AddCsiVolumes(const Cache& cache, const api::Pod& pod, bool migrated, Whose whose, CsiVolumes* out,
                   std::string* error);
// Returns true if a CSINode limits how many volumes its node can attach of a driver that a claim of the pod uses or
// will use.
bool HasLimitedCsiVolumes(const Cache& cache, const api::Pod& pod);
// Returns "attachable-volumes-csi-DRIVER"; a long driver name is cut and told apart by its hash.
std::string LimitKey(std::string_view driver);
// Returns the limits of a node by their names.
std::map<std::string, int64_t> LimitsOf(const Cache& cache, Row row);

// What one node has attached, read from the pods that are on it now.
struct AttachedToNode {
  CsiVolumes by_pods;
  std::map<std::string, int64_t> counts;  // by limit, with VolumeAttachments
  std::string error;                      // ends the scheduling cycle
};
AttachedToNode AttachedTo(const Cache& cache, Row row, const std::vector<std::string>& attachments);

class AttachedVolumes {
 public:
  // The cache outlives it.
  explicit AttachedVolumes(const Cache* cache) : cache_(cache) {}

  struct Column {
    std::vector<int64_t> attached, limit;  // by row; no limit: INT64_MAX
  };
  // Brings the numbers up to date. The result of Find is valid until the next call.
  void Refresh();
  // Returns null for a limit that no node names and under which nothing is attached.
  const Column* Find(const std::string& limit) const;
  // Rows whose pods have a mistake, which only AttachedTo words.
  const RowSet& mistaken() const { return mistaken_; }
  bool HasCsiNode(Row row) const { return csi_nodes_.Has(row); }
  // Returns the VolumeAttachments of a node by name.
  const std::vector<std::string>& AttachmentsOf(Symbol node) const;

 private:
  using Key = std::pair<Symbol, std::string>;  // namespace and name
  void Evaluate(Row row);
  static void Note(Row row, std::vector<Row>* rows);
  void NoteUses(Row row, const api::Pod& pod);
  void Mark(Row row) {
    if (row != kNoRow) dirty_.Insert(row);
  }
  bool MarkChanges();
  void MoveAttachment(const std::string& name);
  Column& ColumnOf(const std::string& limit);

  const Cache* cache_;
  bool built_ = false;
  uint64_t generation_ = 0, claims_ = 0, volumes_ = 0, classes_ = 0, csi_nodes_version_ = 0, attachments_version_ = 0;
  RowSet dirty_, mistaken_, csi_nodes_;
  absl::flat_hash_map<std::string, std::unique_ptr<Column>> columns_;
  std::vector<std::vector<Column*>> counted_;  // by row: the columns where it has numbers
  // Rows where a claim or a volume plays a part; some no longer do.
  absl::flat_hash_map<Key, std::vector<Row>> rows_by_claim_;
  absl::flat_hash_map<std::string, std::vector<Row>> rows_by_volume_;
  absl::flat_hash_map<std::string, Symbol> attachments_;  // node by name of the VolumeAttachment
  absl::flat_hash_map<Symbol, std::vector<std::string>> attachments_by_node_;
};

}  // namespace berth::scheduler::volumes
