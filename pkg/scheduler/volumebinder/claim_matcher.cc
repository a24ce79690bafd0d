#include "pkg/scheduler/volumebinder/claim_matcher.h"

#include <algorithm>

#include "pkg/scheduler/volumebinder/volume_rules.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;

// The index keeps more shapes than this, so that all shapes of a pod are valid at the same time.
constexpr size_t kMostClaims = 32;

// Erases the rows on which the volume cannot be used. Rows without the label value that it is tied to are erased at
// once.
void KeepUsable(const Cache& cache, const PersistentVolume& v, RowSet* candidates) {
  if (const api::Requirement* narrowest = NarrowestRequirement(v); narrowest != nullptr) {
    RowSet tied;
    tied.Resize(cache.row_count());
    for (util::Symbol value : narrowest->values) {
      for (Row row : cache.Label(narrowest->key).RowsWith(value)) tied.Insert(row);
    }
    candidates->IntersectWith(tied);
  }
  candidates->ForEach([&](Row row) {
    if (!UsableOn(v, cache.row(row).node->labels)) candidates->Erase(row);
  });
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
  plain_ = claims_.unbound.size() <= kMostClaims;
  for (const auto& claim : claims_.unbound) {
    if (!plain_) break;
    // A claim that the pod uses twice is matched twice, and the second match must not get the reserved volume again.
    const bool twice = std::count(claims_.unbound.begin(), claims_.unbound.end(), claim) > 1;
    VolumeIndex::Shape* shape = twice ? nullptr : binder_->index().ShapeOf(claim);
    plain_ = shape != nullptr;
    if (plain_) candidates_.push_back({binder_->index().OwnVolume(*claim), shape});
  }
}

// A claim finds at most as many volumes taken as there are claims before it, so that this many volumes are enough.
bool ClaimMatcher::FitsAnywhere() const {
  return bound_known_ && bound_somewhere_.empty() && plain_ &&
         std::all_of(candidates_.begin(), candidates_.end(), [&](const Candidates& c) {
           return c.own == nullptr && c.shape->everywhere.size() >= candidates_.size();
         });
}

absl::StatusOr<bool> ClaimMatcher::BoundFit(const api::Labels& node) const {
  if (!bound_known_) return binder_->BoundFit(claims_, node);
  return std::all_of(bound_somewhere_.begin(), bound_somewhere_.end(),
                     [&](const auto& v) { return UsableOn(*v, node); });
}

VolumeBinder::VolumePtr ClaimMatcher::Find(const Candidates& c, const api::Labels& node,
                                           const std::vector<const PersistentVolume*>& taken) const {
  if (c.own == nullptr) return SmallestUsable(*c.shape, node, taken);
  return UsableOn(*c.own, node) ? c.own : nullptr;
}

absl::StatusOr<bool> ClaimMatcher::CanMatch(const api::Labels& node) const {
  auto match = Match(node);
  if (!match.ok()) return match.status();
  return match->has_value();
}

absl::StatusOr<std::optional<std::vector<VolumeBinder::Binding>>> ClaimMatcher::Match(const api::Labels& node) const {
  if (!plain_) return binder_->Match(claims_, node);
  std::vector<VolumeBinder::Binding> out;
  std::vector<const PersistentVolume*> taken;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    VolumeBinder::VolumePtr v = Find(candidates_[i], node, taken);
    if (v == nullptr) return std::optional<std::vector<VolumeBinder::Binding>>();
    taken.push_back(v.get());
    out.push_back({claims_.unbound[i], std::move(v), false});
  }
  return std::optional(std::move(out));
}

void ClaimMatcher::KeepBoundFit(const Cache& cache, RowSet* candidates) const {
  BERTH_REQUIRES(NeverFails());
  for (const auto& v : bound_somewhere_) KeepUsable(cache, *v, candidates);
}

// Each claim by itself removes the rows where it finds no volume. Only the remaining rows are matched one at a time,
// and only if claims compete.
void ClaimMatcher::KeepMatched(const Cache& cache, RowSet* candidates) const {
  BERTH_REQUIRES(NeverFails());
  for (const Candidates& c : candidates_) {
    if (c.own != nullptr) {
      KeepUsable(cache, *c.own, candidates);
    } else if (c.shape->everywhere.empty()) {
      candidates->IntersectWith(binder_->index().RowsOf(c.shape));
    }
  }
  // Claims of one pod may compete for the same volume.
  if (candidates_.size() < 2 || FitsAnywhere()) return;
  candidates->ForEach([&](Row row) {
    if (!*CanMatch(cache.row(row).node->labels)) candidates->Erase(row);
  });
}

}  // namespace berth::scheduler
