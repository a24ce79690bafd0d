#include "pkg/scheduler/process.h"

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_13/decides.h"

namespace berth::releases::v1_13 {

using scheduler::Process;

const Process& Proceeds() {
  static const Process kProcess = [] {
    Process p = v1_10::Proceeds();
    p.scheduled_note = scheduler::AssignedNote;
    p.notes_probe_time = true;
    p.volume_failure = {.before_error = "",
                        .before_wait = "",
                        .timeout = "timed out waiting for the condition",
                        .condition_reason = "VolumeBindingFailed",
                        .in_condition = false};
    return p;
  }();
  return kProcess;
}

}  // namespace berth::releases::v1_13
