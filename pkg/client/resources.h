// What a scheduler follows, and where it is served: made from the list of kinds (pkg/api/kinds.h). Newer servers have
// dropped some of the groups that 1.10 used; the paths to fall back to come behind them.
#pragma once
#include "pkg/api/kinds.h"
#include "pkg/client/reflector.h"

namespace berth::client {

// Which version of a group is asked for first.
enum class VersionChoice : uint8_t {
  kOldest,  // as 1.10 does: extensions/v1beta1 before apps/v1
  kStable,  // as 1.29 does: a version that is no beta one before the others
};

// Of pods: all that are neither Failed nor Succeeded, of every scheduler (1.10 saw only its own and overcommitted).
Resource ResourceOf(const api::KindDescription& kind, VersionChoice choice = VersionChoice::kOldest);
template <typename T>
Resource ResourceOf(VersionChoice choice = VersionChoice::kOldest) {
  return ResourceOf(api::KindOf<T>::kDescription, choice);
}

}  // namespace berth::client
