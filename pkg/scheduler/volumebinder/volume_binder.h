// Delayed volume binding of release 1.10 (gate VolumeScheduling): determines which persistent volumes the unbound
// claims of a pod would get on a node, and reserves them once a node is chosen. Thread-safety: the same as that of
// Cache. Source: pkg/controller/volume/persistentvolume/scheduler_binder.go (1.10).
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/gates.h"
#include "pkg/scheduler/volumebinder/volume_index.h"

namespace berth::scheduler {

class VolumeBinder {
 public:
  using ClaimPtr = std::shared_ptr<const api::PersistentVolumeClaim>;
  using VolumePtr = std::shared_ptr<const api::PersistentVolume>;
  // A volume that is to be reserved for a claim by writing it with a claimRef to the claim. `volume` is what it was
  // before.
  struct Binding {
    ClaimPtr claim;
    VolumePtr volume;
    bool set_bound_by_controller = false;  // whether to annotate pv.kubernetes.io/bound-by-controller=yes
  };

  // `lists_by_specification`: ClaimRules.
  VolumeBinder(const Cache* cache, AlgorithmGates gates, bool lists_by_specification = true)
      : cache_(cache), gates_(gates), lists_by_specification_(lists_by_specification) {}
  VolumeBinder(const VolumeBinder&) = delete;  // the index refers to the binder's members

  // The claims of a pod, classified once for all nodes.
  struct PodClaims {
    std::vector<ClaimPtr> bound;    // spec.volumeName is set
    std::vector<ClaimPtr> unbound;  // to be bound by the scheduler, in ascending order of requested storage
    // Why the pod cannot be scheduled: "error getting PVC ...", "pod has unbound PersistentVolumeClaims" or
    // "VolumeBindingMode not set ...". Empty if it can be.
    std::string error;
    bool claim_is_missing = false;  // whether the error is that a claim does not exist
  };
  PodClaims ClaimsOf(const api::Pod& pod) const;

  const AlgorithmGates& gates() const { return gates_; }
  VolumePtr Volume(const std::string& name) const;  // the assumed volume, otherwise that of the cache, or null
  // Returns the index of volumes by shapes of claims.
  VolumeIndex& index() const { return index_; }
  // Calls f(volume) in order of name for the volumes that are looked at for the claim.
  template <typename F>
  void ForEachVolume(const api::PersistentVolumeClaim& claim, F f) const {
    const std::string wanted = claim.storage_class_name.value_or(std::string());
    cache_->listers().volumes.ForEach([&](const VolumePtr& known) {
      VolumePtr assumed = assumed_.empty() ? nullptr : Volume(known->meta.name);
      const VolumePtr& v = assumed != nullptr ? assumed : known;
      if (!lists_by_specification_ || v->storage_class_name == wanted) f(v);
    });
  }

  // Returns whether the volume of each bound claim can be used on a node with these labels. Returns an error if a
  // volume does not exist.
  absl::StatusOr<bool> BoundFit(const PodClaims& claims, const api::Labels& node) const;
  // Returns a volume for every unbound claim on a node with these labels, or nothing if a claim finds none. Each claim,
  // in order, gets the smallest volume that suits it and is not taken yet; there is no backtracking. It examines every
  // volume; ClaimMatcher computes the same from the index.
  absl::StatusOr<std::optional<std::vector<Binding>>> Match(const PodClaims& claims, const api::Labels& node) const;

  struct Assumed {
    bool all_bound = false;         // nothing to do: the pod can be bound now
    std::vector<Binding> to_write;  // volumes that must be updated through the API first
    std::string error;
  };
  // Reserves the volumes of a pod after a node was chosen (AssumePodVolumes of 1.10). Reservations hold until the API
  // server reports the volumes.
  Assumed AssumePodVolumes(const api::Pod& pod, const api::Node& node);
  // Releases the reservations, for example because writing them failed.
  void Forget(const std::vector<Binding>& bindings);
  // Must be called when the API server reports a volume, or its deletion: a reservation of it no longer holds.
  void VolumeChanged(const std::string& name) { Unassume(name); }

 private:
  // Returns the volume that one claim gets, or null. `taken` are names of volumes that other claims of the pod get.
  absl::StatusOr<VolumePtr> FindMatch(const api::PersistentVolumeClaim& claim, const api::Labels& node,
                                      const std::vector<std::string>& taken) const;
  void Unassume(const std::string& name) {
    if (assumed_.erase(name) > 0) index_.NoteAssumed(name);
  }

  const Cache* cache_;
  AlgorithmGates gates_;
  bool lists_by_specification_;
  VolumeIndex::Assumed assumed_;
  mutable VolumeIndex index_{cache_, gates_, lists_by_specification_, &assumed_};
};

}  // namespace berth::scheduler
