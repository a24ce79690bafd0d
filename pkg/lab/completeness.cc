#include "pkg/lab/completeness.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <map>

#include "pkg/explain/output.h"
#include "pkg/util/status.h"

namespace berth::lab {
namespace {

// Records which objects exist and which ones pending pods need.
class Checker {
 public:
  explicit Checker(const Scenario& s) {
    for (const api::Object& object : s.cluster) Note(object);
    for (const api::PodPtr& pod : s.pending) Check(*pod);
  }

  std::vector<std::string> Sentences() const {
    std::vector<std::string> out;
    for (const auto& [kind, m] : missing_) {
      out.push_back(absl::StrCat(explain::Counted(m.pods, "pending pod"), m.pods == 1 ? " refers" : " refer", " to a ",
                                 kind, " that is not in the input (", m.first, "): ", Consequence(kind)));
    }
    return out;
  }

 private:
  // A kind of object that is missing, and the pods that refer to it.
  struct Missing {
    int64_t pods = 0;
    std::string first;  // such as "default/web-1 to web"
  };

  static std::string Consequence(const std::string& kind) {
    if (kind == "PersistentVolumeClaim") return "the pod is treated as unschedulable";
    if (kind == "PersistentVolume") return "the nodes and zones that its volume allows are not known";
    if (kind == "StorageClass") return "whether the claim may wait for a node is not known";
    return "pods of the same controller are not spread over nodes and zones";
  }

  void Note(const api::Object& object) {
    auto add = [&](std::string_view kind, const auto& o) {
      there_.insert(ObjectKey(kind, o.meta.ns.str(), o.meta.name));
    };
    if (const auto* rs = std::get_if<std::shared_ptr<const api::ReplicaSet>>(&object)) add("ReplicaSet", **rs);
    if (const auto* rc = std::get_if<std::shared_ptr<const api::ReplicationController>>(&object)) {
      add("ReplicationController", **rc);
    }
    if (const auto* set = std::get_if<std::shared_ptr<const api::StatefulSet>>(&object)) add("StatefulSet", **set);
    if (const auto* pv = std::get_if<std::shared_ptr<const api::PersistentVolume>>(&object)) {
      add("PersistentVolume", **pv);
    }
    if (const auto* sc = std::get_if<std::shared_ptr<const api::StorageClass>>(&object)) add("StorageClass", **sc);
    if (const auto* pvc = std::get_if<std::shared_ptr<const api::PersistentVolumeClaim>>(&object)) {
      add("PersistentVolumeClaim", **pvc);
      claims_[ObjectKey("", (*pvc)->meta.ns.str(), (*pvc)->meta.name)] = pvc->get();
    }
  }

  void Need(std::string_view kind, std::string_view ns, const std::string& name, const api::Pod& pod) {
    if (there_.contains(ObjectKey(kind, ns, name))) return;
    Missing& m = missing_[std::string(kind)];
    if (m.pods++ == 0) m.first = absl::StrCat(pod.meta.Key(), " to ", name);
  }

  // Follows the references of a pod: its controller, its claims, and their volumes or storage classes.
  void Check(const api::Pod& pod) {
    if (const auto& owner = pod.tmpl->controller) {
      std::string_view kind = owner->kind.str();
      if (kind == "ReplicaSet" || kind == "ReplicationController" || kind == "StatefulSet") {
        Need(kind, pod.meta.ns.str(), owner->name, pod);
      }
    }
    for (const api::Volume& v : pod.tmpl->volumes) {
      if (v.kind != api::Volume::Kind::kClaim) continue;
      Need("PersistentVolumeClaim", pod.meta.ns.str(), v.id, pod);
      auto claim = claims_.find(ObjectKey("", pod.meta.ns.str(), v.id));
      if (claim == claims_.end()) continue;
      const api::PersistentVolumeClaim& c = *claim->second;
      if (!c.volume_name.empty()) {
        Need("PersistentVolume", "", c.volume_name, pod);
      } else if (!c.Class().empty()) {
        Need("StorageClass", "", c.Class(), pod);
      }
    }
  }

  absl::flat_hash_set<std::string> there_;
  absl::flat_hash_map<std::string, const api::PersistentVolumeClaim*> claims_;
  std::map<std::string, Missing> missing_;
};

}  // namespace

std::vector<std::string> WhatIsMissing(const Scenario& scenario) {
  return Checker(scenario).Sentences();
}

}  // namespace berth::lab
