// Whether what a ClaimBinder reserved for a pod, and what was written of it, is bound by now.
#include <absl/strings/str_cat.h>

#include <string>
#include <string_view>

#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler {
namespace {

using ClaimPtr = ClaimBinder::ClaimPtr;
using VolumePtr = ClaimBinder::VolumePtr;

std::string MissingVolume(const std::string& name) {
  return absl::StrCat("could not find v1.PersistentVolume ", api::GoQuoted(name));
}

std::string MissingClaim(const api::PersistentVolumeClaim& claim) {
  return absl::StrCat("could not find v1.PersistentVolumeClaim ", api::GoQuoted(claim.meta.Key()));
}

std::string ReservationReset(const api::PersistentVolume& volume) {
  return absl::StrCat("ClaimRef got reset for pv ", api::GoQuoted(volume.meta.name));
}

std::string NodeReset(const api::PersistentVolumeClaim& claim) {
  return absl::StrCat("selectedNode annotation reset for PVC ", api::GoQuoted(claim.meta.name));
}

bool IsReserved(const api::PersistentVolume& volume) {
  return volume.claim_ref && !volume.claim_ref->uid.empty();
}

bool HasAnnotations(const api::PersistentVolumeClaim& claim) {
  return claim.raw == nullptr || claim.raw->find("\"annotations\"") != std::string::npos;
}

// Returns whether an object that lacks what was written has the version from before the write, so that its watch has
// not shown the write yet. The version alone does not tell, because a write that changes nothing keeps it.
template <typename T>
bool IsOlder(const T& now, const T& before) {
  return now.meta.resource_version == before.meta.resource_version;
}

}  // namespace

bool ClaimBinder::Completed(const Assumed& written, Symbol node_name, std::string* error) const {
  return rules_.waits_for_claims_alone ? CompletedClaims(written, node_name, error)
                                       : CompletedOnNode(written, node_name, error);
}

// As checkBindings of 1.13.
bool ClaimBinder::CompletedClaims(const Assumed& written, Symbol node_name, std::string* error) const {
  const Listers& listers = cache_->listers();
  const auto claim_now = [&](const ClaimPtr& claim, std::string_view what) {
    ClaimPtr known = listers.claims.Get(claim->meta.ns, claim->meta.name);
    if (known == nullptr) {
      *error = absl::StrCat(std::string(what), "error getting PVC ", api::GoQuoted(claim->meta.Key()), ": ",
                            MissingClaim(*claim));
    }
    return known;
  };
  const auto bound = [](const ClaimPtr& claim) { return !claim->volume_name.empty() && claim->bind_completed; };
  for (const Assumed::Binding& b : written.bindings) {
    const VolumePtr volume = listers.volumes.Get(Symbol(), b.before->meta.name);
    if (volume == nullptr) {
      *error = absl::StrCat("failed to check pv binding: ", MissingVolume(b.before->meta.name));
      return false;
    }
    if (!IsReserved(*volume)) {
      if (!IsOlder(*volume, *b.before)) *error = ReservationReset(*volume);
      return false;
    }
    const ClaimPtr claim = claim_now(b.claim, "");
    if (claim == nullptr || !bound(claim)) return false;
  }
  for (const ClaimPtr& before : written.provisions) {
    const ClaimPtr claim = claim_now(before, "failed to check pvc binding: ");
    if (claim == nullptr) return false;
    if (claim->selected_node != node_name.str()) {
      if (IsOlder(*claim, *before)) return false;
      *error = HasAnnotations(*claim)
                   ? absl::StrCat("selectedNode annotation value ", api::GoQuoted(claim->selected_node.value_or("")),
                                  " not set to scheduled node ", api::GoQuoted(node_name.string()))
                   : NodeReset(*claim);
      return false;
    }
    if (!bound(claim)) return false;
  }
  return true;
}

// As checkBindings of 1.29.
bool ClaimBinder::CompletedOnNode(const Assumed& written, Symbol node_name, std::string* error) const {
  const Listers& listers = cache_->listers();
  const Row row = cache_->FindRow(node_name);
  const api::NodePtr node = row == kNoRow ? nullptr : cache_->row(row).node;
  const std::string quoted_node = api::GoQuoted(node_name.string());
  if (node == nullptr) {
    *error = absl::StrCat("failed to get node ", quoted_node, ": node ", quoted_node, " not found");
    return false;
  }
  const auto can_use = [&](const VolumePtr& v) {
    if (CanUse(v, *node, error)) return true;
    if (error->empty()) {
      *error = absl::StrCat("pv ", api::GoQuoted(v->meta.name), " node affinity doesn't match node ", quoted_node,
                            ": no matching NodeSelectorTerms");
    }
    return false;
  };
  const auto claim_now = [&](const ClaimPtr& claim, std::string_view what) {
    ClaimPtr known = listers.claims.Get(claim->meta.ns, claim->meta.name);
    if (known != nullptr && known->meta.uid == claim->meta.uid) return known;
    *error = absl::StrCat("failed to check ", std::string(what), ": ", MissingClaim(*claim));
    return ClaimPtr();
  };
  // Whether the claim is bound to a volume that is known and can be used. Upstream asks this of provisioned claims
  // only, so a claim that was reserved one volume and is bound to another may get its pod bound where the latter is
  // not.
  const auto bound = [&](const api::PersistentVolumeClaim& claim) {
    if (claim.volume_name.empty()) return false;
    const VolumePtr volume = listers.volumes.Get(Symbol(), claim.volume_name);
    return volume != nullptr && can_use(volume) && claim.bind_completed;
  };
  for (const Assumed::Binding& b : written.bindings) {
    const VolumePtr volume = listers.volumes.Get(Symbol(), b.before->meta.name);
    if (volume == nullptr) {
      *error = absl::StrCat("failed to check binding: ", MissingVolume(b.before->meta.name));
      return false;
    }
    const ClaimPtr claim = claim_now(b.claim, "binding");
    if (claim == nullptr) return false;
    if (!IsReserved(*volume) && IsOlder(*volume, *b.before)) return false;
    if (!can_use(volume)) return false;
    if (!IsReserved(*volume)) {
      *error = ReservationReset(*volume);
      return false;
    }
    if (!bound(*claim)) return false;
  }
  for (const ClaimPtr& before : written.provisions) {
    const ClaimPtr claim = claim_now(before, "provisioning pvc");
    if (claim == nullptr) return false;
    if (claim->selected_node != node_name.str()) {
      if (IsOlder(*claim, *before)) return false;
      // A provisioner that gives up takes the choice of the node back. Upstream says so in other words when the claim
      // has no annotations any more.
      *error = HasAnnotations(*claim) ? absl::StrCat("provisioning failed for PVC ", api::GoQuoted(claim->meta.name))
                                      : NodeReset(*claim);
      return false;
    }
    if (!bound(*claim)) return false;
  }
  return true;
}

}  // namespace berth::scheduler
