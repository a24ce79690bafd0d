#include "pkg/scheduler/volumebinder/volume_index.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <iterator>

#include "pkg/scheduler/volumebinder/volume_rules.h"

namespace berth::scheduler {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;
using VolumePtr = VolumeIndex::VolumePtr;

// A cluster usually has few shapes of claims, and each change of a volume is applied to every shape.
constexpr size_t kMostShapes = 64;

size_t HashOfShape(const PersistentVolumeClaim& c) {
  return absl::HashOf(c.storage_class_name, c.class_annotation, c.access_modes, c.request, c.volume_mode,
                      c.selector.has_value());
}

bool SameShape(const PersistentVolumeClaim& a, const PersistentVolumeClaim& b) {
  return a.storage_class_name == b.storage_class_name && a.class_annotation == b.class_annotation &&
         a.access_modes == b.access_modes && a.request == b.request && a.volume_mode == b.volume_mode &&
         a.selector == b.selector;
}

bool UsableEverywhere(const PersistentVolume& v) {
  return !v.annotation_affinity_bad && v.annotation_affinity.empty() && v.node_affinity.empty();
}

bool IsTaken(const std::vector<const PersistentVolume*>& taken, const VolumePtr& v) {
  return std::find(taken.begin(), taken.end(), v.get()) != taken.end();
}

}  // namespace

bool VolumeIndex::Smaller::operator()(const VolumePtr& a, const VolumePtr& b) const {
  if (const auto order = CapacityOf(*a) <=> CapacityOf(*b); order != 0) return order < 0;
  return a->meta.name < b->meta.name;
}

VolumePtr VolumeIndex::Effective(const std::string& name) const {
  VolumePtr known = cache_->listers().volumes.Get(util::Symbol(), name);
  if (known == nullptr) return nullptr;  // a reservation of a deleted volume is void
  auto assumed = assumed_->find(name);
  return assumed == assumed_->end() ? known : assumed->second;
}

// Returns whether the claim considers the volume at all: the checks of findMatchingVolume (1.10) that precede the
// claimRef.
bool VolumeIndex::Eligible(const PersistentVolume& v, const PersistentVolumeClaim& claim) const {
  const std::string wanted = claim.storage_class_name.value_or(std::string());
  if (lists_by_specification_ && v.storage_class_name != wanted) return false;
  if (gates_.block_volume && v.volume_mode != claim.volume_mode) return false;
  return !(gates_.storage_object_in_use_protection && v.meta.deleting());
}

bool VolumeIndex::Takes(const Shape& shape, const PersistentVolume& v) const {
  return Eligible(v, *shape.like) && Suits(v, *shape.like);
}

// Adds a volume under each label value that it is tied to. Nodes with these values are evaluated again by RowsOf.
void VolumeIndex::Insert(Shape* shape, const VolumePtr& v) {
  if (UsableEverywhere(*v)) {
    shape->everywhere.insert(v);
    return;
  }
  const api::Requirement* narrowest = NarrowestRequirement(*v);
  if (narrowest == nullptr) {
    shape->untied.insert(v);
    // A volume without such a requirement may be usable on any row, so all rows must be evaluated again.
    shape->rows_known = false;
    return;
  }
  for (util::Symbol value : narrowest->values) {
    std::vector<VolumePtr>& list = shape->by_label[{narrowest->key, value}];
    if (list.empty()) ++shape->keys[narrowest->key];
    list.insert(std::upper_bound(list.begin(), list.end(), v, Smaller()), v);
    if (shape->rows_known) shape->changed.emplace_back(narrowest->key, value);
  }
}

void VolumeIndex::Erase(Shape* shape, const VolumePtr& v) {
  if (UsableEverywhere(*v)) {
    shape->everywhere.erase(v);
    return;
  }
  const api::Requirement* narrowest = NarrowestRequirement(*v);
  if (narrowest == nullptr) {
    shape->untied.erase(v);
    shape->rows_known = false;
    return;
  }
  for (util::Symbol value : narrowest->values) {
    auto it = shape->by_label.find({narrowest->key, value});
    if (it == shape->by_label.end()) continue;  // the requirement lists this value twice
    std::erase(it->second, v);
    if (it->second.empty()) {
      shape->by_label.erase(it);
      if (--shape->keys[narrowest->key] == 0) shape->keys.erase(narrowest->key);
    }
    if (shape->rows_known) shape->changed.emplace_back(narrowest->key, value);
  }
}

// Maintains what is not specific to a shape.
void VolumeIndex::Count(const VolumePtr& v, int sign) {
  if (!v->volume_mode) without_mode_[Listing(v->storage_class_name)] += static_cast<size_t>(sign);
  if (!v->claim_ref) return;
  const ClaimKey key(v->claim_ref->ns, v->claim_ref->name);
  if (sign > 0) {
    by_claim_[key].insert(v->meta.name);
    return;
  }
  auto it = by_claim_.find(key);
  it->second.erase(v->meta.name);
  if (it->second.empty()) by_claim_.erase(it);
}

