// The text of the type table; schema.cc reads it once.
#pragma once

namespace berth::apiserver {

extern const char* const kSchemaTypes;

}  // namespace berth::apiserver
