// Checks of objects and replies from outside. They ensure these invariants: every pod in the tables has a name and a
// uid; no two pods have the same uid; and PendingPod::pod has always the same uid and the spec.schedulerName of a
// profile.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include "pkg/scheduler/after_failure.h"

namespace berth::scheduler {

// Returns whether no other pod with the same uid is known.
bool Scheduler::IsOwnerOfUid(const api::Pod& pod) const {
  const auto same = [&](const api::Pod& known) {
    return known.meta.name == pod.meta.name && known.meta.ns == pod.meta.ns;
  };
  if (const PendingPod* p = pending_.Find(pod)) return same(*p->pod);
  const api::PodPtr placed = s_.cache->GetPod(pod.meta.uid);
  return placed == nullptr || same(*placed);
}

// Returns whether a pod that the watch shows may enter the tables. A pod with the uid of another pod waits in
// duplicates_.
bool Scheduler::Admit(const api::PodPtr& pod) {
  if (pod->meta.uid.empty() || pod->meta.name.empty()) {
    CountInvalid(InvalidInput::kPodWithoutIdentity);
    LineAbout("A pod has no metadata.uid or no metadata.name, which the API server gives to every pod. It is ignored",
              *pod)
        .Add("uid", pod->meta.uid)
        .Error({});
    return false;
  }
  if (IsOwnerOfUid(*pod)) return true;
  if (pod->Finished()) return true;  // PodGone removes it from duplicates_
  auto [it, first_time] = duplicates_[pod->meta.uid].insert_or_assign(Name(*pod), pod);
  if (first_time) {
    CountInvalid(InvalidInput::kDuplicateUid);
    LineAbout("A pod has the metadata.uid of another pod. It is ignored while that one is there", *pod)
        .Add("uid", pod->meta.uid)
        .Error({});
  }
  return false;
}

// Admits one of the pods that wait in duplicates_ with this uid, if no pod has the uid any more.
void Scheduler::AdmitNextWithUid(const std::string& uid) {
  auto others = duplicates_.find(uid);
  if (others == duplicates_.end()) return;
  const api::PodPtr next = others->second.begin()->second;
  if (!IsOwnerOfUid(*next)) return;  // the pod that has the uid is placed and still exists
  others->second.erase(others->second.begin());
  if (others->second.empty()) duplicates_.erase(others);
  ApplyPod({nullptr, next});
}

void Scheduler::AdmitFreed() {
  while (!s_.freed_uids.empty()) {
    const std::string uid = std::move(s_.freed_uids.back());
    s_.freed_uids.pop_back();
    AdmitNextWithUid(uid);
  }
}

void Scheduler::CountInvalid(InvalidInput what) {
  ++s_.metrics.invalid_inputs[static_cast<size_t>(what)];
}

// Returns the reply, without its object if that cannot be right. The reply to a read then becomes an error, so that the
// read is repeated; a write is not repeated.
Reply Scheduler::Checked(const Request& request, Reply reply) {
  if (reply.pod != nullptr) reply.pod = s_.fields.AsTaken(reply.pod);
  const bool read = request.kind == RequestKind::kBindOutcome || request.kind == RequestKind::kRefetch ||
                    request.kind == RequestKind::kPreemptor || request.kind == RequestKind::kVerify;
  const bool write = request.kind == RequestKind::kCondition || request.kind == RequestKind::kNominate;
  if ((!read && !write) || !reply.answer.ok() || (write && reply.pod == nullptr)) return reply;
  const api::Pod& known = *request.pod->pod;
  std::string problem;
  if (reply.pod == nullptr || reply.pod->meta.uid.empty() || Name(*reply.pod) != Name(known) ||
      (write && reply.pod->meta.uid != known.meta.uid)) {
    // After a read, another uid means that the pod was deleted and created again.
    CountInvalid(InvalidInput::kAnswerAboutOtherPod);
    problem = "the answer shows another object";
    if (reply.pod != nullptr) {
      absl::StrAppend(&problem, " (name \"", Name(*reply.pod), "\", uid \"", reply.pod->meta.uid, "\")");
    }
  } else if (reply.pod->meta.uid == known.meta.uid && !Ours(*reply.pod) && request.kind != RequestKind::kVerify) {
    CountInvalid(InvalidInput::kAnswerOtherScheduler);
    problem = absl::StrCat("the answer shows spec.schedulerName \"", reply.pod->tmpl->scheduler_name.string(),
                           "\", which was \"", known.tmpl->scheduler_name.string(), "\" and cannot change");
  }
  if (problem.empty()) return reply;
  LineAbout("The answer to a request about a pod cannot be right. It is ignored", known)
      .Add("uid", known.meta.uid)
      .Error(problem);
  reply.pod = nullptr;
  if (read) reply.answer = {Answer::Kind::kServerError, std::move(problem), ""};
  return reply;
}

}  // namespace berth::scheduler
