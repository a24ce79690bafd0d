// Checks of replies from outside. With UidAdmission they ensure these invariants: every pod in the tables has a name
// and a uid; no two pods have the same uid; and PendingPod::pod has always the same uid and the spec.schedulerName of a
// profile.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include "pkg/scheduler/after_failure.h"

namespace berth::scheduler {

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
    s_.metrics.CountInvalid(InvalidInput::kAnswerAboutOtherPod);
    problem = "the answer shows another object";
    if (reply.pod != nullptr) {
      absl::StrAppend(&problem, " (name \"", Name(*reply.pod), "\", uid \"", reply.pod->meta.uid, "\")");
    }
  } else if (reply.pod->meta.uid == known.meta.uid && !Ours(*reply.pod) && request.kind != RequestKind::kVerify) {
    s_.metrics.CountInvalid(InvalidInput::kAnswerOtherScheduler);
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
