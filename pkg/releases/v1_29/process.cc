#include "pkg/scheduler/process.h"

#include <absl/strings/str_cat.h>

#include "pkg/releases/v1_29/decides.h"

namespace berth::releases::v1_29 {

using scheduler::Process;

const Process& Proceeds() {
  static const Process kProcess = {
      .requeues_at_once = true,
      .reads_pod_after_conflict = true,
      .bind_failed_reason = "SchedulerError",
      .condition_has_bind_error = true,
      .volume_failure = {.before_error = "running PreBind plugin \"VolumeBinding\": ",
                         .before_wait = "running PreBind plugin \"VolumeBinding\": binding volumes: ",
                         .timeout = "context deadline exceeded",
                         .condition_reason = "SchedulerError"},
      .scheduled_note = scheduler::AssignedNote,
      .bind_failed_note =
          [](std::string_view error) {
            return absl::StrCat("running Bind plugin \"DefaultBinder\": ", std::string(error));
          },
      .extender_bind_error_is_bare = true,
      .preempted_note =
          [](const api::Pod& preemptor, std::string_view node) {
            return absl::StrCat("Preempted by pod ", preemptor.meta.uid, " on node ", std::string(node));
          },
      .observes_stages = true,
      .log = &scheduler::SchedulerLogInMessages(),
  };
  return kProcess;
}

}  // namespace berth::releases::v1_29
