// What each release is: one value for a folder of this package. README.md says how to add a release.
#pragma once
#include "pkg/release/release.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::releases {

struct Release {
  const scheduler::Release& decides;  // rules, texts and order: what is decided
  const scheduler::Process& process;  // what happens around a decision
};

// Returns what the release is. REQUIRES: `id` is from release::All() or release::Named().
const Release& Of(const release::Id& id);

}  // namespace berth::releases
