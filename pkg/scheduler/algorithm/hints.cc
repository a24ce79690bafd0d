#include "pkg/scheduler/algorithm/hints.h"

#include <algorithm>

#include "pkg/scheduler/volumebinder/csi_translation.h"

namespace berth::scheduler::hints {

bool UsesClaim(const api::Pod& pod, util::Symbol ns, std::string_view claim) {
  return pod.meta.ns == ns && std::any_of(pod.tmpl->volumes.begin(), pod.tmpl->volumes.end(),
                                          [&](const api::Volume& v) { return ClaimNameOf(pod, v) == claim; });
}

}  // namespace berth::scheduler::hints
