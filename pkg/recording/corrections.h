// Corrections after which a scheduler decides or says something else than the one that made an older recording.
//
// A recording carries how many of them its scheduler had. At the first difference of a replay those that it lacked are
// named, because they may be the reason. If you correct a decision, add a row at the end.
#pragma once
#include <cstdint>
#include <string>

#include "pkg/release/release.h"

namespace berth::recording {

// The number of corrections that this program has.
int CorrectionCount();
// Returns one line for each correction behind the first `had` that concerns the release, each with a line end and two
// spaces before it; empty if there is none.
std::string CorrectionsAfter(int had, release::Version version);

}  // namespace berth::recording
