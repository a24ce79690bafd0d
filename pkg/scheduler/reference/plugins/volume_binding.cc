// The plugin VolumeBinding. There are three kinds of claims: those that are bound; those that can be bound when a node
// is chosen, because their class has the binding mode WaitForFirstConsumer; and those that the volume controller must
// bind first, because of which the pod is rejected. A node fits if it reaches the volumes of the bound claims, and if
// each claim of the second kind can get an existing volume or one that is provisioned there.
#include "pkg/scheduler/reference/plugins/volume_binding.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/reference/plugins/cloned.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"

namespace berth::scheduler::reference::plugins {
namespace {

bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const auto& ref = volume.claim_ref;
  return ref && ref->name == claim.meta.name && ref->ns == claim.meta.ns.str() &&
         (ref->uid.empty() || ref->uid == claim.meta.uid);
}

std::string ModeOf(const std::optional<std::string>& mode) {
  return mode.value_or("Filesystem");
}

// Returns the smallest volume that a claim can get on a node, of equal ones the first by name; null when there is none.
VolumePtr Match(const std::vector<VolumePtr>& candidates, const ClaimPtr& claim, const api::Node& node,
                const std::set<std::string>& taken) {
  VolumePtr best;
  for (const VolumePtr& v : candidates) {
    if (taken.contains(v->meta.name) || (v->claim_ref && !IsBoundTo(*v, *claim))) continue;
    api::Quantity capacity = v->capacity.value_or(api::Quantity());
    if (capacity < claim->request || v->meta.deleting()) continue;
    if (ModeOf(v->volume_mode) != ModeOf(claim->volume_mode)) continue;
    // A volume that is reserved for the claim already is the only choice.
    bool reaches = AdmitsNode(v->node_affinity, node);
    if (IsBoundTo(*v, *claim)) return reaches ? v : nullptr;
    if (v->phase != "Available" || !reaches) continue;
    if (claim->selector && !(claim->selector->ok() && claim->selector->selector.Matches(v->labels))) continue;
    bool modes = std::all_of(claim->access_modes.begin(), claim->access_modes.end(), [&](Symbol mode) {
      return std::find(v->access_modes.begin(), v->access_modes.end(), mode) != v->access_modes.end();
    });
    if (modes && (best == nullptr || capacity < best->capacity.value_or(api::Quantity()))) best = v;
  }
  return best;
}

// Returns whether the node is in one of the class's allowedTopologies.
bool TopologyAllows(const api::StorageClass& storage_class, const api::Node& node) {
  const auto& terms = storage_class.allowed_topologies;
  if (terms.empty()) return true;
  return std::any_of(terms.begin(), terms.end(), [&](const api::StorageClass::TopologyTerm& term) {
    return !term.expressions.empty() &&
           std::all_of(term.expressions.begin(), term.expressions.end(), [&](const auto& e) {
             auto value = node.labels.Get(e.first);
             return value && std::find(e.second.begin(), e.second.end(), *value) != e.second.end();
           });
  });
}

// Returns whether a CSIStorageCapacity for the node is large enough for the claim. Only called for CSI drivers that
// publish their capacity.
bool HasEnoughStorage(const World& world, const api::StorageClass& storage_class,
                      const api::PersistentVolumeClaim& claim, const api::Node& node) {
  auto driver = world.csi_drivers.Get(Symbol(), storage_class.provisioner);
  if (!claim.has_request || driver == nullptr || !driver->storage_capacity) return true;
  bool enough = false;
  world.csi_capacities.ForEach([&](const std::shared_ptr<const api::CsiStorageCapacity>& c) {
    const auto& limit = c->maximum_volume_size ? c->maximum_volume_size : c->capacity;
    enough = enough || (c->storage_class_name.str() == storage_class.meta.name && limit &&
                        limit->Value() >= claim.request.Value() && c->node_topology && c->node_topology->ok() &&
                        c->node_topology->selector.Matches(node.labels));
  });
  return enough;
}

enum class Provisioning { kPossible, kImpossible, kNoSpace, kError };
Provisioning CanProvision(const World& world, const ClaimPtr& claim, const api::Node& node, std::string* error) {
  std::string class_name = claim->Class();
  if (class_name.empty()) {
    *error = absl::StrCat("no class for claim ", api::GoQuoted(claim->meta.Key()));
    return Provisioning::kError;
  }
  auto storage_class = world.storage_classes.Get(Symbol(), class_name);
  if (storage_class == nullptr) {
    *error = absl::StrCat("failed to find storage class ", api::GoQuoted(class_name));
    return Provisioning::kError;
  }
  const std::string& provisioner = storage_class->provisioner;
  if (provisioner.empty() || provisioner == "kubernetes.io/no-provisioner") return Provisioning::kImpossible;
  if (!TopologyAllows(*storage_class, node)) return Provisioning::kImpossible;
  return HasEnoughStorage(world, *storage_class, *claim, node) ? Provisioning::kPossible : Provisioning::kNoSpace;
}

bool IsMigratedOn(const api::CsiNode* csi_node, std::string_view plugin) {
  if (csi_node == nullptr || plugin.empty()) return false;
  const auto& names = csi_node->migrated_plugins;
  return std::any_of(names.begin(), names.end(), [&](Symbol name) { return name.str() == plugin; });
}

class VolumeBinding final : public Cloned<VolumeBinding> {
 public:
  Status PreFilter(const Cycle& c, std::optional<std::set<Symbol>>*) override {
    bool any = false;
    for (const api::Volume& v : c.tmpl().volumes) {
      auto name = ClaimNameOf(c.pod, v);
      if (!name) continue;
      any = true;
      auto claim = c.world.claims.Get(c.tmpl().ns, *name);
      if (claim == nullptr) {
        return Status::Unresolvable(
            v.kind == api::Volume::Kind::kEphemeral
                ? absl::StrCat("waiting for ephemeral volume controller to create the persistentvolumeclaim ",
                               api::GoQuoted(*name))
                : NotFound("persistentvolumeclaim", *name));
      }
      std::string quoted = absl::StrCat("persistentvolumeclaim ", api::GoQuoted(*name));
      if (claim->phase == "Lost") {
        return Status::Unresolvable(
            absl::StrCat(quoted, " bound to non-existent persistentvolume ", api::GoQuoted(claim->volume_name)));
      }
      if (claim->meta.deleting()) return Status::Unresolvable(quoted + " is being deleted");
      if (std::string e = OwnershipError(c.pod, v, *claim); !e.empty()) return Status::Unresolvable(e);
    }
    if (!any) return Status::Skip();
    claims_ = ClassifyClaims(c.world, c.pod);
    if (!claims_.error.empty()) return Status::Error(claims_.error);
    if (!claims_.immediate.empty()) return Status::Unresolvable("pod has unbound immediate PersistentVolumeClaims");
    return {};
  }

