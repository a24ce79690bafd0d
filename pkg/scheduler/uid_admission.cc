#include "pkg/scheduler/uid_admission.h"

#include <utility>

namespace berth::scheduler {

bool UidAdmission::Owns(const api::Pod& pod) const {
  const auto same = [&](const api::Pod& known) {
    return known.meta.name == pod.meta.name && known.meta.ns == pod.meta.ns;
  };
  if (const PendingPod* p = s_.pending.Find(pod)) return same(*p->pod);
  const api::PodPtr placed = s_.cache->GetPod(pod.meta.uid);
  return placed == nullptr || same(*placed);
}

bool UidAdmission::Admit(const api::PodPtr& pod) {
  if (pod->meta.uid.empty() || pod->meta.name.empty()) {
    s_.metrics.CountInvalid(InvalidInput::kPodWithoutIdentity);
    LineAbout("A pod has no metadata.uid or no metadata.name, which the API server gives to every pod. It is ignored",
              *pod)
        .Add("uid", pod->meta.uid)
        .Error({});
    return false;
  }
  if (Owns(*pod)) return true;
  if (pod->Finished()) return true;  // the scheduler drops it
  auto [it, first_time] = waiting_[pod->meta.uid].insert_or_assign(Name(*pod), pod);
  if (first_time) {
    s_.metrics.CountInvalid(InvalidInput::kDuplicateUid);
    LineAbout("A pod has the metadata.uid of another pod. It is ignored while that one is there", *pod)
        .Add("uid", pod->meta.uid)
        .Error({});
  }
  return false;
}

void UidAdmission::Drop(const api::Pod& pod) {
  const auto others = waiting_.find(pod.meta.uid);
  if (others == waiting_.end()) return;
  others->second.erase(pod.meta.Key());
  if (others->second.empty()) waiting_.erase(others);
}

api::PodPtr UidAdmission::NextFreed() {
  while (!s_.freed_uids.empty()) {
    const std::string uid = std::move(s_.freed_uids.back());
    s_.freed_uids.pop_back();
    const auto others = waiting_.find(uid);
    if (others == waiting_.end()) continue;
    const api::PodPtr next = others->second.begin()->second;
    if (!Owns(*next)) continue;  // the pod that has the uid is placed and still exists
    others->second.erase(others->second.begin());
    if (others->second.empty()) waiting_.erase(others);
    return next;
  }
  return nullptr;
}

}  // namespace berth::scheduler
