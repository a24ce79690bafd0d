// Delayed binding of claims as release 1.29 does it (plugin VolumeBinding): which volumes the unbound claims of a pod
// would get on a node, which of them would be provisioned there, and what becomes of volumes and claims when the pod is
// assumed on a node.
//
// Find answers for one node and says why it cannot be; KeepFitting answers for all nodes at once and looks only at the
// volumes that a claim could get. What was assumed is kept here and hides the objects of the cache until the API shows
// it. Threading: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::scheduler {

class ClaimBinder {
 public:
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;

  // The cache outlives the binder.
  explicit ClaimBinder(const Cache* cache) : cache_(cache) {}

  // Return the object as it is assumed, else as the cache has it; null when neither knows it.
  ClaimPtr Claim(Symbol ns, const std::string& name) const;
  VolumePtr Volume(const std::string& name) const;

  // The claims of a pod, sorted once for all nodes.
  struct PodClaims {
    std::vector<ClaimPtr> bound;      // bound completely
    std::vector<ClaimPtr> delayed;    // of a class that waits for the first consumer
    std::vector<ClaimPtr> immediate;  // unbound, and not for a scheduler to bind
    std::string error;                // ends the scheduling cycle
    bool any = false;                 // the pod has a volume with a claim
  };
  PodClaims ClaimsOf(const api::Pod& pod) const;

  // What a node means for the claims of a pod.
  struct OnNode {
    std::vector<std::pair<ClaimPtr, VolumePtr>> bindings;  // unbound claims and the volumes found for them
    std::vector<ClaimPtr> provisions;                      // claims whose volumes would be made
    bool bound_exist = true, bound_fit = true, unbound_fit = true, enough_space = true;
    std::string error;  // ends the scheduling cycle
    bool fits() const { return bound_exist && bound_fit && unbound_fit && enough_space && error.empty(); }
  };
  OnNode Find(const PodClaims& claims, const api::Node& node) const;
  // Erases the rows for which Find does not say that they fit. Returns false, with the rows untouched, when only Find
  // can tell.
  bool KeepFitting(const PodClaims& claims, RowSet* rows) const;

  // What was assumed for one pod, to be written through the API and to be taken back when that fails.
  struct Assumed {
    struct Binding {
      ClaimPtr claim;
      VolumePtr volume;  // as it is to be written
      VolumePtr before;
    };
    std::vector<Binding> bindings;
    std::vector<ClaimPtr> provisions;  // as they are to be written: with the selected node
    std::string error;
    bool nothing() const { return bindings.empty() && provisions.empty(); }
  };
  // Reserves what Find chooses on the node.
  Assumed Assume(const api::Pod& pod, const api::Node& node);
  void Forget(const Assumed& assumed);
  // The API shows the object (again), or it is gone: what was assumed of it no longer holds.
  void VolumeChanged(const std::string& name);
  void ClaimChanged(Symbol ns, const std::string& name) { claims_.erase({ns, name}); }

 private:
  using ClaimKey = std::pair<Symbol, std::string>;  // namespace and name
  // A volume that an unbound claim of its class could get.
  struct FreeVolume {
    VolumePtr volume;
    uint32_t affinity;  // equal for volumes with equal node affinity
  };
  // What one unbound claim could get, whatever the node.
  struct Options {
    VolumePtr own;                // reserved for the claim: no other will do
    std::vector<FreeVolume> any;  // the best first: the smallest, then by name
    bool empty() const { return own == nullptr && any.empty(); }
  };
  void Sync() const;
  void Index(const std::string& name) const;
  void Unindex(const std::string& name) const;
  uint32_t AffinityOf(const api::PersistentVolume& volume) const;
  Options OptionsOf(const api::PersistentVolumeClaim& claim) const;
  enum class Provisioning : uint8_t { kPossible, kImpossible, kNoSpace, kError };
  Provisioning CanProvision(const api::PersistentVolumeClaim& claim, const api::Node& node, std::string* error) const;
  void DropOldProvisionable() const;
  const RowSet& ProvisionableRows(const api::PersistentVolumeClaim& claim) const;
  bool KeepMatching(const PodClaims& claims, RowSet* rows) const;

  const Cache* cache_;
  absl::flat_hash_map<std::string, VolumePtr> volumes_;  // assumed
  absl::flat_hash_map<ClaimKey, ClaimPtr> claims_;       // assumed

  // Volumes by what makes them candidates, brought up to date by Sync.
  mutable uint64_t seen_ = 0;
  mutable bool synced_ = false;
  mutable absl::flat_hash_map<std::string, std::map<std::string, FreeVolume>> free_;  // by class, then name
  mutable absl::flat_hash_map<ClaimKey, std::map<std::string, VolumePtr>> reserved_;  // by claim, then name
  mutable absl::flat_hash_map<std::string, VolumePtr> indexed_;                       // by name: what stands in those
  mutable absl::flat_hash_map<std::string, uint32_t> affinities_;

  // Rows on which a claim of a class and a size can be provisioned, valid for the versions.
  mutable std::map<std::pair<std::string, int64_t>, RowSet> provisionable_;
  mutable uint64_t provisionable_version_ = 0, provisionable_generation_ = 0;
};

// Adds the listed rows whose labels meet one of the terms of a volume's node affinity. No terms add every row.
void AddAdmittedRows(const Cache& cache, const std::vector<api::NodeSelectorTerm>& terms, RowSet* rows);

}  // namespace berth::scheduler
