#include "pkg/scheduler/volumebinder/claim_matcher.h"

#include <algorithm>

#include "pkg/scheduler/volumebinder/volume_rules.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;

// A condition without which the volume cannot be used: one of these values for a label. Of several, that with the
// fewest values. Null: none.
const api::Requirement* Tie(const PersistentVolume& v) {
  const api::Requirement* tie = nullptr;
  for (const auto* terms : {&v.annotation_affinity, &v.node_affinity}) {
    for (const api::NodeSelectorTerm& t : *terms) {
      for (const api::Requirement& r : t.match.selector.requirements()) {
        if (r.op == api::Operator::kIn && (tie == nullptr || r.values.size() < tie->values.size())) tie = &r;
      }
    }
  }
  return tie;
}

}  // namespace

ClaimMatcher::ClaimMatcher(const VolumeBinder* binder, VolumeBinder::PodClaims claims)
    : binder_(binder), claims_(std::move(claims)) {
  for (const auto& claim : claims_.bound) {
    VolumeBinder::VolumePtr volume = binder_->Volume(claim->volume_name);
    if (volume == nullptr) {
      bound_known_ = false;
    } else if (volume->annotation_affinity_bad || !volume->annotation_affinity.empty() ||
               !volume->node_affinity.empty()) {
      bound_somewhere_.push_back(std::move(volume));
    }
  }
  candidates_.resize(claims_.unbound.size());
  for (size_t i = 0; i < candidates_.size() && plain_; ++i) plain_ = Prepare(*claims_.unbound[i], &candidates_[i]);
}

absl::StatusOr<bool> ClaimMatcher::BoundFit(const api::Labels& node) const {
  if (!bound_known_) return binder_->BoundFit(claims_, node);
  return std::all_of(bound_somewhere_.begin(), bound_somewhere_.end(),
                     [&](const auto& v) { return UsableOn(*v, node); });
}

// False: what the claim gets, or the error, depends on more than candidates tell.
bool ClaimMatcher::Prepare(const api::PersistentVolumeClaim& claim, Candidates* out) const {
  const AlgorithmGates& gates = binder_->gates();
  if (claim.selector && !claim.selector->ok()) return false;
  if (gates.block_volume && !claim.volume_mode) return false;
  if (std::count_if(claims_.unbound.begin(), claims_.unbound.end(), [&](const auto& c) { return c.get() == &claim; }) >
      1) {
    return false;
  }
  bool plain = true;
  binder_->ForEachVolume(claim, [&](const VolumeBinder::VolumePtr& v) {
    if (out->own != nullptr || !plain) return;
    if (gates.block_volume) {
      if (!v->volume_mode) {
        plain = false;
        return;
      }
      if (*v->volume_mode != *claim.volume_mode) return;
    }
    if (gates.storage_object_in_use_protection && v->meta.deleting()) return;
    if (RefersTo(*v, claim)) {
      if (!(CapacityOf(*v) < claim.request)) out->own = v;
    } else if (Suits(*v, claim)) {
      out->volumes.push_back(v);
    }
  });
  if (!plain || out->own != nullptr) return plain;
  auto smaller = [](const auto& a, const auto& b) { return CapacityOf(*a) < CapacityOf(*b); };
  if (!std::is_sorted(out->volumes.begin(), out->volumes.end(), smaller)) {
    std::stable_sort(out->volumes.begin(), out->volumes.end(), smaller);
  }
  out->by_label.reserve(out->volumes.size());
  for (uint32_t i = 0; i < out->volumes.size(); ++i) {
    const api::Requirement* tie = Tie(*out->volumes[i]);
    if (tie == nullptr) {
      out->anywhere.push_back(i);
      continue;
    }
    if (std::find(out->keys.begin(), out->keys.end(), tie->key) == out->keys.end()) out->keys.push_back(tie->key);
    for (util::Symbol value : tie->values) out->by_label[{tie->key, value}].push_back(i);
  }
  return true;
}

// The one that the claim gets on such a node; null: none.
const PersistentVolume* ClaimMatcher::Find(const Candidates& c, const api::Labels& node,
                                           const std::vector<const PersistentVolume*>& taken) const {
  if (c.own != nullptr) return UsableOn(*c.own, node) ? c.own.get() : nullptr;
  uint32_t best = static_cast<uint32_t>(c.volumes.size());
  auto look = [&](const std::vector<uint32_t>& places) {
    for (uint32_t i : places) {
      if (i >= best) return;
      const PersistentVolume* v = c.volumes[i].get();
      if (std::find(taken.begin(), taken.end(), v) == taken.end() && UsableOn(*v, node)) best = i;
    }
  };
  look(c.anywhere);
  for (util::Symbol key : c.keys) {
    auto value = node.Get(key);
    if (!value) continue;
    if (auto it = c.by_label.find({key, *value}); it != c.by_label.end()) look(it->second);
  }
  return best < c.volumes.size() ? c.volumes[best].get() : nullptr;
}

absl::StatusOr<bool> ClaimMatcher::CanMatch(const api::Labels& node) const {
  if (!plain_) {
    auto match = binder_->Match(claims_, node);
    if (!match.ok()) return match.status();
    return match->has_value();
  }
  std::vector<const PersistentVolume*> taken;
  for (const Candidates& c : candidates_) {
    const PersistentVolume* v = Find(c, node, taken);
    if (v == nullptr) return false;
    taken.push_back(v);
  }
  return true;
}

}  // namespace berth::scheduler
