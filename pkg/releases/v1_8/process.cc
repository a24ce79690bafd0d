#include "pkg/scheduler/process.h"

#include "pkg/releases/v1_10/decides.h"
#include "pkg/releases/v1_8/decides.h"

namespace berth::releases::v1_8 {

using scheduler::Process;

// Source: preempt in plugin/pkg/scheduler/scheduler.go (1.8).
const Process& Proceeds() {
  static const Process kProcess = [] {
    Process p = v1_10::Proceeds();
    p.ends_vain_nominations = false;
    return p;
  }();
  return kProcess;
}

}  // namespace berth::releases::v1_8
