#include "pkg/scheduler/volumebinder/volume_binder.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/volumebinder/claim_matcher.h"
#include "pkg/scheduler/volumebinder/volume_rules.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;

// Binding is complete once the volume controller has set both the volume name and the annotation bind-completed.
bool FullyBound(const PersistentVolumeClaim& c) {
  return !c.volume_name.empty() && c.bind_completed;
}

}  // namespace

VolumeBinder::VolumePtr VolumeBinder::Volume(const std::string& name) const {
  if (auto it = assumed_.find(name); it != assumed_.end()) return it->second;
  return cache_->listers().volumes.Get(Symbol(), name);
}

// A claim counts as bound as soon as it names a volume, even before the controller has completed the binding.
VolumeBinder::PodClaims VolumeBinder::ClaimsOf(const api::Pod& pod) const {
  PodClaims out;
  bool immediate = false;
  for (const api::Volume& v : pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    ClaimPtr claim = cache_->listers().claims.Get(pod.meta.ns, v.id);
    if (claim == nullptr) {
      out.error = absl::StrCat("error getting PVC \"", v.id, "\": persistentvolumeclaim \"", v.id, "\" not found");
      out.claim_is_missing = true;
      return out;
    }
    if (!claim->volume_name.empty()) {
      out.bound.push_back(claim);
      continue;
    }
    std::string class_name = claim->Class();
    auto storage_class = class_name.empty() ? nullptr : cache_->listers().storage_classes.Get(Symbol(), class_name);
    if (storage_class != nullptr && !storage_class->binding_mode) {
      out.error = absl::StrCat("VolumeBindingMode not set for StorageClass \"", class_name, "\"");
      return out;
    }
    if (storage_class != nullptr && *storage_class->binding_mode == "WaitForFirstConsumer") {
      out.unbound.push_back(claim);
    } else {
      immediate = true;
    }
  }
  if (immediate) {
    out.error = "pod has unbound PersistentVolumeClaims";
    return out;
  }
  // Upstream's sort is not stable; here, claims of equal size keep the order of the pod's volumes.
  std::stable_sort(out.unbound.begin(), out.unbound.end(),
                   [](const ClaimPtr& a, const ClaimPtr& b) { return a->request < b->request; });
  return out;
}

absl::StatusOr<bool> VolumeBinder::BoundFit(const PodClaims& claims, const api::Labels& node) const {
  for (const ClaimPtr& claim : claims.bound) {
    VolumePtr volume = Volume(claim->volume_name);
    if (volume == nullptr) {
      return util::NotFound(absl::StrCat("could not find v1.PersistentVolume \"", claim->volume_name, "\""));
    }
    if (!UsableOn(*volume, node)) return false;
  }
  return true;
}

absl::StatusOr<VolumeBinder::VolumePtr> VolumeBinder::FindMatch(const PersistentVolumeClaim& claim,
                                                                const api::Labels& node,
                                                                const std::vector<std::string>& taken) const {
  if (claim.selector && !claim.selector->ok()) return util::InvalidArgument(claim.selector->error);
  VolumePtr best;
  absl::Status error;
  bool decided = false;
  ForEachVolume(claim, [&](const VolumePtr& v) {
    if (decided || !error.ok()) return;
    if (std::find(taken.begin(), taken.end(), v->meta.name) != taken.end()) return;
    if (gates_.block_volume) {
      if (!v->volume_mode || !claim.volume_mode) {
        error =
            util::InvalidArgument("error checking if volumeMode was a mismatch: api defaulting for volumeMode failed");
        return;
      }
      if (*v->volume_mode != *claim.volume_mode) return;
    }
    if (gates_.storage_object_in_use_protection && v->meta.deleting()) return;
    // A volume that is reserved for the claim decides the search: if it cannot be used on the node, no other volume
    // will do. One that is too small is skipped.
    if (RefersTo(*v, claim)) {
      if (CapacityOf(*v) < claim.request) return;
      best = UsableOn(*v, node) ? v : nullptr;
      decided = true;
      return;
    }
    if (!Suits(*v, claim) || !UsableOn(*v, node)) return;
    // Volumes come in order of name, so the smallest name wins among those of equal capacity.
    if (best == nullptr || CapacityOf(*v) < CapacityOf(*best)) best = v;
  });
  if (!error.ok()) return error;
  return best;
}

absl::StatusOr<std::optional<std::vector<VolumeBinder::Binding>>> VolumeBinder::Match(const PodClaims& claims,
                                                                                      const api::Labels& node) const {
  std::vector<Binding> out;
  std::vector<std::string> taken;
  for (const ClaimPtr& claim : claims.unbound) {
    auto volume = FindMatch(*claim, node, taken);
    if (!volume.ok()) return volume.status();
    if (*volume == nullptr) return std::optional<std::vector<Binding>>();
    taken.push_back((*volume)->meta.name);
    out.push_back({claim, *volume, false});
  }
  return std::optional(std::move(out));
}

// The volumes are chosen again for the node instead of being remembered from the decision, so that no choice of an
// earlier round can be acted upon (bug B-34, fixed).
VolumeBinder::Assumed VolumeBinder::AssumePodVolumes(const api::Pod& pod, const api::Node& node) {
  Assumed out;
  out.all_bound = std::all_of(pod.tmpl->volumes.begin(), pod.tmpl->volumes.end(), [&](const api::Volume& v) {
    if (v.kind != api::Volume::Kind::kClaim) return true;
    ClaimPtr claim = cache_->listers().claims.Get(pod.meta.ns, v.id);
    return claim != nullptr && FullyBound(*claim);
  });
  if (out.all_bound) return out;
  PodClaims claims = ClaimsOf(pod);
  if (!claims.error.empty()) {
    out.error = claims.error;
    return out;
  }
  auto match = ClaimMatcher(this, std::move(claims)).Match(node.labels);
  if (!match.ok()) {
    out.error = util::Message(match.status());
    return out;
  }
  // No match: the volumes have changed since the decision. Nothing is reserved, and the pod is tried again.
  if (!match->has_value()) return out;
  for (Binding& b : **match) {
    bool refers = RefersTo(*b.volume, *b.claim);
    b.set_bound_by_controller = !refers && !b.volume->bound_by_controller;
    if (refers && b.volume->claim_ref->uid == b.claim->meta.uid) continue;  // already written
    auto reserved = std::make_shared<PersistentVolume>(*b.volume);
    reserved->claim_ref = PersistentVolume::ClaimRef{b.claim->meta.ns.string(), b.claim->meta.name, b.claim->meta.uid};
    reserved->bound_by_controller |= b.set_bound_by_controller;
    index_.NoteAssumed(reserved->meta.name);
    assumed_[reserved->meta.name] = reserved;
    out.to_write.push_back(b);
  }
  return out;
}

void VolumeBinder::Forget(const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) Unassume(b.volume->meta.name);
}

}  // namespace berth::scheduler
