// Deletion of what depends on owners that are gone or going (pkg/controller/garbagecollector, 1.36), and of namespaces.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <string>

#include "pkg/util/status.h"
#include "pkg/world/kinds.h"
#include "pkg/world/living/actors.h"

namespace berth::world::living {
namespace {

constexpr char kForeground[] = "foregroundDeletion", kOrphan[] = "orphan", kLeasesOfNodes[] = "kube-node-lease";

bool Blocks(const Value& dependent, std::string_view owner_uid) {
  const Value* owners = dependent.At({"metadata", "ownerReferences"});
  return owners != nullptr && std::any_of(owners->items.begin(), owners->items.end(), [&](const Value& o) {
           return o.Str("uid") == owner_uid && TrueAt(o, {"blockOwnerDeletion"});
         });
}

class GarbageCollector final : public Actor {
 public:
  explicit GarbageCollector(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    const Value& v = *c.object;
    const ObjectName what{std::string(c.kind), std::string(NamespaceOf(v)), std::string(NameOf(v))};
    const Value* owners = v.At({"metadata", "ownerReferences"});
    if (c.gone) {
      for (const ObjectName& d : world_->Dependents(UidOf(v))) world_->Enqueue(this, d);
      // Nobody is told of leases, so that of a node is looked for by its name.
      if (c.kind == "Node") world_->Enqueue(this, {"Lease", kLeasesOfNodes, what.name});
    } else if (IsTerminating(v) || (c.is_new && owners != nullptr)) {
      world_->Enqueue(this, what);
    }
    // An owner that is deleted in the foreground may have waited for this one.
    if (owners == nullptr || !c.gone) return;
    for (const Value& o : owners->items) {
      if (const ObjectName* owner = world_->ByUid(o.Str("uid"))) world_->Enqueue(this, *owner);
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get(what.kind, what.ns, what.name);
    if (found == nullptr) return;
    if (IsTerminating(*found)) {
      if (HasFinalizer(*found, kOrphan)) return Orphan(what, *found);
      if (HasFinalizer(*found, kForeground)) return DeleteBelow(what, *found);
    }
    Collect(what, *found);
  }

 private:
  // Deletes an object whose owners are all gone, and takes those that are gone from one that has others.
  void Collect(const ObjectName& what, const Value& object) {
    const Value* owners = object.At({"metadata", "ownerReferences"});
    if (owners == nullptr || owners->empty()) return;
    std::vector<std::string> gone;
    bool waits = false;
    for (const Value& o : owners->items) {
      const ObjectName* owner = world_->ByUid(o.Str("uid"));
      if (owner == nullptr) {
        // Of kinds that are not looked at nobody can tell.
        if (IsKnown(o.Str("kind")) && !world_->IsPresumed(o.Str("uid"))) gone.emplace_back(o.Str("uid"));
        continue;
      }
      const ValuePtr v = world_->cluster().Get(owner->kind, owner->ns, owner->name);
      waits = waits || (v != nullptr && IsTerminating(*v) && HasFinalizer(*v, kForeground));
    }
    if (gone.empty()) return;
    if (gone.size() == owners->items.size()) {
      if (IsTerminating(object)) return;
      // What holds dependents back by its own finalizers keeps that way.
      const char* how = HasFinalizer(object, kForeground) ? "Foreground"
                        : HasFinalizer(object, kOrphan)   ? "Orphan"
                                                          : "Background";
      world_->cluster().Delete(what.kind, what.ns, what.name,
                               {.grace_seconds = {}, .uid = std::string(UidOf(object)), .propagation = how});
      return;
    }
    if (waits) return;
    Value v = object;
    for (const std::string& uid : gone) RemoveOwner(uid, &v);
    world_->cluster().UpdateStatus(what.kind, std::move(v));
  }

  static bool IsKnown(std::string_view kind) {
    return std::find(std::begin(kFollowedKinds), std::end(kFollowedKinds), kind) != std::end(kFollowedKinds);
  }

  // A dependent that still names its owner when that is gone would be deleted, so the owner stays until none does.
  void Orphan(const ObjectName& what, const Value& object) {
    bool any_left = false;
    for (const ObjectName& d : world_->Dependents(UidOf(object))) {
      const ValuePtr found = world_->cluster().Get(d.kind, d.ns, d.name);
      if (found == nullptr) continue;
      Value v = *found;
      if (!RemoveOwner(UidOf(object), &v)) continue;
      any_left = world_->cluster().UpdateStatus(d.kind, std::move(v)).has_value() || any_left;
    }
    if (!any_left) Release(what, kOrphan);
  }

  void DeleteBelow(const ObjectName& what, const Value& object) {
    bool waits = false;
    for (const ObjectName& d : world_->Dependents(UidOf(object))) {
      const ValuePtr found = world_->cluster().Get(d.kind, d.ns, d.name);
      if (found == nullptr || HasOtherOwner(*found, UidOf(object))) continue;
      const bool blocks = Blocks(*found, UidOf(object));
      waits = waits || blocks;
      if (IsTerminating(*found)) continue;
      world_->cluster().Delete(d.kind, d.ns, d.name,
                               {.grace_seconds = {},
                                .uid = std::string(UidOf(*found)),
                                .propagation = blocks && d.kind != "Pod" ? "Foreground" : "Background"});
    }
    if (waits) waits = AnyBlocks(object);
    if (!waits) Release(what, kForeground);
  }

  bool AnyBlocks(const Value& object) const {
    for (const ObjectName& d : world_->Dependents(UidOf(object))) {
      const ValuePtr found = world_->cluster().Get(d.kind, d.ns, d.name);
      if (found != nullptr && Blocks(*found, UidOf(object)) && !HasOtherOwner(*found, UidOf(object))) return true;
    }
    return false;
  }
  bool HasOtherOwner(const Value& dependent, std::string_view uid) const {
    const Value* owners = dependent.At({"metadata", "ownerReferences"});
    return owners != nullptr && std::any_of(owners->items.begin(), owners->items.end(), [&](const Value& o) {
             return o.Str("uid") != uid && world_->ByUid(o.Str("uid")) != nullptr;
           });
  }

  void Release(const ObjectName& what, std::string_view finalizer) {
    const ValuePtr found = world_->cluster().Get(what.kind, what.ns, what.name);
    if (found == nullptr) return;
    Value v = *found;
    if (RemoveFinalizer(&v, finalizer)) world_->cluster().Update(what.kind, std::move(v));
  }

  World* world_;
};

// A namespace that is being deleted: first its pods, then the rest, then itself.
class Namespaces final : public Actor {
 public:
  explicit Namespaces(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    const Value& v = *c.object;
    if (c.kind == "Namespace" && !c.gone && IsTerminating(v) && !going_.contains(std::string(NameOf(v)))) {
      world_->Enqueue(this, {"Namespace", "", std::string(NameOf(v))}, kFirstLook);
    }
    // When the last pod is gone, the rest follows at once. Other objects are looked for again after a while.
    if (c.kind == "Pod" && c.gone && going_.contains(std::string(NamespaceOf(v)))) {
      world_->Enqueue(this, {"Namespace", "", std::string(NamespaceOf(v))});
    }
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get("Namespace", "", what.name);
    if (found == nullptr || !IsTerminating(*found)) {
      going_.erase(what.name);
      return;
    }
    going_.insert(what.name);
    Left left;
    Empty("Pod", what.name, &left);
    const bool has_pods = !left.resources.empty();
    for (std::string_view kind : kKinds) {
      if (!has_pods && kind != "Pod" && world_->cluster().Serves(kind)) Empty(kind, what.name, &left);
    }
    Value v = *found;
    Report(left, &v);
    if (left.resources.empty()) {
      world_->cluster().UpdateStatus("Namespace", v);
      const ValuePtr now = world_->cluster().Get("Namespace", "", what.name);
      if (now == nullptr) return;
      v = *now;
      v.Child("spec").Erase("finalizers");
      world_->cluster().UpdateStatus("Namespace", std::move(v));
      world_->cluster().Delete("Namespace", "", what.name, {});
      going_.erase(what.name);
      return;
    }
    world_->cluster().UpdateStatus("Namespace", std::move(v));
    world_->EnqueueTry(this, what, left.finalizers.empty() ? kAgain : kAgainForFinalizers);
  }

