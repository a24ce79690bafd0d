// Claims and volumes (pkg/controller/volume/persistentvolume and ephemeral, 1.36), with a provisioner that makes
// volumes for every class but those of kubernetes.io/no-provisioner. volume_protection.cc has the finalizers.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/quantity.h"
#include "pkg/util/status.h"
#include "pkg/world/admission.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kVolumeComponent[] = "persistentvolume-controller", kNoProvisioner[] = "kubernetes.io/no-provisioner";
constexpr char kBound[] = "pv.kubernetes.io/bind-completed", kByController[] = "pv.kubernetes.io/bound-by-controller",
               kProvisionedBy[] = "pv.kubernetes.io/provisioned-by", kNode[] = "volume.kubernetes.io/selected-node";
constexpr char kDefaults[] = "default class";
constexpr absl::Duration kLookEvery = absl::Seconds(15);
constexpr char kClaim[] = "PersistentVolumeClaim", kVolume[] = "PersistentVolume";

bool Names(const Value& volume, const Value& claim) {
  const Value& ref = validation::OrEmpty(volume.At({"spec", "claimRef"}));
  return ref.Str("name") == NameOf(claim) && ref.Str("namespace") == NamespaceOf(claim) &&
         (ref.Str("uid").empty() || ref.Str("uid") == UidOf(claim));
}

api::Quantity Amount(const Value& v, Path path) {
  const auto q = api::Quantity::Parse(std::string(TextAt(v, path)));
  return q.ok() ? *q : api::Quantity();
}

bool Serves(const Value& volume, const Value& claim) {
  const Value* ref = volume.At({"spec", "claimRef"});
  if (ref != nullptr && !Names(volume, claim)) return false;
  if (ref == nullptr && TextAt(volume, {"status", "phase"}) != "Available") return false;
  if (TextAt(volume, {"spec", "storageClassName"}) != TextAt(claim, {"spec", "storageClassName"})) return false;
  if (Amount(volume, {"spec", "capacity", "storage"}) < Amount(claim, {"spec", "resources", "requests", "storage"})) {
    return false;
  }
  const Value *have = volume.At({"spec", "accessModes"}), *want = claim.At({"spec", "accessModes"});
  if (want != nullptr && !std::all_of(want->items.begin(), want->items.end(), [&](const Value& mode) {
        return have != nullptr && std::find(have->items.begin(), have->items.end(), mode) != have->items.end();
      })) {
    return false;
  }
  auto mode = [](const Value& v) {
    const std::string_view m = TextAt(v, {"spec", "volumeMode"});
    return m.empty() ? std::string_view("Filesystem") : m;
  };
  return mode(volume) == mode(claim) &&
         Selects(claim.At({"spec", "selector"}), volume.At({"metadata", "labels"}), true);
}

