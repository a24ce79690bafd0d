// The finalizers that keep what is in use: a claim stays while a pod on a node uses it, a volume while it is bound
// (pkg/controller/volume/pvcprotection and pvprotection, 1.36). Servers write the finalizers into new objects; the
// controllers write them into those that lack them, and here they write all of them.
#include <string>
#include <utility>

#include "pkg/world/living/actors.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kClaimInUse[] = "kubernetes.io/pvc-protection", kVolumeInUse[] = "kubernetes.io/pv-protection";
constexpr char kClaimKind[] = "PersistentVolumeClaim", kVolumeKind[] = "PersistentVolume";

class VolumeProtection final : public Actor {
 public:
  explicit VolumeProtection(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Pod") return OnPod(c);
    if ((c.kind != kClaimKind && c.kind != kVolumeKind) || c.gone) return;
    const char* finalizer = c.kind == kClaimKind ? kClaimInUse : kVolumeInUse;
    if (IsTerminating(*c.object) == HasFinalizer(*c.object, finalizer)) {
      world_->Enqueue(this, {std::string(c.kind), std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))});
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get(what.kind, what.ns, what.name);
    if (found == nullptr) return;
    const bool of_claim = what.kind == kClaimKind;
    const char* finalizer = of_claim ? kClaimInUse : kVolumeInUse;
    Value v = *found;
    if (!IsTerminating(v)) {
      if (HasFinalizer(v, finalizer)) return;
      Value& meta = v.Child("metadata");
      if (meta.Find("finalizers") == nullptr) meta.Set("finalizers", Value::Array());
      meta.Find("finalizers")->Append(Value::String(finalizer));
    } else {
      const bool in_use = of_claim ? users_.contains(what) : TextAt(v, {"status", "phase"}) == "Bound";
      if (in_use || !RemoveFinalizer(&v, finalizer)) return;
    }
    world_->cluster().UpdateStatus(what.kind, std::move(v));
  }

 private:
  // A pod that has no node, or has ended, keeps nothing.
  void OnPod(const Change& c) {
    const bool uses = c.after != nullptr && !c.after->node.empty() && !c.after->IsFinished();
    const std::string uid(UidOf(*c.object));
    const bool used = using_.contains(uid);
    if (uses == used) return;
    if (uses) {
      for (std::string& name : ClaimsUsedBy(*c.object)) {
        const ObjectName claim{kClaimKind, c.after->ns, std::move(name)};
        users_[claim].insert(uid);
        using_[uid].push_back(claim);
      }
      return;
    }
    for (const ObjectName& claim : using_[uid]) {
      auto it = users_.find(claim);
      it->second.erase(uid);
      if (!it->second.empty()) continue;
      users_.erase(it);
      world_->Enqueue(this, claim);
    }
    using_.erase(uid);
  }

  World* world_;
  absl::btree_map<ObjectName, absl::btree_set<std::string>> users_;  // uids of pods by claim
  absl::flat_hash_map<std::string, std::vector<ObjectName>> using_;  // claims by uid of the pod
};

}  // namespace

std::unique_ptr<Actor> NewVolumeProtection(World* world) {
  return std::make_unique<VolumeProtection>(world);
}

}  // namespace berth::world::living
