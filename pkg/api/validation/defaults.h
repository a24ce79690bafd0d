// What the server fills in before it validates and stores an object (1.10's defaulting, version by version).
#pragma once
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/value.h"

namespace berth::validation {

// Defaults of the API version `v` for a decoded object of the resource. Idempotent.
void ApplyDefaults(const ResourceInfo& r, const GroupVersion& v, Value* object);

// status.qosClass of a pod: "Guaranteed", "Burstable" or "BestEffort".
std::string QosClass(const Value& pod);

}  // namespace berth::validation
