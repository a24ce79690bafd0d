#include "pkg/scheduler/algorithm/volumes/unsure_volumes.h"

#include <algorithm>

namespace berth::scheduler::volumes {

bool UnsureVolumes::IsUnsure(const PlacedPod& pod) {
  const std::vector<api::Volume>& volumes = pod.info->tmpl->volumes;
  return std::any_of(volumes.begin(), volumes.end(), [](const api::Volume& v) {
    return v.kind == api::Volume::Kind::kEphemeral || (v.kind == api::Volume::Kind::kClaim && v.id.empty());
  });
}

}  // namespace berth::scheduler::volumes
