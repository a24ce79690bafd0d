// Delayed volume binding (gate VolumeScheduling; Kubernetes 1.10 volumebinder): which persistent volumes a pod's
// unbound claims would get on a node, and reserving them once a node is chosen. Threading: that of the Cache.
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
  // A volume to be reserved for a claim: the volume as it is known, to be written with claimRef = the claim.
  struct Binding {
    ClaimPtr claim;
    VolumePtr volume;
    bool set_bound_by_controller = false;  // also annotate pv.kubernetes.io/bound-by-controller=yes
  };

  VolumeBinder(const Cache* cache, AlgorithmGates gates) : cache_(cache), gates_(gates) {}
  VolumeBinder(const VolumeBinder&) = delete;  // the index refers to the binder's members

  // The claims of a pod, sorted out once for all nodes.
  struct PodClaims {
    std::vector<ClaimPtr> bound;    // spec.volumeName set
    std::vector<ClaimPtr> unbound;  // delayed, ascending by requested storage
    std::string
        error;  // "error getting PVC ...", "pod has unbound PersistentVolumeClaims", "VolumeBindingMode not set ..."
  };
  PodClaims ClaimsOf(const api::Pod& pod) const;

  const AlgorithmGates& gates() const { return gates_; }
  VolumePtr Volume(const std::string& name) const;  // assumed, else known; null when neither
  // What is kept about volumes for claims of one shape.
  VolumeIndex& index() const { return index_; }
  // Calls f(volume) for the volumes that a claim may be given by its spec's class, by name.
  template <typename F>
  void ForEachVolume(const api::PersistentVolumeClaim& claim, F f) const {
    const std::string wanted = claim.storage_class_name.value_or(std::string());
    cache_->listers().volumes.ForEach([&](const VolumePtr& known) {
      VolumePtr assumed = assumed_.empty() ? nullptr : Volume(known->meta.name);
      const VolumePtr& v = assumed != nullptr ? assumed : known;
      // Candidates are listed by the claim's spec alone (B-33, kept).
      if (v->storage_class_name == wanted) f(v);
    });
  }

  // Is the volume of each bound claim usable on a node with these labels? The error: a volume is not known.
  absl::StatusOr<bool> BoundFit(const PodClaims& claims, const api::Labels& node) const;
  // A volume for every unbound claim on such a node, smallest first, none twice; nothing when one finds none. Looks at
  // every volume; ClaimMatcher answers the same from the index.
  absl::StatusOr<std::optional<std::vector<Binding>>> Match(const PodClaims& claims, const api::Labels& node) const;

  struct Assumed {
    bool all_bound = false;         // nothing to do: the pod can be bound to its node now
    std::vector<Binding> to_write;  // volumes to be updated through the API first
    std::string error;
  };
  // After a node was chosen (1.10 AssumePodVolumes): reserves the volumes in this binder until the API shows them.
  Assumed AssumePodVolumes(const api::Pod& pod, const api::Node& node);
  // Takes reservations back when writing failed.
  void Forget(const std::vector<Binding>& bindings);
  // The API shows a volume (again), or it is gone: what was assumed of it no longer holds.
  void VolumeChanged(const std::string& name) { Unassume(name); }

 private:
  absl::StatusOr<VolumePtr> FindMatch(const api::PersistentVolumeClaim& claim, const api::Labels& node,
                                      const std::vector<std::string>& taken) const;
  void Unassume(const std::string& name) {
    if (assumed_.erase(name) > 0) index_.NoteAssumed(name);
  }

  const Cache* cache_;
  AlgorithmGates gates_;
  VolumeIndex::Assumed assumed_;
  mutable VolumeIndex index_{cache_, gates_, &assumed_};
};

}  // namespace berth::scheduler
