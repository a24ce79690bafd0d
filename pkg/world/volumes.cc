#include "pkg/world/volumes.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>

namespace berth::world {
namespace {

using Claim = api::PersistentVolumeClaim;
using VolumePtr = api::Ptr<api::PersistentVolume>;
using ClassPtr = api::Ptr<api::StorageClass>;

constexpr char kFilesystem[] = "Filesystem", kNoProvisioner[] = "kubernetes.io/no-provisioner";

bool Names(const api::PersistentVolume& v, const Claim& c) {
  return v.claim_ref && v.claim_ref->ns == c.meta.ns.str() && v.claim_ref->name == c.meta.name &&
         (v.claim_ref->uid.empty() || v.claim_ref->uid == c.meta.uid);
}

bool Serves(const api::PersistentVolume& v, const Claim& c) {
  if (v.claim_ref && !Names(v, c)) return false;
  if (v.phase != "Available" && !v.claim_ref) return false;
  if (v.Class() != c.Class()) return false;
  if (c.has_request && (!v.capacity || *v.capacity < c.request)) return false;
  if (v.volume_mode.value_or(kFilesystem) != c.volume_mode.value_or(kFilesystem)) return false;
  if (c.selector && (!c.selector->ok() || !c.selector->selector.Matches(v.labels))) return false;
  return std::all_of(c.access_modes.begin(), c.access_modes.end(), [&](api::Symbol mode) {
    return std::find(v.access_modes.begin(), v.access_modes.end(), mode) != v.access_modes.end();
  });
}

// Returns the volume that a provisioner would make.
std::shared_ptr<api::PersistentVolume> Provisioned(const Claim& c, const api::StorageClass& storage_class) {
  auto v = std::make_shared<api::PersistentVolume>();
  v->meta.name = absl::StrCat("pvc-", c.meta.uid);
  v->meta.uid = absl::StrCat("made-up-volume-", v->meta.name);
  v->capacity = c.request;
  v->access_modes = c.access_modes;
  v->storage_class_name = c.Class();
  v->volume_mode = c.volume_mode;
  for (const auto& term : storage_class.allowed_topologies) {
    std::vector<api::RawRequirement> expressions;
    for (const auto& [key, values] : term.expressions) expressions.push_back({key, "In", values});
    v->node_affinity.push_back(api::MakeNodeSelectorTerm(expressions, {}));
  }
  // Terms of a volume must all match, so that alternatives cannot be written down: then any node will do.
  if (v->node_affinity.size() > 1) v->node_affinity.clear();
  return v;
}

}  // namespace

VolumePtr VolumeFor(const Claim& claim, const std::vector<VolumePtr>& volumes) {
  VolumePtr best;
  for (const VolumePtr& v : volumes) {
    if (!Serves(*v, claim)) continue;
    if (Names(*v, claim)) return v;
    if (best == nullptr || (v->capacity && *v->capacity < *best->capacity)) best = v;
  }
  return best;
}

absl::Status BindAtOnce(const std::vector<std::shared_ptr<Claim>>& claims, std::vector<api::Object>* cluster) {
  std::vector<VolumePtr> volumes;
  absl::flat_hash_map<std::string, ClassPtr> classes;
  for (const api::Object& o : *cluster) {
    if (const auto* v = std::get_if<VolumePtr>(&o)) volumes.push_back(*v);
    if (const auto* c = std::get_if<ClassPtr>(&o)) classes[(*c)->meta.name] = *c;
  }
  absl::flat_hash_map<std::string, VolumePtr> bound;  // by the volume's name
  for (const auto& claim : claims) {
    if (!claim->volume_name.empty() || claim->bind_completed) continue;
    auto of = classes.find(claim->Class());
    const api::StorageClass* storage_class = of == classes.end() ? nullptr : of->second.get();
    if (storage_class != nullptr && storage_class->binding_mode == "WaitForFirstConsumer") continue;
    std::shared_ptr<api::PersistentVolume> volume;
    if (VolumePtr found = VolumeFor(*claim, volumes)) {
      volume = std::make_shared<api::PersistentVolume>(*found);
      std::replace(volumes.begin(), volumes.end(), found, VolumePtr(volume));
      volume->bound_by_controller = !volume->claim_ref.has_value();
    } else if (storage_class != nullptr && !storage_class->provisioner.empty() &&
               storage_class->provisioner != kNoProvisioner) {
      volume = Provisioned(*claim, *storage_class);
      volumes.push_back(volume);
    } else {
      continue;
    }
    volume->claim_ref = {claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
    volume->phase = "Bound";
    claim->volume_name = volume->meta.name;
    claim->bind_completed = true;
    claim->phase = "Bound";
    bound[volume->meta.name] = volume;
  }
  for (api::Object& o : *cluster) {
    const auto* v = std::get_if<VolumePtr>(&o);
    if (v == nullptr) continue;
    if (auto it = bound.find((*v)->meta.name); it != bound.end()) {
      o = it->second;
      bound.erase(it);
    }
  }
  for (const VolumePtr& v : volumes) {
    if (bound.contains(v->meta.name)) cluster->push_back(v);
  }
  return absl::OkStatus();
}

}  // namespace berth::world