 private:
  // So long after its deletion a namespace stays as it is, so that all servers know of it.
  static constexpr absl::Duration kFirstLook = absl::Seconds(5);
  static constexpr absl::Duration kAgain = absl::Seconds(5), kAgainForFinalizers = absl::Seconds(8);
  // How many objects are left, by resource and by the finalizers that hold them.
  struct Left {
    std::map<std::string, size_t> resources, finalizers;
  };
  static constexpr std::string_view kKinds[] = {"CronJob",
                                                "Deployment",
                                                "ReplicaSet",
                                                "ReplicationController",
                                                "StatefulSet",
                                                "DaemonSet",
                                                "Job",
                                                "Pod",
                                                "PodDisruptionBudget",
                                                "PersistentVolumeClaim",
                                                "Service",
                                                "Endpoints",
                                                "EndpointSlice",
                                                "Ingress",
                                                "NetworkPolicy",
                                                "ConfigMap",
                                                "Secret",
                                                "ServiceAccount",
                                                "LimitRange",
                                                "ResourceQuota",
                                                "ControllerRevision",
                                                "HorizontalPodAutoscaler",
                                                "Lease",
                                                "Role",
                                                "RoleBinding",
                                                "ResourceClaim",
                                                "ResourceClaimTemplate",
                                                "CSIStorageCapacity",
                                                "Event"};

