// Where the resources that a scheduler follows are served, derived from the list of kinds (pkg/api/kinds.h). Newer
// servers have dropped some of the groups that 1.10 used, so a resource has a path to fall back to.
#pragma once
#include "pkg/api/kinds.h"
#include "pkg/client/reflector.h"

namespace berth::client {

// Which version of a group is tried first.
enum class VersionChoice : uint8_t {
  kOldest,  // as in 1.10: extensions/v1beta1 before apps/v1
  kStable,  // as in 1.29: a stable version before a beta one
};

// Returns how to follow a kind. For pods the selector leaves out those that are Failed or Succeeded, but keeps those of
// every scheduler (1.10 followed only its own pending pods and so overcommitted nodes).
Resource ResourceOf(const api::KindDescription& kind, VersionChoice choice = VersionChoice::kOldest);
template <typename T>
Resource ResourceOf(VersionChoice choice = VersionChoice::kOldest) {
  return ResourceOf(api::KindOf<T>::kDescription, choice);
}

}  // namespace berth::client
