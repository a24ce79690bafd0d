// What a ClaimBinder reserves for pods whose node has been chosen.
#include <utility>

#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler {

// The volumes are chosen again with Find, because the decision did not store them.
ClaimBinder::Assumed ClaimBinder::Assume(const api::Pod& pod, const api::Node& node) {
  Assumed out;
  const PodClaims claims = ClaimsOf(pod);
  out.error = claims.error;
  if (!claims.error.empty() || claims.delayed.empty()) return out;
  const OnNode found = Find(claims, node);
  out.error = found.error;
  if (!found.error.empty()) return out;
  for (const auto& [claim, volume] : found.bindings) {
    auto copy = std::make_shared<api::PersistentVolume>(*volume);
    copy->bound_by_controller = copy->bound_by_controller || !copy->claim_ref;
    copy->claim_ref = api::PersistentVolume::ClaimRef{claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
    volumes_[copy->meta.name] = copy;
    if (synced_) Index(copy->meta.name);
    out.bindings.push_back({claim, std::move(copy), volume});
  }
  for (const ClaimPtr& claim : found.provisions) {
    auto copy = std::make_shared<api::PersistentVolumeClaim>(*claim);
    copy->selected_node = node.meta.name;
    claims_[{copy->meta.ns, copy->meta.name}] = copy;
    out.provisions.push_back(std::move(copy));
  }
  return out;
}

void ClaimBinder::Forget(const Assumed& assumed) {
  for (const auto& b : assumed.bindings) VolumeChanged(b.volume->meta.name);
  for (const ClaimPtr& c : assumed.provisions) ClaimChanged(c->meta.ns, c->meta.name);
}

void ClaimBinder::VolumeChanged(const std::string& name) {
  if (volumes_.erase(name) > 0 && synced_) Index(name);
}

}  // namespace berth::scheduler
