// Volumes that unbound claims could get, kept up to date between decisions.
//
// Claims that ask for the same (class, access modes, size, selector, mode) form a shape. For each shape that was asked
// about lately the index keeps the volumes that suit it, the smallest first, by the node label value that they are tied
// to, and the nodes where at least one of them can be used. A change of one volume is looked up in each shape and costs
// as much as the nodes that it can be used on; asking again costs nothing.
//
// The volumes are those of the cache's lister as the binder sees them, reservations included. Threading: that of the
// Cache.
#pragma once
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/gates.h"

namespace berth::scheduler {

class VolumeIndex {
 public:
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;
  using Assumed = absl::flat_hash_map<std::string, VolumePtr>;

  // `assumed` has the volumes that are reserved, by name; they stand for those of the lister. Both outlive the index.
  VolumeIndex(const Cache* cache, const AlgorithmGates& gates, const Assumed* assumed)
      : cache_(cache), gates_(gates), assumed_(assumed) {}

  // By capacity, then by name: the order in which claims get volumes.
  struct Smaller {
    bool operator()(const VolumePtr& a, const VolumePtr& b) const;
  };
  struct Shape {
    ClaimPtr like;                                   // stands for all claims of the shape
    absl::btree_set<VolumePtr, Smaller> everywhere;  // without node affinity
    absl::btree_set<VolumePtr, Smaller> untied;      // with node affinity that no label value stands for
    absl::flat_hash_map<std::pair<util::Symbol, util::Symbol>, std::vector<VolumePtr>> by_label;  // the smallest first
    absl::flat_hash_map<util::Symbol, size_t> keys;  // of by_label, and how many of its values have volumes
    RowSet rows;                                     // listed rows where a volume of by_label or untied can be used

    bool rows_known = false;
    uint64_t rows_generation = 0;                                // of the cache, when `rows` was brought up to date
    std::vector<std::pair<util::Symbol, util::Symbol>> changed;  // of by_label, since then
  };

  // The assumed volume of this name came, went or changed.
  void NoteAssumed(const std::string& name) { assumed_changes_.push_back(name); }

  // Returns null when the claim's answer depends on more than its shape: a selector that cannot be used, or volumes
  // without a volumeMode where it is compared. Valid until the next call.
  Shape* ShapeOf(const ClaimPtr& claim);
  // Returns the volume that names the claim in its claimRef and that is large enough, or null.
  VolumePtr OwnVolume(const api::PersistentVolumeClaim& claim);
  // Returns shape.rows, brought up to date.
  const RowSet& RowsOf(Shape* shape) const;

 private:
  struct Known {
    size_t hash;
    Shape shape;
  };
  using ClaimKey = std::pair<std::string, std::string>;  // namespace and name

  void Refresh();
  void Rebuild();
  VolumePtr Effective(const std::string& name) const;
  void Change(const std::string& name);
  void Count(const VolumePtr& v, int sign);
  bool Eligible(const api::PersistentVolume& v, const api::PersistentVolumeClaim& claim) const;
  bool Takes(const Shape& shape, const api::PersistentVolume& v) const;
  static void Insert(Shape* shape, const VolumePtr& v);
  static void Erase(Shape* shape, const VolumePtr& v);
  void EvaluateRow(Shape* shape, Row row) const;

  const Cache* cache_;
  const AlgorithmGates& gates_;
  const Assumed* assumed_;
  bool built_ = false;
  uint64_t seen_ = 0;  // version of the lister
  std::vector<std::string> assumed_changes_;
  Assumed volumes_;                                                       // by name, as they were seen last
  absl::flat_hash_map<ClaimKey, absl::btree_set<std::string>> by_claim_;  // names of volumes by claimRef
  absl::flat_hash_map<std::string, size_t> without_mode_;                 // volumes by class
  std::list<Known> shapes_;                                               // the one used last first
};

// Returns the smallest volume of the shape that can be used on a node with these labels and that is not taken, or null.
VolumeIndex::VolumePtr SmallestUsable(const VolumeIndex::Shape& shape, const api::Labels& node,
                                      const std::vector<const api::PersistentVolume*>& taken);

}  // namespace berth::scheduler
