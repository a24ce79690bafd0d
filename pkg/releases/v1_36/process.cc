#include "pkg/scheduler/process.h"

#include "pkg/releases/v1_29/decides.h"
#include "pkg/releases/v1_36/decides.h"

namespace berth::releases::v1_36 {

using scheduler::Process;

const Process& Proceeds() {
  static const Process kProcess = [] {
    Process p = v1_29::Proceeds();
    p.nominates_before_volumes = true;
    p.volume_failure.keeps_nomination = true;
    p.ended_nominations_wake = true;
    p.measures_events = true;
    p.asks_for_lost_nodes = false;
    return p;
  }();
  return kProcess;
}

}  // namespace berth::releases::v1_36
