// VolumeBinder's questions about one pod and many nodes: what does not depend on the node is worked out once.
//
// A volume that is bound to one node, as local ones are, is looked at for that node alone. Answers are those of
// VolumeBinder::BoundFit and Match, which ask every volume for every node. Valid while no volume, claim, class or
// reservation changes. Threading: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/volumebinder/volume_binder.h"

namespace berth::scheduler {

class ClaimMatcher {
 public:
  // The binder outlives it.
  ClaimMatcher(const VolumeBinder* binder, VolumeBinder::PodClaims claims);

  const VolumeBinder::PodClaims& claims() const { return claims_; }
  // Neither question gets an error for any node.
  bool NeverFails() const { return bound_known_ && plain_; }
  // Every claim is bound, to volumes that can be used anywhere.
  bool FitsAnywhere() const { return bound_known_ && bound_somewhere_.empty() && claims_.unbound.empty(); }
  absl::StatusOr<bool> BoundFit(const api::Labels& node) const;
  // Whether Match finds a volume for each unbound claim.
  absl::StatusOr<bool> CanMatch(const api::Labels& node) const;

 private:
  // Volumes that an unbound claim could get, the best first; numbers are places in that order.
  struct Candidates {
    VolumeBinder::VolumePtr own;  // reserved for the claim: no other will do
    std::vector<VolumeBinder::VolumePtr> volumes;
    std::vector<uint32_t> anywhere;  // not tied to values of one label
    absl::flat_hash_map<std::pair<util::Symbol, util::Symbol>, std::vector<uint32_t>> by_label;
    std::vector<util::Symbol> keys;  // of by_label
  };
  bool Prepare(const api::PersistentVolumeClaim& claim, Candidates* out) const;
  const api::PersistentVolume* Find(const Candidates& c, const api::Labels& node,
                                    const std::vector<const api::PersistentVolume*>& taken) const;

  const VolumeBinder* binder_;
  VolumeBinder::PodClaims claims_;
  bool bound_known_ = true;                               // the volumes of all bound claims are known
  std::vector<VolumeBinder::VolumePtr> bound_somewhere_;  // of them, those with node affinity
  bool plain_ = true;                                     // candidates_ answers; else Match must
  std::vector<Candidates> candidates_;                    // by unbound claim
};

}  // namespace berth::scheduler
