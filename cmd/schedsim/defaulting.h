// What an API server fills in before it stores an object, as far as scheduling reads it.
#pragma once
#include <string>

#include "pkg/api/json.h"

namespace berth::schedsim {

// The object as JSON with 1.10's defaults: limits fill missing requests, hostNetwork copies container ports to host
// ports, a node's allocatable is its capacity, and a uid is made of `number` when there is none.
std::string WithServerDefaults(api::Json object, int number);

}  // namespace berth::schedsim
