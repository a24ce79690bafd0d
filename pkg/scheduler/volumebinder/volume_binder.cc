#include "pkg/scheduler/volumebinder/volume_binder.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;

bool FullyBound(const PersistentVolumeClaim& c) {
  return !c.volume_name.empty() && c.bind_completed;
}

// Every term must match (B-32, kept); a term that cannot be used fails.
bool AllTermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Labels& labels) {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const api::NodeSelectorTerm& t) { return t.match.ok() && t.match.selector.Matches(labels); });
}

bool UsableOn(const PersistentVolume& v, const api::Labels& node) {
  return !v.annotation_affinity_bad && AllTermsMatch(v.annotation_affinity, node) &&
         AllTermsMatch(v.node_affinity, node);
}

bool RefersTo(const PersistentVolume& v, const PersistentVolumeClaim& c) {
  return v.claim_ref && v.claim_ref->ns == c.meta.ns.str() && v.claim_ref->name == c.meta.name &&
         (v.claim_ref->uid.empty() || v.claim_ref->uid == c.meta.uid);
}

bool Includes(const std::vector<Symbol>& have, const std::vector<Symbol>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](Symbol m) { return std::find(have.begin(), have.end(), m) != have.end(); });
}

}  // namespace

VolumeBinder::VolumePtr VolumeBinder::Volume(const std::string& name) const {
  if (auto it = assumed_.find(name); it != assumed_.end()) return it->second;
  return cache_->listers().volumes.Get(Symbol(), name);
}

VolumeBinder::PodClaims VolumeBinder::ClaimsOf(const api::Pod& pod) const {
  PodClaims out;
  bool immediate = false;
  for (const api::Volume& v : pod.tmpl->volumes) {
    if (v.kind != api::Volume::Kind::kClaim) continue;
    ClaimPtr claim = cache_->listers().claims.Get(pod.meta.ns, v.id);
    if (claim == nullptr) {
      out.error = absl::StrCat("error getting PVC \"", v.id, "\": persistentvolumeclaim \"", v.id, "\" not found");
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
  std::string claim_class = claim.Class();
  if (claim.selector && !claim.selector->ok()) return util::InvalidArgument(claim.selector->error);
  VolumePtr best;
  absl::Status error;
  bool decided = false;
  cache_->listers().volumes.ForEach([&](const VolumePtr& known) {
    if (decided || !error.ok()) return;
    VolumePtr v = Volume(known->meta.name);
    // Candidates are listed by the claim's spec alone (B-33, kept).
    if (v->storage_class_name != claim.storage_class_name.value_or("")) return;
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
    bool usable = UsableOn(*v, node);
    api::Quantity capacity = v->capacity.value_or(api::Quantity());
    if (RefersTo(*v, claim)) {
      if (capacity < claim.request) return;
      best = usable ? v : nullptr;
      decided = true;
      return;
    }
    if (v->claim_ref) return;
    if (claim.selector && !claim.selector->selector.Matches(v->labels)) return;
    if (v->Class() != claim_class || !usable || !Includes(v->access_modes, claim.access_modes)) return;
    if (capacity < claim.request) return;
    if (best == nullptr || capacity < best->capacity.value_or(api::Quantity())) best = v;
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
  auto match = Match(claims, node.labels);
  if (!match.ok()) {
    out.error = util::Message(match.status());
    return out;
  }
  if (!match->has_value()) return out;
  for (Binding& b : **match) {
    bool refers = RefersTo(*b.volume, *b.claim);
    b.set_bound_by_controller = !refers && !b.volume->bound_by_controller;
    if (refers && b.volume->claim_ref->uid == b.claim->meta.uid) continue;  // written already: wait for the controller
    auto reserved = std::make_shared<PersistentVolume>(*b.volume);
    reserved->claim_ref = PersistentVolume::ClaimRef{b.claim->meta.ns.string(), b.claim->meta.name, b.claim->meta.uid};
    reserved->bound_by_controller |= b.set_bound_by_controller;
    assumed_[reserved->meta.name] = reserved;
    out.to_write.push_back(b);
  }
  return out;
}

void VolumeBinder::Forget(const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) assumed_.erase(b.volume->meta.name);
}

}  // namespace berth::scheduler