  Status Filter(const Cycle& c, const NodeInfo& info) override {
    VolumesOnNode found = FindVolumes(c.world, claims_, info.node());
    if (!found.error.empty()) return Status::Error(found.error);
    if (found.reasons.empty()) return {};
    return {Status::Code::kUnschedulableAndUnresolvable, std::move(found.reasons), {}};
  }
  std::string_view NeedsPreFilter() const override { return "not found"; }

 private:
  ClaimsOfPod claims_;
};

}  // namespace

ClaimsOfPod ClassifyClaims(const World& world, const api::Pod& pod) {
  ClaimsOfPod out;
  for (const api::Volume& v : pod.tmpl->volumes) {
    auto name = ClaimNameOf(pod, v);
    if (!name) continue;
    auto claim = world.claims.Get(pod.tmpl->ns, *name);
    if (claim == nullptr) {
      out.error = absl::StrCat("error getting PVC ", api::GoQuoted(pod.tmpl->ns.string() + "/" + *name),
                               ": could not find v1.PersistentVolumeClaim ",
                               api::GoQuoted(pod.tmpl->ns.string() + "/" + *name));
      return out;
    }
    if (!claim->volume_name.empty() && claim->bind_completed) {
      out.bound.push_back(claim);
      continue;
    }
    std::string class_name = claim->Class();
    auto storage_class = class_name.empty() ? nullptr : world.storage_classes.Get(Symbol(), class_name);
    if (storage_class != nullptr && !storage_class->binding_mode) {
      out.error = absl::StrCat("VolumeBindingMode not set for StorageClass ", api::GoQuoted(class_name));
      return out;
    }
    bool delayed = storage_class != nullptr && *storage_class->binding_mode == "WaitForFirstConsumer";
    (delayed && claim->volume_name.empty() ? out.delayed : out.immediate).push_back(claim);
  }
  for (const ClaimPtr& claim : out.delayed) out.candidates[claim->Class()];
  if (out.candidates.empty()) return out;
  world.volumes.ForEach([&](const VolumePtr& v) {
    auto of_class = out.candidates.find(v->Class());
    if (of_class != out.candidates.end()) of_class->second.push_back(v);
  });
  return out;
}

