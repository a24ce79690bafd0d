#include "pkg/scheduler/process.h"

#include <absl/strings/str_cat.h>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_19/decides.h"
#include "pkg/releases/v1_29/decides.h"

namespace berth::releases::v1_19 {

using scheduler::Process;

// Plugins decide, but conditions and preemption are still those of before.
const Process& Proceeds() {
  static const Process kProcess = [] {
    Process p = v1_29::Proceeds();
    p.error_reason = "Unschedulable";
    p.errors_end_nominations = false;
    p.tells_of_preemption = false;
    p.reads_preemptor = true;
    p.marks_victims = false;
    p.bind_failed_note = v1_10::Proceeds().bind_failed_note;
    p.extender_bind_error_is_bare = false;
    p.log = &scheduler::SchedulerLogMixed();
    p.preempted_note = [](const api::Pod& preemptor, std::string_view node) {
      return absl::StrCat("Preempted by ", preemptor.meta.Key(), " on node ", std::string(node));
    };
    return p;
  }();
  return kProcess;
}

}  // namespace berth::releases::v1_19
