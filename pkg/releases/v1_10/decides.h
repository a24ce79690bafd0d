// Release 1.10: its algorithms by name, the key sets of its two providers, and what else is specific to it.
#pragma once
#include "pkg/scheduler/registry/release.h"

namespace berth::releases::v1_10 {

const scheduler::Release& Decides();

}  // namespace berth::releases::v1_10
