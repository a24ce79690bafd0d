// RapidJSON's reader. For use within this package: files must not include RapidJSON in another way, because the macro
// below would come too late.
#pragma once
// RapidJSON asks for inlining only where assertions are switched off, unless it is told how.
#define RAPIDJSON_FORCEINLINE __attribute__((always_inline))
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
