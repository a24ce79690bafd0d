#include "test/simulation/storage.h"

#include <absl/strings/str_cat.h>

#include <set>

#include "test/simulation/json.h"
#include "test/simulation/world.h"

namespace berth::simulation {
namespace {

constexpr char kVolumes[] = "persistentvolumes", kClaims[] = "persistentvolumeclaims", kClasses[] = "storageclasses";
constexpr char kNotBound[] = "its claim is not bound";
constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node", kCompleted[] = "pv.kubernetes.io/bind-completed";

struct ClaimView {
  std::string name, uid, storage_class, volume, selected_node;
  bool completed = false;
};
ClaimView ReadClaim(const Object& o) {
  const Tree t = ParseJson(o.json);
  return {TextAt(t, {"metadata", "name"}),
          o.uid,
          TextAt(t, {"spec", "storageClassName"}),
          TextAt(t, {"spec", "volumeName"}),
          TextAt(t, {"metadata", "annotations", kSelectedNode}),
          At(t, {"metadata", "annotations", kCompleted}) != nullptr};
}

struct VolumeView {
  std::string name, storage_class, zone, claim, claim_uid;
};
VolumeView ReadVolume(const Object& o) {
  const Tree t = ParseJson(o.json);
  return {TextAt(t, {"metadata", "name"}), TextAt(t, {"spec", "storageClassName"}),
          TextAt(t, {"metadata", "annotations", "zone"}), TextAt(t, {"spec", "claimRef", "name"}),
          TextAt(t, {"spec", "claimRef", "uid"})};
}

std::string VolumeJson(const std::string& name, const std::string& storage_class, const std::string& zone,
                       const std::string& claim_ref, const std::string& phase) {
  return absl::StrCat(
      "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"", name,
      "\",\"annotations\":{\"zone\":\"", zone, "\"}},\"spec\":{\"storageClassName\":\"", storage_class,
      "\",\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],\"local\":{\"path\":\"/x\"},",
      claim_ref, "\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":",
      "\"zone\",\"operator\":\"In\",\"values\":[\"", zone, "\"]}]}]}}},\"status\":{\"phase\":\"", phase, "\"}}");
}

std::string ClaimKey(const std::string& name) {
  return "default/" + name;
}

void BindClaim(World* w, const ClaimView& claim, const std::string& volume) {
  w->Edit(kClaims, ClaimKey(claim.name), [&](Tree* t) {
    SetText(t, {"spec", "volumeName"}, volume);
    SetText(t, {"metadata", "annotations", kCompleted}, "yes");
    SetText(t, {"status", "phase"}, "Bound");
  });
  w->Edit(kVolumes, volume, [](Tree* t) { SetText(t, {"status", "phase"}, "Bound"); });
}

// Frees a volume whose claim is gone or has another volume. One that was made for its claim is deleted.
void Release(World* w, const VolumeView& v) {
  if (v.storage_class == kMade) {
    w->etcd.Delete(kVolumes, v.name);
    return;
  }
  w->Edit(kVolumes, v.name, [](Tree* t) {
    (*t)["spec"].RemoveMember("claimRef");
    (*t)["metadata"]["annotations"].RemoveMember("pv.kubernetes.io/bound-by-controller");
    SetText(t, {"status", "phase"}, "Available");
  });
}

void Provision(World* w, const ClaimView& claim, Random* r) {
  ObjectPtr node = w->etcd.Get("nodes", claim.selected_node);
  if (node == nullptr || r->Chance(0.1)) {
    w->Edit(kClaims, ClaimKey(claim.name),
            [](Tree* t) { (*t)["metadata"]["annotations"].RemoveMember(kSelectedNode); });
    return;
  }
  const std::string ref =
      absl::StrCat("\"claimRef\":{\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"default\",\"name\":\"", claim.name,
                   "\",\"uid\":\"", claim.uid, "\"},");
  const std::string name = "made-" + claim.uid;
  w->etcd.Put(kVolumes, name, VolumeJson(name, kMade, ReadNode(claim.selected_node, *node).zone, ref, "Bound"));
}

}  // namespace

void CreateStorageClasses(Etcd* etcd) {
  for (const std::string name : {kLocal, kMade}) {
    if (etcd->Get(kClasses, name) != nullptr) continue;
    etcd->Put(
        kClasses, name,
        absl::StrCat("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"", name,
                     "\"},\"provisioner\":\"", name == kMade ? "example.com/disk" : "kubernetes.io/no-provisioner",
                     "\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}"));
  }
}

void CreateVolume(Etcd* etcd, const std::string& name, const std::string& zone) {
  if (etcd->Get(kVolumes, name) == nullptr) etcd->Put(kVolumes, name, VolumeJson(name, kLocal, zone, "", "Available"));
}

void CreateClaim(Etcd* etcd, const std::string& name, const std::string& storage_class) {
  etcd->Put(kClaims, ClaimKey(name),
            absl::StrCat("{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"", name,
                         "\",\"namespace\":\"default\",\"annotations\":{\"made-by\":\"a user\"}},\"spec\":{",
                         "\"storageClassName\":\"", storage_class,
                         "\",\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},",
                         "\"status\":{\"phase\":\"Pending\"}}"));
}

void DeleteFreeVolume(Etcd* etcd, const std::string& name) {
  ObjectPtr o = etcd->Get(kVolumes, name);
  if (o != nullptr && ReadVolume(*o).claim.empty()) etcd->Delete(kVolumes, name);
}

void TakeBack(World* w, const std::string& name, bool deleted) {
  ObjectPtr o = w->etcd.Get(kVolumes, name);
  if (o == nullptr) return;
  const VolumeView v = ReadVolume(*o);
  ObjectPtr claim = v.claim.empty() ? nullptr : w->etcd.Get(kClaims, ClaimKey(v.claim));
  if (claim == nullptr || !ReadClaim(*claim).volume.empty()) return;
  if (deleted) {
    w->etcd.Delete(kVolumes, name);
  } else {
    Release(w, v);
  }
}

void StorageTurn(World* w, Random* r) {
  const auto late = [r] { return r->Chance(0.3); };
  std::set<std::string> used;
  for (const auto& [key, o] : w->etcd.List("pods")) used.insert(ReadPod(key, *o).claim);
  for (const std::string& key : w->Keys(kClaims)) {
    const ClaimView claim = ReadClaim(*w->etcd.Get(kClaims, key));
    if (!used.contains(claim.name)) {
      if (!late()) w->etcd.Delete(kClaims, key);
    } else if (claim.volume.empty() && !claim.selected_node.empty() && !late()) {
      if (w->etcd.Get(kVolumes, "made-" + claim.uid) == nullptr) Provision(w, claim, r);
    }
  }
  for (const std::string& name : w->Keys(kVolumes)) {
    const VolumeView v = ReadVolume(*w->etcd.Get(kVolumes, name));
    if (v.claim.empty() || late()) continue;
    ObjectPtr o = w->etcd.Get(kClaims, ClaimKey(v.claim));
    const ClaimView claim = o == nullptr ? ClaimView{} : ReadClaim(*o);
    if (claim.uid != v.claim_uid || (!claim.volume.empty() && claim.volume != name)) {
      Release(w, v);
    } else if (claim.volume.empty()) {
      BindClaim(w, claim, name);
    }
  }
}

std::string WhyNotBoundStorage(const Etcd& etcd, const PodView& p, const NodeView& n) {
  if (p.claim.empty()) return "";
  ObjectPtr o = etcd.Get(kClaims, ClaimKey(p.claim));
  if (o == nullptr) return "it has no claim";
  const ClaimView claim = ReadClaim(*o);
  if (claim.volume.empty() || !claim.completed) return kNotBound;
  o = etcd.Get(kVolumes, claim.volume);
  if (o == nullptr) return "its volume is gone";
  return ReadVolume(*o).zone == n.zone ? "" : kOtherZone;
}

std::string WhyNotStorage(Etcd* etcd, const PodView& p, const NodeView& n) {
  const std::string why = WhyNotBoundStorage(*etcd, p, n);
  if (why != kNotBound) return why;
  const ClaimView claim = ReadClaim(*etcd->Get(kClaims, ClaimKey(p.claim)));
  if (claim.storage_class == kMade) {
    return claim.selected_node.empty() || claim.selected_node == n.name ? "" : "its volume is being made elsewhere";
  }
  bool free = false;
  for (const auto& [name, o] : etcd->List(kVolumes)) {
    const VolumeView v = ReadVolume(*o);
    if (v.claim_uid == claim.uid) return v.zone == n.zone ? "" : "its volume is reserved in another zone";
    free |= v.claim.empty() && v.storage_class == kLocal && v.zone == n.zone;
  }
  return free ? "" : "no volume is free";
}

}  // namespace berth::simulation
