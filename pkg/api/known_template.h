// Reading a pod whose template is known already.
#pragma once
#include <absl/status/statusor.h>

#include <memory>

#include "pkg/api/json.h"
#include "pkg/api/types.h"

namespace berth::api {

// Returns what DecodePod returns without options for a pod with a node that has this template. Nothing that belongs to
// the template is read, so the document need not have it. REQUIRES: its status does not say what containers have, which
// may change the template.
absl::StatusOr<PodPtr> DecodePodOfTemplate(Json pod, std::shared_ptr<const PodTemplate> known);

}  // namespace berth::api