  // Deletes the objects of a kind, and counts those that are left.
  void Empty(std::string_view kind, const std::string& ns, Left* left) {
    std::vector<std::string> names;
    world_->cluster().Each(kind, ns, [&](const Value& v) {
      if (!IsTerminating(v)) names.emplace_back(NameOf(v));
    });
    for (const std::string& name : names) {
      world_->cluster().Delete(kind, ns, name, {.grace_seconds = {}, .uid = "", .propagation = "Background"});
    }
    world_->cluster().Each(kind, ns, [&](const Value& v) {
      std::string resource = ResourceText(kind);
      if (resource.find('.') == std::string::npos) resource.push_back('.');
      ++left->resources[resource];
      const Value* finalizers = v.At({"metadata", "finalizers"});
      if (finalizers == nullptr) return;
      for (const Value& f : finalizers->items) ++left->finalizers[f.text()];
    });
  }

  void Report(const Left& left, Value* v) const {
    struct Row {
      std::string_view type, reason, message;
    };
    static constexpr Row kRows[] = {
        {"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"},
        {"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
         "All legacy kube types successfully parsed"},
        {"NamespaceDeletionContentFailure", "ContentDeleted",
         "All content successfully deleted, may be waiting on finalization"},
        {"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"},
        {"NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"},
    };
    for (const Row& row : kRows) {
      const bool content = row.type == "NamespaceContentRemaining", held = row.type == "NamespaceFinalizersRemaining";
      if (content && !left.resources.empty()) {
        SetCondition({row.type, "True", "SomeResourcesRemain",
                      absl::StrCat("Some resources are remaining: ", TextOf(left.resources, "has"))},
                     world_->Now(), v);
      } else if (held && !left.finalizers.empty()) {
        SetCondition(
            {row.type, "True", "SomeFinalizersRemain",
             absl::StrCat("Some content in the namespace has finalizers remaining: ", TextOf(left.finalizers, "in"))},
            world_->Now(), v);
      } else {
        SetCondition({row.type, "False", row.reason, row.message}, world_->Now(), v);
      }
    }
  }
  static std::string TextOf(const std::map<std::string, size_t>& counts, absl::string_view verb) {
    return absl::StrJoin(counts, ", ", [&](std::string* out, const auto& c) {
      absl::StrAppend(out, c.first, " ", verb, " ", c.second, " resource instances");
    });
  }

  World* world_;
  absl::btree_set<std::string> going_;
};

}  // namespace

std::unique_ptr<Actor> NewGarbageCollector(World* world) {
  return std::make_unique<GarbageCollector>(world);
}
std::unique_ptr<Actor> NewNamespaceController(World* world) {
  return std::make_unique<Namespaces>(world);
}

}  // namespace berth::world::living
