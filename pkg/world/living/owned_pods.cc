#include "pkg/world/living/owned_pods.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"
#include "pkg/world/workload.h"

namespace berth::world::living {

std::vector<PodFactsPtr> ClaimPods(World* world, const Value& owner, const Value* selector) {
  const std::string uid(UidOf(owner)), ns(NamespaceOf(owner));
  const bool empty = selector == nullptr || selector->empty();
  std::vector<PodFactsPtr> adopt, release;
  if (!IsTerminating(owner) && !empty) {
    for (const auto& [pod_uid, pod] : world->PodsWithoutController(ns)) {
      if (pod->IsActive() && Selects(selector, &pod->labels, false)) adopt.push_back(pod);
    }
    for (const auto& [pod_uid, pod] : world->PodsOfController(uid)) {
      if (!pod->terminating && !Selects(selector, &pod->labels, false)) release.push_back(pod);
    }
  }
  for (const PodFactsPtr& pod : adopt) {
    const ValuePtr found = world->cluster().Get("Pod", pod->ns, pod->name);
    if (found == nullptr) continue;
    Value v = *found;
    Value& meta = v.Child("metadata");
    if (meta.Find("ownerReferences") == nullptr) meta.Set("ownerReferences", Value::Array());
    meta.Find("ownerReferences")->Append(ControllerReference(owner));
    world->cluster().UpdateStatus("Pod", std::move(v));
  }
  for (const PodFactsPtr& pod : release) {
    const ValuePtr found = world->cluster().Get("Pod", pod->ns, pod->name);
    if (found == nullptr) continue;
    Value v = *found;
    if (RemoveOwner(uid, &v)) world->cluster().UpdateStatus("Pod", std::move(v));
  }
  std::vector<PodFactsPtr> pods;
  for (const auto& [pod_uid, pod] : world->PodsOfController(uid)) pods.push_back(pod);
  return pods;
}

Written CreatePod(World* world, const Value& owner, std::string_view component, Value pod) {
  Value stored;
  if (Written refused = world->cluster().Create("Pod", std::move(pod), &stored)) {
    world->Record(owner, component, "", "Warning", "FailedCreate", absl::StrCat("Error creating: ", refused->message));
    return refused;
  }
  world->Record(owner, component, "", "Normal", "SuccessfulCreate",
                absl::StrCat("Created pod: ", util::ToAbsl(NameOf(stored))));
  return std::nullopt;
}

Written DeletePod(World* world, const Value& owner, std::string_view component, const PodFacts& pod) {
  const std::string name = pod.name;
  const DeleteHow how{.grace_seconds = {}, .uid = pod.uid, .propagation = ""};
  if (Written refused = world->cluster().Delete("Pod", pod.ns, pod.name, how)) return refused;
  world->Record(owner, component, "", "Normal", "SuccessfulDelete", absl::StrCat("Deleted pod: ", name));
  return std::nullopt;
}

Written WriteStatus(World* world, std::string_view kind, const Value& before, Value after) {
  const Value *was = before.Find("status"), *is = std::as_const(after).Find("status");
  if (was != nullptr && is != nullptr && *was == *is) return std::nullopt;
  return world->cluster().UpdateStatus(kind, std::move(after));
}

absl::Duration CalmFor(size_t pods) {
  constexpr size_t kFew = 50, kMost = 2000;
  if (pods <= kFew) return absl::ZeroDuration();
  return absl::Milliseconds(std::min(pods, kMost) / 10);
}

}  // namespace berth::world::living
