// The two forms of a kind whose versions differ (ResourceInfo::other_type): that of the first version, in which objects
// are stored, and that of the others.
#pragma once
#include "pkg/store/api_types.h"

namespace berth::apiserver {

// Convert an object of the kind from the form in which it is stored, and back. REQUIRES: r.other_type is not null.
Value ToOtherVersion(const ResourceInfo& r, const Value& stored);
Value FromOtherVersion(const ResourceInfo& r, const Value& object);

}  // namespace berth::apiserver
