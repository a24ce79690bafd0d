// The questions of VolumeBinder about one pod and many nodes: what does not depend on the node is worked out once, and
// what does not depend on the pod is kept in the binder's VolumeIndex.
//
// Answers are those of VolumeBinder::BoundFit and Match, which ask every volume for every node. Valid while no volume,
// claim, class or reservation changes. Threading: that of the Cache.
#pragma once
#include <absl/status/statusor.h>

#include <optional>
#include <vector>

#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler {

class ClaimMatcher {
 public:
  // REQUIRES: the binder outlives the matcher.
  ClaimMatcher(const VolumeBinder* binder, VolumeBinder::PodClaims claims);

  const VolumeBinder::PodClaims& claims() const { return claims_; }
  // Returns whether neither question gets an error for any node.
  bool NeverFails() const { return bound_known_ && plain_; }
  // Returns true when the bound claims have volumes that can be used anywhere, and every unbound one finds such a
  // volume.
  bool FitsAnywhere() const;
  absl::StatusOr<bool> BoundFit(const api::Labels& node) const;
  // Returns whether Match finds a volume for each unbound claim.
  absl::StatusOr<bool> CanMatch(const api::Labels& node) const;
  // Returns what VolumeBinder::Match does.
  absl::StatusOr<std::optional<std::vector<VolumeBinder::Binding>>> Match(const api::Labels& node) const;
  // Erases the rows where BoundFit or CanMatch is false. REQUIRES: NeverFails().
  void KeepFitting(const Cache& cache, RowSet* candidates) const;

 private:
  // Volumes that an unbound claim could get.
  struct Candidates {
    VolumeBinder::VolumePtr own;  // reserved for the claim: no other will do
    VolumeIndex::Shape* shape = nullptr;
  };
  VolumeBinder::VolumePtr Find(const Candidates& c, const api::Labels& node,
                               const std::vector<const api::PersistentVolume*>& taken) const;

  const VolumeBinder* binder_;
  VolumeBinder::PodClaims claims_;
  bool bound_known_ = true;                               // the volumes of all bound claims are known
  std::vector<VolumeBinder::VolumePtr> bound_somewhere_;  // of them, those with node affinity
  bool plain_ = true;                                     // candidates_ answers; else VolumeBinder::Match must
  std::vector<Candidates> candidates_;                    // by unbound claim
};

}  // namespace berth::scheduler
