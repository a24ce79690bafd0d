#include "pkg/scheduler/process.h"

#include <absl/strings/str_cat.h>

#include "pkg/releases/v1_10/decides.h"

namespace berth::releases::v1_10 {

using scheduler::Process;

const Process& Proceeds() {
  static const Process kProcess = {
      .requeues_at_once = false,
      .reads_pod_after_conflict = false,
      .bind_failed_reason = "BindingRejected",
      .condition_has_bind_error = false,
      .volume_failure = {},  // volumes are written before the pod is assumed
      .scheduled_note =
          [](const api::Pod& p) {
            return absl::StrCat("Successfully assigned ", p.meta.name, " to ", p.node_name.string());
          },
      .bind_failed_note = [](std::string_view error) { return absl::StrCat("Binding rejected: ", std::string(error)); },
      .preempted_note =
          [](const api::Pod& preemptor, std::string_view node) {
            return absl::StrCat("by ", preemptor.meta.Key(), " on node ", std::string(node));
          },
      .observes_stages = false,
      .log = &scheduler::SchedulerLogInSentences(),
  };
  return kProcess;
}

}  // namespace berth::releases::v1_10
