// Where the resources that a scheduler follows are served, derived from the list of kinds (pkg/api/kinds.h). Newer
// servers have dropped some of the groups that 1.10 used, so a resource has a path to fall back to.
#pragma once
#include "pkg/api/dialect.h"
#include "pkg/api/kinds.h"
#include "pkg/client/reflector.h"

namespace berth::client {

// Returns how a release follows a kind. For pods the selector leaves out those that are Failed or Succeeded, but keeps
// those of every scheduler (1.10 followed only its own pending pods and so overcommitted nodes).
Resource ResourceOf(const api::KindDescription& kind, const api::Dialect& dialect);
template <typename T>
Resource ResourceOf(const api::Dialect& dialect) {
  return ResourceOf(api::KindOf<T>::kDescription, dialect);
}

}  // namespace berth::client
