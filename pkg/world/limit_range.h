// LimitRanges: the defaults that they put into pods, and what they refuse (plugin/pkg/admission/limitranger, 1.36).
#pragma once
#include <string>

#include "pkg/world/objects.h"

namespace berth::world {

// Fills in what a server does when a LimitRange is created: a missing default is the maximum, and a missing
// defaultRequest the default, else the minimum.
void CompleteLimitRange(Value* limit_range);

// Gives the containers of a pod the defaults of a LimitRange, and notes them in an annotation. Returns whether the pod
// was changed. REQUIRES: the LimitRange is complete.
bool ApplyLimitRange(const Value& limit_range, Value* pod);

// Returns why the LimitRange refuses a pod or a PersistentVolumeClaim, in the server's words; empty if it does not. As
// a server, joins several reasons as "[a, b]"; their order among resources is by name, where a server's is random.
std::string LimitRangeRefusal(const Value& limit_range, std::string_view kind, const Value& object);

}  // namespace berth::world
