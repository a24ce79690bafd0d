// Indexes the volumes that unbound claims could get, and keeps the index up to date between decisions.
//
// Claims that request the same class, access modes, size, selector and volume mode have the same shape. For each
// recently used shape, the index has the volumes that suit it, ordered by size and grouped by the node label value that
// a node must have to use them, and the nodes on which at least one of them can be used. A change of one volume is
// applied to every shape and costs as much as the number of nodes that can use the volume; a repeated query costs
// nothing.
//
// The volumes are those of the cache, with the reservations of the binder applied. Thread-safety: the same as that of
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

  // The cache and `assumed` must outlive the index. `assumed` maps names to reserved volumes, which take
  // precedence over those of the cache. `lists_by_specification`: ClaimRules.
  VolumeIndex(const Cache* cache, const AlgorithmGates& gates, bool lists_by_specification, const Assumed* assumed)
      : cache_(cache), gates_(gates), lists_by_specification_(lists_by_specification), assumed_(assumed) {}

  // Orders volumes by capacity and then by name. Claims get volumes in this order.
  struct Smaller {
    bool operator()(const VolumePtr& a, const VolumePtr& b) const;
  };
  // The volumes for the claims of one shape. Invariant: each volume that suits the shape is in exactly one of
  // `everywhere`, `untied` and `by_label`; in `by_label`, under each value of its NarrowestRequirement().
  struct Shape {
    ClaimPtr like;                                   // a claim of this shape
    absl::btree_set<VolumePtr, Smaller> everywhere;  // without node affinity
    absl::btree_set<VolumePtr, Smaller> untied;      // with node affinity, but without a NarrowestRequirement()
    // Lists are in the order of Smaller.
    absl::flat_hash_map<std::pair<util::Symbol, util::Symbol>, std::vector<VolumePtr>> by_label;
    absl::flat_hash_map<util::Symbol, size_t> keys;  // keys in by_label, with the number of their values
    RowSet rows;                                     // listed rows that can use a volume of by_label or untied

    bool rows_known = false;
    uint64_t rows_generation = 0;                                // generation of the cache at which `rows` was computed
    std::vector<std::pair<util::Symbol, util::Symbol>> changed;  // keys of by_label that have changed since then
  };

  // Must be called after the assumed volume of this name was added, removed or changed.
  void NoteAssumed(const std::string& name) { assumed_changes_.push_back(name); }

  // Returns the shape of a claim, or null if the answer depends on more than the shape: if its selector is invalid, or
  // if volumes without a volumeMode must be compared. The result is valid until the next call.
  Shape* ShapeOf(const ClaimPtr& claim);
  // Returns the volume whose claimRef refers to the claim, if it is large enough, or null.
  VolumePtr OwnVolume(const api::PersistentVolumeClaim& claim);
  // Returns shape->rows after bringing it up to date.
  const RowSet& RowsOf(Shape* shape) const;

 private:
  struct Known {
    size_t hash;
    Shape shape;
  };
  using ClaimKey = std::pair<std::string, std::string>;  // namespace and name

  // Applies the changes of volumes since the last call.
  void Refresh();
  void Rebuild();
  // Returns the volume with its reservation applied, or null.
  VolumePtr Effective(const std::string& name) const;
  // Updates the index after the volume was added, changed or deleted.
  void Change(const std::string& name);
  // Adds the volume to by_claim_ and without_mode_ (sign +1), or removes it (sign -1).
  void Count(const VolumePtr& v, int sign);
  bool Eligible(const api::PersistentVolume& v, const api::PersistentVolumeClaim& claim) const;
  // Returns the class under which volumes without volumeMode are counted: that of a specification, or one for all.
  std::string Listing(const std::string& class_name) const {
    return lists_by_specification_ ? class_name : std::string();
  }
  // Returns whether the volume belongs into the shape.
  bool Takes(const Shape& shape, const api::PersistentVolume& v) const;
  static void Insert(Shape* shape, const VolumePtr& v);
  static void Erase(Shape* shape, const VolumePtr& v);
  void EvaluateRow(Shape* shape, Row row) const;

  const Cache* cache_;
  const AlgorithmGates& gates_;
  const bool lists_by_specification_;
  const Assumed* assumed_;
  bool built_ = false;
  uint64_t seen_ = 0;                                                     // version of the cache's volumes
  std::vector<std::string> assumed_changes_;                              // names that NoteAssumed was called with
  Assumed volumes_;                                                       // by name, as they are in the index
  absl::flat_hash_map<ClaimKey, absl::btree_set<std::string>> by_claim_;  // names of volumes by claimRef
  absl::flat_hash_map<std::string, size_t> without_mode_;  // number of volumes without volumeMode, by Listing
  std::list<Known> shapes_;                                // most recently used first
};

// Returns the first volume of the shape, in the order of Smaller, that can be used on a node with these labels and is
// not among `taken`. Returns null if there is none.
VolumeIndex::VolumePtr SmallestUsable(const VolumeIndex::Shape& shape, const api::Labels& node,
                                      const std::vector<const api::PersistentVolume*>& taken);

}  // namespace berth::scheduler