VolumesOnNode FindVolumes(const World& world, const ClaimsOfPod& claims, const api::Node& node) {
  VolumesOnNode out;
  bool bound_fit = true, bound_exist = true, unbound_fit = true, space = true;
  auto csi_node = world.csi_nodes.Get(Symbol(), node.meta.name);
  for (const ClaimPtr& claim : claims.bound) {
    auto volume = world.volumes.Get(Symbol(), claim->volume_name);
    if (volume == nullptr) {
      bound_exist = false;
      break;
    }
    std::vector<api::NodeSelectorTerm> terms = volume->node_affinity;
    if (IsMigratedOn(csi_node.get(), InTreePluginOf(*volume))) {
      std::string error;
      if (!Translate(*volume, &error)) {
        out.error = "could not translate pv: " + error;
        return out;
      }
      terms = TranslatedAffinity(*volume);
    }
    if (!AdmitsNode(terms, node)) {
      bound_fit = false;
      break;
    }
  }
  // A claim with a selected node is being provisioned there, and fits no other node.
  std::vector<ClaimPtr> to_match, to_provision;
  bool selected_elsewhere = false;
  for (const ClaimPtr& claim : claims.delayed) {
    if (claim->selected_node && *claim->selected_node != node.meta.name) selected_elsewhere = true;
    (claim->selected_node ? to_provision : to_match).push_back(claim);
  }
  if (selected_elsewhere) {
    unbound_fit = false;
  } else {
    // As in 1.29, claims choose in ascending order of size, so that each can get the smallest volume that is left.
    std::stable_sort(to_match.begin(), to_match.end(),
                     [](const ClaimPtr& a, const ClaimPtr& b) { return a->request < b->request; });
    std::set<std::string> taken;
    for (const ClaimPtr& claim : to_match) {
      VolumePtr volume = Match(claims.candidates.at(claim->Class()), claim, node, taken);
      if (volume == nullptr) {
        unbound_fit = false;
        to_provision.push_back(claim);
        continue;
      }
      taken.insert(volume->meta.name);
      out.bindings.emplace_back(claim, volume);
    }
    if (!to_provision.empty()) unbound_fit = true;
    for (const ClaimPtr& claim : to_provision) {
      Provisioning p = CanProvision(world, claim, node, &out.error);
      if (p == Provisioning::kError) return out;
      if (p == Provisioning::kImpossible) unbound_fit = false;
      if (p == Provisioning::kNoSpace) space = false;
      if (p != Provisioning::kPossible) break;
      out.provisions.push_back(claim);
    }
  }
  if (!bound_fit) out.reasons.push_back("node(s) had volume node affinity conflict");
  if (!unbound_fit) out.reasons.push_back("node(s) didn't find available persistent volumes to bind");
  if (!space) out.reasons.push_back("node(s) did not have enough free storage");
  if (!bound_exist) {
    out.reasons.push_back("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
  }
  return out;
}

void AssumeVolumes(World* world, const api::Pod& pod, const api::Node& node) {
  VolumesOnNode found = FindVolumes(*world, ClassifyClaims(*world, pod), node);
  for (const auto& [claim, volume] : found.bindings) {
    auto copy = std::make_shared<api::PersistentVolume>(*volume);
    copy->bound_by_controller = copy->bound_by_controller || !copy->claim_ref;
    copy->claim_ref = api::PersistentVolume::ClaimRef{claim->meta.ns.string(), claim->meta.name, claim->meta.uid};
    world->volumes.Set(std::move(copy));
  }
  for (const ClaimPtr& claim : found.provisions) {
    auto copy = std::make_shared<api::PersistentVolumeClaim>(*claim);
    copy->selected_node = node.meta.name;
    world->claims.Set(std::move(copy));
  }
}

std::unique_ptr<Plugin> MakeVolumeBinding() {
  return std::make_unique<VolumeBinding>();
}

}  // namespace berth::scheduler::reference::plugins
