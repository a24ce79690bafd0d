// The defaults that the server fills in before it validates and stores an object (1.10's, by version).
#pragma once
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

// Applies the defaults of the API version `v` to a decoded object of the resource. Idempotent.
void ApplyDefaults(const ResourceInfo& r, const GroupVersion& v, Value* object);

// Returns status.qosClass of a pod: "Guaranteed", "Burstable" or "BestEffort".
std::string QosClass(const Value& pod);

}  // namespace berth::validation
