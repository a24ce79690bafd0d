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

namespace {

std::string AssignedNote(const api::Pod& p) {
  return absl::StrCat("Successfully assigned ", p.meta.Key(), " to ", p.node_name.string());
}

}  // namespace

const Process& Process113() {
  static const Process kProcess = [] {
    Process p = Process110();
    p.scheduled_note = AssignedNote;
    return p;
  }();
  return kProcess;
}

// Plugins decide, but conditions and preemption are still those of before.
const Process& Process119() {
  static const Process kProcess = [] {
    Process p = Process129();
    p.error_reason = "Unschedulable";
    p.errors_end_nominations = false;
    p.tells_of_preemption = false;
    p.reads_preemptor = true;
    p.marks_victims = false;
    p.bind_failed_note = Process110().bind_failed_note;
    p.extender_bind_error_is_bare = false;
    p.preempted_note = [](const api::Pod& preemptor, std::string_view node) {
      return absl::StrCat("Preempted by ", preemptor.meta.Key(), " on node ", std::string(node));
    };
    return p;
  }();
  return kProcess;
}

const Process& Process136() {
  static const Process kProcess = [] {
    Process p = Process129();
    p.nominates_before_volumes = true;
    return p;
  }();
  return kProcess;
}

const Process& Process129() {
  static const Process kProcess = {
      .requeues_at_once = true,
      .reads_pod_after_conflict = true,
      .bind_failed_reason = "SchedulerError",
      .condition_has_bind_error = true,
      .scheduled_note = AssignedNote,
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
