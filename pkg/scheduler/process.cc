#include "pkg/scheduler/process.h"

#include <absl/strings/str_cat.h>

namespace berth::scheduler {

const Process& Process110() {
  static const Process kProcess = {
      .requeues_at_once = false,
      .reads_pod_after_conflict = false,
      .bind_failed_reason = "BindingRejected",
      .condition_has_bind_error = false,
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
      .log = &SchedulerLog110(),
  };
  return kProcess;
}

const Process& Process129() {
  static const Process kProcess = {
      .requeues_at_once = true,
      .reads_pod_after_conflict = true,
      .bind_failed_reason = "SchedulerError",
      .condition_has_bind_error = true,
      .scheduled_note =
          [](const api::Pod& p) {
            return absl::StrCat("Successfully assigned ", p.meta.Key(), " to ", p.node_name.string());
          },
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
      .log = &SchedulerLog129(),
  };
  return kProcess;
}

}  // namespace berth::scheduler
