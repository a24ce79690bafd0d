// Answers what VolumeBinder::BoundFit and VolumeBinder::Match answer, for one pod and many nodes. Those two examine
// every volume for every node; here, what does not depend on the node is computed once, and what does not depend on the
// pod comes from the binder's VolumeIndex.
//
// An object is valid while no volume, claim, class or reservation changes. Thread-safety: the same as that of Cache.
#pragma once
#include <absl/status/statusor.h>

#include <optional>
#include <vector>

#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler {

class ClaimMatcher {
 public:
  // The binder must outlive the matcher.
  ClaimMatcher(const VolumeBinder* binder, VolumeBinder::PodClaims claims);

  const VolumeBinder::PodClaims& claims() const { return claims_; }
  // Returns whether BoundFit and CanMatch return no error for any node.
  bool NeverFails() const { return bound_known_ && plain_; }
  // Returns true if the volumes of all bound claims can be used on every node, and every unbound claim is sure to find
  // such a volume.
  bool FitsAnywhere() const;
  // Returns whether the volumes of all bound claims can be used on a node with these labels.
  absl::StatusOr<bool> BoundFit(const api::Labels& node) const;
  // Returns whether Match finds a volume for every unbound claim.
  absl::StatusOr<bool> CanMatch(const api::Labels& node) const;
  // Returns the same as VolumeBinder::Match.
  absl::StatusOr<std::optional<std::vector<VolumeBinder::Binding>>> Match(const api::Labels& node) const;
  // Erase the rows for which BoundFit or CanMatch returns false. REQUIRES: NeverFails().
  void KeepBoundFit(const Cache& cache, RowSet* candidates) const;
  void KeepMatched(const Cache& cache, RowSet* candidates) const;

 private:
  // The volumes that one unbound claim could get.
  struct Candidates {
    VolumeBinder::VolumePtr own;  // if not null, it is reserved for the claim, which takes no other
    VolumeIndex::Shape* shape = nullptr;
  };
  // Returns the volume that the claim gets on a node with these labels, or null.
  VolumeBinder::VolumePtr Find(const Candidates& c, const api::Labels& node,
                               const std::vector<const api::PersistentVolume*>& taken) const;

  const VolumeBinder* binder_;
  VolumeBinder::PodClaims claims_;
  bool bound_known_ = true;                               // whether the volumes of all bound claims exist
  std::vector<VolumeBinder::VolumePtr> bound_somewhere_;  // those of them that have node affinity
  bool plain_ = true;                                     // false: only VolumeBinder::Match can answer
  std::vector<Candidates> candidates_;                    // one for each unbound claim
};

}  // namespace berth::scheduler