class Volumes final : public Actor {
 public:
  explicit Volumes(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    const ObjectName what{std::string(c.kind), std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))};
    if (c.kind == kClaim) {
      if (c.gone) {
        waiting_.erase(what);
      } else {
        waiting_.insert(what);
        world_->Enqueue(this, what);
      }
      const std::string volume(TextAt(*c.object, {"spec", "volumeName"}));
      if (c.gone && !volume.empty()) world_->Enqueue(this, {kVolume, "", volume});
    } else if (c.kind == kVolume || c.kind == "StorageClass") {
      if (c.gone) return;
      if (c.kind == kVolume) world_->Enqueue(this, what);
      for (const ObjectName& claim : waiting_) world_->Enqueue(this, claim);
    } else if (c.kind == "Pod" && (c.is_new || c.gone)) {
      if (c.is_new && HasEphemeral(*c.object)) world_->Enqueue(this, what);
      NoteConsumer(c, what);
    }
  }

  void Sync(const ObjectName& what) override {
    if (what.kind == kDefaults) return GiveDefaultClass();
    const ValuePtr found = world_->cluster().Get(what.kind, what.ns, what.name);
    if (found == nullptr) return;
    if (what.kind == "Pod") return MakeEphemeral(*found);
    if (what.kind == kVolume) return SyncVolume(*found);
    SyncClaim(what, *found);
  }

 private:
  // Claims may wait for the first pod that uses them.
  void NoteConsumer(const Change& c, const ObjectName& pod) {
    for (std::string& name : ClaimsUsedBy(*c.object)) {
      const ObjectName claim{kClaim, pod.ns, std::move(name)};
      if (c.gone) {
        if (auto it = consumers_.find(claim); it != consumers_.end() && it->second == pod.name) consumers_.erase(it);
      } else if (consumers_.try_emplace(claim, pod.name).second && waiting_.contains(claim)) {
        world_->Enqueue(this, claim);
      }
    }
  }
  static bool HasEphemeral(const Value& pod) {
    const Value* volumes = pod.At({"spec", "volumes"});
    return volumes != nullptr && std::any_of(volumes->items.begin(), volumes->items.end(),
                                             [](const Value& v) { return v.Find("ephemeral") != nullptr; });
  }
  void MakeEphemeral(const Value& pod) {
    if (!world_->rules().ephemeral_claims || IsTerminating(pod)) return;
    for (Value& claim : EphemeralClaims(pod)) {
      const ValuePtr there = world_->cluster().Get(kClaim, NamespaceOf(claim), NameOf(claim));
      if (there == nullptr) {
        world_->cluster().Create(kClaim, std::move(claim));
        continue;
      }
      const Value* owner = ControllerOf(*there);
      if (owner == nullptr || owner->Str("uid") != UidOf(pod)) TellTaken(pod, *there);
    }
  }
  // The claim of an ephemeral volume has a name that another claim has.
  void TellTaken(const Value& pod, const Value& claim) {
    if (!told_.insert(absl::StrCat(util::ToAbsl(UidOf(pod)), "/", util::ToAbsl(UidOf(claim)))).second) return;
    const std::string volume(NameOf(claim).substr(NameOf(pod).size() + 1));  // the claim is POD-VOLUME
    const absl::string_view ns = util::ToAbsl(NamespaceOf(pod));
    world_->Record(
        pod, "ephemeral_volume", "", "Warning", "FailedBinding",
        absl::StrCat("ephemeral volume ", volume, ": PVC ", ns, "/", util::ToAbsl(NameOf(claim)),
                     " was not created for pod ", ns, "/", util::ToAbsl(NameOf(pod)), " (pod is not owner)"));
  }

  void SyncClaim(const ObjectName& what, const Value& claim) {
    if (TextAt(claim, {"status", "phase"}) == "Bound") {
      waiting_.erase(what);
      return;
    }
    if (IsTerminating(claim)) return;
    const std::string name(TextAt(claim, {"spec", "volumeName"}));
    if (!name.empty()) {
      const ValuePtr volume = world_->cluster().Get(kVolume, "", name);
      const bool free = volume != nullptr && (volume->At({"spec", "claimRef"}) == nullptr || Names(*volume, claim));
      if (free) Bind(claim, *volume, false);
      return;
    }
    const ValuePtr storage_class =
        world_->cluster().Get("StorageClass", "", TextAt(claim, {"spec", "storageClassName"}));
    const bool waits = storage_class != nullptr && storage_class->Str("volumeBindingMode") == "WaitForFirstConsumer";
    const bool has_node = !AnnotationOf(claim, kNode).empty();
    ValuePtr best;
    world_->cluster().EachOf(kVolume, [&](const Value& v) {
      // Where binding waits, the scheduler writes the claim into the volume.
      if (IsTerminating(v) || !Serves(v, claim) || (waits && v.At({"spec", "claimRef"}) == nullptr)) return;
      const bool named = v.At({"spec", "claimRef"}) != nullptr;
      const bool better = best == nullptr || (named && best->At({"spec", "claimRef"}) == nullptr) ||
                          (named == (best->At({"spec", "claimRef"}) != nullptr) &&
                           Amount(v, {"spec", "capacity", "storage"}) < Amount(*best, {"spec", "capacity", "storage"}));
      if (better) best = std::make_shared<const Value>(v);
    });
    if (best != nullptr) return Bind(claim, *best, true);
    if (storage_class == nullptr) {
      if (LacksClass(claim)) LookForDefaultLater();
      return TellMissing(claim);
    }
    if (waits && !has_node) return TellWaiting(what, claim);
    const std::string provisioner(storage_class->Str("provisioner"));
    if (provisioner == kNoProvisioner) {
      Tell(claim, "Warning", "ProvisioningFailed", absl::StrCat("no volume plugin matched name: ", kNoProvisioner));
      return;
    }
    Provision(claim, *storage_class, provisioner);
  }

  // Claims that name no class, not even "", get the default class at one of the looks that the controller takes every
  // 15 s.
  static bool LacksClass(const Value& claim) { return claim.At({"spec", "storageClassName"}) == nullptr; }
  void LookForDefaultLater() {
    if (!world_->rules().late_default_class) return;
    world_->EnqueueTry(this, {kDefaults, "", ""}, kLookEvery - world_->Steady() % kLookEvery);
  }
  void GiveDefaultClass() {
    std::string error;
    const ValuePtr found = DefaultStorageClass(world_->rules(), world_->cluster(), &error);
    const absl::btree_set<ObjectName> waiting = waiting_;
    for (const ObjectName& what : waiting) {
      const ValuePtr claim = world_->cluster().Get(what.kind, what.ns, what.name);
      if (claim == nullptr || !LacksClass(*claim) || TextAt(*claim, {"status", "phase"}) == "Bound") continue;
      if (found == nullptr) {
        LookForDefaultLater();
        return;
      }
      Value v = *claim;
      v.Child("spec").Set("storageClassName", Value::String(NameOf(*found)));
      world_->cluster().UpdateStatus(kClaim, std::move(v));
    }
  }
  void TellMissing(const Value& claim) {
    const std::string_view name = TextAt(claim, {"spec", "storageClassName"});
    if (name.empty()) {
      Tell(claim, "Normal", "FailedBinding",
           "no persistent volumes available for this claim and no storage class is set");
    } else {
      Tell(claim, "Warning", "ProvisioningFailed",
           absl::StrCat("storageclass.storage.k8s.io \"", util::ToAbsl(name), "\" not found"));
    }
  }
  void TellWaiting(const ObjectName& what, const Value& claim) {
    if (const auto pod = consumers_.find(what); pod != consumers_.end()) {
      Tell(claim, "Normal", "WaitForPodScheduled", absl::StrCat("waiting for pod ", pod->second, " to be scheduled"));
      return;
    }
    Tell(claim, "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding");
  }

  // The same thing is said about a claim once.
  void Tell(const Value& claim, std::string_view type, std::string_view reason, const std::string& message) {
    if (!told_.insert(absl::StrCat(util::ToAbsl(UidOf(claim)), "/", util::ToAbsl(reason))).second) return;
    world_->Record(claim, kVolumeComponent, "", type, reason, message);
  }

  void Provision(const Value& claim, const Value& storage_class, const std::string& provisioner) {
    Tell(
        claim, "Normal", "ExternalProvisioning",
        absl::StrCat("Waiting for a volume to be created either by the external provisioner '", provisioner,
                     "' or manually by the system administrator. If volume creation is delayed, please verify that the "
                     "provisioner is running and correctly registered."));
    Value v = Value::Object();
    Value& meta = v.Child("metadata");
    const std::string name = absl::StrCat("pvc-", util::ToAbsl(UidOf(claim)));
    meta.Set("name", Value::String(name));
    meta.Child("annotations").Set(kProvisionedBy, Value::String(provisioner));
    Value& spec = v.Child("spec");
    spec.Child("capacity").Set("storage", Value::String(TextAt(claim, {"spec", "resources", "requests", "storage"})));
    spec.Set("accessModes", validation::OrEmpty(claim.At({"spec", "accessModes"})));
    const std::string_view policy = storage_class.Str("reclaimPolicy");
    spec.SetAll({{"persistentVolumeReclaimPolicy", policy.empty() ? "Delete" : policy},
                 {"storageClassName", NameOf(storage_class)}});
    if (const Value* mode = claim.At({"spec", "volumeMode"})) spec.Set("volumeMode", *mode);
    Value& source = spec.Child("csi");
    source.SetAll({{"driver", provisioner}, {"volumeHandle", name}});
    spec.Set("claimRef", ReferenceTo(claim));
    Value stored;
    if (Written refused = world_->cluster().Create(kVolume, std::move(v), &stored)) {
      Tell(claim, "Warning", "ProvisioningFailed", refused->message);
      return;
    }
    Value annotated = claim;
    Value& annotations = annotated.Child("metadata").Child("annotations");
    annotations.SetAll({{"volume.beta.kubernetes.io/storage-provisioner", provisioner},
                        {"volume.kubernetes.io/storage-provisioner", provisioner}});
    Bind(annotated, stored, true);
  }

  static Value ReferenceTo(const Value& claim) {
    return Value::Object({{"kind", kClaim},
                          {"namespace", NamespaceOf(claim)},
                          {"name", NameOf(claim)},
                          {"uid", UidOf(claim)},
                          {"apiVersion", "v1"}});
  }

  void Bind(Value claim, Value volume, bool chosen) {
    if (volume.At({"spec", "claimRef"}) == nullptr) {
      volume.Child("metadata").Child("annotations").Set(kByController, Value::String("yes"));
    }
    volume.Child("spec").Set("claimRef", ReferenceTo(claim));
    volume.Child("status").Set("phase", Value::String("Bound"));
    if (world_->cluster().UpdateStatus(kVolume, volume)) return;
    Value& annotations = claim.Child("metadata").Child("annotations");
    annotations.Set(kBound, Value::String("yes"));
    if (chosen) annotations.Set(kByController, Value::String("yes"));
    claim.Child("spec").Set("volumeName", Value::String(NameOf(volume)));
    Value& status = claim.Child("status");
    status.Set("phase", Value::String("Bound"));
    status.Set("accessModes", validation::OrEmpty(volume.At({"spec", "accessModes"})));
    status.Set("capacity", validation::OrEmpty(volume.At({"spec", "capacity"})));
    world_->cluster().UpdateStatus(kClaim, std::move(claim));
  }

  // A volume without a claim is Available; one whose claim is gone is Released, and deleted if its policy says so.
  void SyncVolume(const Value& volume) {
    const Value* ref = volume.At({"spec", "claimRef"});
    const std::string_view phase = TextAt(volume, {"status", "phase"});
    Value v = volume;
    if (ref == nullptr || ref->Str("uid").empty()) {
      if (phase == "Available") return;
      v.Child("status").Set("phase", Value::String("Available"));
    } else {
      const ValuePtr claim = world_->cluster().Get(kClaim, ref->Str("namespace"), ref->Str("name"));
      if (claim != nullptr && UidOf(*claim) == ref->Str("uid")) return;
      if (phase == "Released") {
        const bool goes = TextAt(volume, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete" &&
                          !AnnotationOf(volume, kProvisionedBy).empty() && !IsTerminating(volume);
        if (goes) world_->cluster().Delete(kVolume, "", NameOf(volume), {});
        return;
      }
      v.Child("status").Set("phase", Value::String("Released"));
    }
    world_->cluster().UpdateStatus(kVolume, std::move(v));
  }

  World* world_;
  absl::btree_set<ObjectName> waiting_;                 // claims that are not bound
  absl::btree_map<ObjectName, std::string> consumers_;  // the first pod that uses a claim
  absl::btree_set<std::string> told_;
};

}  // namespace

std::unique_ptr<Actor> NewVolumeController(World* world) {
  return std::make_unique<Volumes>(world);
}

}  // namespace berth::world::living
