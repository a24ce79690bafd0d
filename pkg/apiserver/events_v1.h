// Events as events.k8s.io/v1 shows them. They are stored as those of v1; the two forms have the same content under
// other names (message and note, involvedObject and regarding).
#pragma once
#include "pkg/apiserver/api_types.h"

namespace berth::apiserver {

// `event` as v1 has it, and the reverse. Members that are in neither form are dropped.
Value ToEventsV1(const Value& event);
Value FromEventsV1(const Value& event);

}  // namespace berth::apiserver
