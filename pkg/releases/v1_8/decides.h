// What decides in Kubernetes 1.8 (Release). As 1.9, but for what decides.cc says.
#pragma once
#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_8 {

const scheduler::Release& Decides();
// Returns what happens around a decision.
const scheduler::Process& Proceeds();
// Returns how the daemon looks from outside.
const DaemonForm& Serves();

}  // namespace berth::releases::v1_8
