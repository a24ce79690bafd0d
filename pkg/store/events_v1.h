// Converts events between v1, in which they are stored, and events.k8s.io/v1. Both have the same content under
// different names (message and note, involvedObject and regarding).
#pragma once
#include "pkg/store/api_types.h"

namespace berth::apiserver {

// Convert an event from v1 and to v1. Members that neither form has are dropped.
Value ToEventsV1(const Value& event);
Value FromEventsV1(const Value& event);

}  // namespace berth::apiserver