// Compares what the index contains with what is known now, and applies the difference to every shape.
void VolumeIndex::Change(const std::string& name) {
  VolumePtr now = Effective(name);
  auto before = volumes_.find(name);
  if (before != volumes_.end()) {
    if (before->second == now) return;
    for (Known& known : shapes_) {
      if (Takes(known.shape, *before->second)) Erase(&known.shape, before->second);
    }
    Count(before->second, -1);
    volumes_.erase(before);
  }
  if (now == nullptr) return;
  for (Known& known : shapes_) {
    if (Takes(known.shape, *now)) Insert(&known.shape, now);
  }
  Count(now, +1);
  volumes_.emplace(name, std::move(now));
}

void VolumeIndex::Rebuild() {
  built_ = true;
  volumes_.clear();
  by_claim_.clear();
  without_mode_.clear();
  shapes_.clear();
  cache_->listers().volumes.ForEach([&](const VolumePtr& v) { Change(v->meta.name); });
}

void VolumeIndex::Refresh() {
  const auto& volumes = cache_->listers().volumes;
  const bool known =
      built_ && volumes.ChangesSince(seen_, [&](util::Symbol, const std::string& name) { Change(name); });
  if (!known) Rebuild();
  seen_ = volumes.version();
  for (const std::string& name : assumed_changes_) Change(name);
  assumed_changes_.clear();
}

VolumeIndex::Shape* VolumeIndex::ShapeOf(const ClaimPtr& claim) {
  Refresh();
  if (claim->selector && !claim->selector->ok()) return nullptr;
  // With the gate BlockVolume, upstream reports an error when it compares a volume without volumeMode. Only
  // VolumeBinder reproduces that.
  if (gates_.block_volume) {
    auto lacking = without_mode_.find(Listing(claim->storage_class_name.value_or(std::string())));
    if (!claim->volume_mode || (lacking != without_mode_.end() && lacking->second > 0)) return nullptr;
  }
  const size_t hash = HashOfShape(*claim);
  for (auto it = shapes_.begin(); it != shapes_.end(); ++it) {
    if (it->hash != hash || !SameShape(*it->shape.like, *claim)) continue;
    shapes_.splice(shapes_.begin(), shapes_, it);
    return &shapes_.front().shape;
  }
  // Drops the shape that was not used for the longest time.
  if (shapes_.size() >= kMostShapes) shapes_.pop_back();
  Shape& made = shapes_.emplace_front(Known{hash, {}}).shape;
  made.like = claim;
  for (const auto& [name, v] : volumes_) {
    if (Takes(made, *v)) Insert(&made, v);
  }
  return &made;
}

// As in FindMatch, a volume that is too small does not count as the claim's own.
VolumePtr VolumeIndex::OwnVolume(const PersistentVolumeClaim& claim) {
  Refresh();
  auto names = by_claim_.find({claim.meta.ns.string(), claim.meta.name});
  if (names == by_claim_.end()) return nullptr;
  for (const std::string& name : names->second) {
    const VolumePtr& v = volumes_.find(name)->second;
    if (Eligible(*v, claim) && RefersTo(*v, claim) && !(CapacityOf(*v) < claim.request)) return v;
  }
  return nullptr;
}

VolumePtr SmallestUsable(const VolumeIndex::Shape& shape, const api::Labels& node,
                         const std::vector<const PersistentVolume*>& taken) {
  VolumePtr best;
  const VolumeIndex::Smaller smaller;
  auto look = [&](const auto& volumes) {
    for (const VolumePtr& v : volumes) {
      // Each list is in the order of Smaller, so the rest of it cannot be better.
      if (best != nullptr && !smaller(v, best)) return;
      if (!IsTaken(taken, v) && UsableOn(*v, node)) best = v;
    }
  };
  look(shape.everywhere);
  look(shape.untied);
  for (const auto& [key, values] : shape.keys) {
    auto value = node.Get(key);
    if (!value) continue;
    if (auto it = shape.by_label.find({key, *value}); it != shape.by_label.end()) look(it->second);
  }
  return best;
}

void VolumeIndex::EvaluateRow(Shape* shape, Row row) const {
  const bool usable = cache_->listed().Has(row) && SmallestUsable(*shape, cache_->row(row).node->labels, {}) != nullptr;
  usable ? shape->rows.Insert(row) : shape->rows.Erase(row);
}

const RowSet& VolumeIndex::RowsOf(Shape* shape) const {
  auto evaluate = [&](Row row) { EvaluateRow(shape, row); };
  if (shape->rows_known) shape->rows_known = cache_->NodeChangesSince(shape->rows_generation, evaluate);
  if (shape->rows_known) {
    for (const auto& [key, value] : shape->changed) {
      for (Row row : cache_->Label(key).RowsWith(value)) evaluate(row);
    }
  } else {
    shape->rows.Clear();
    // Without untied volumes, only nodes that have one of the label values can use a volume.
    if (shape->untied.empty()) {
      for (const auto& [label, volumes] : shape->by_label) {
        for (Row row : cache_->Label(label.first).RowsWith(label.second)) evaluate(row);
      }
    } else {
      cache_->listed().ForEach(evaluate);
    }
  }
  shape->rows_known = true;
  shape->changed.clear();
  shape->rows_generation = cache_->generation();
  return shape->rows;
}

}  // namespace berth::scheduler
